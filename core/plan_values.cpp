#include "core/plan_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/nearest.h"
#include "core/plan_json.h"
#include "core/units.h"

namespace onrush {
namespace {

constexpr std::size_t kMostMembers = 16;
constexpr std::uint64_t kLargestMessage = 16 << 20;  // what every target takes

// RFC 6455 section 7.4: 1005, 1006 and 1015 never stand in a frame; 1002 to 1014 report faults that a user's
// client has not found here, and 1010, 1011 are for one side only. So a script closes as clients do: in order
// (1000), by going away (1001, a browser that leaves the page), or with a code of its application.
bool may_be_sent(std::uint64_t code) {
  return code == 1000 || code == 1001 || (code >= 3000 && code <= 4999);
}

Reply regex_reply(Reader& reader, const YamlNode& node, const YamlNode* group, const Fields& fields) {
  auto regex = read_regex(reader, node, fields.what("regex"));
  if (!regex) return AnyReply{};
  RegexReply reply{std::move(*regex), {}};
  if (group == nullptr) return reply;
  if (reply.regex.groups() == 0)
    reader.complain(*group, fmt::format("{}, but {} has none; put one into parentheses", fields.what("group"),
                                        quoted(node.text)));
  reply.group = reader.template_text(*group, fields.what("group"));
  return reply;
}

Duration range(Reader& reader, const YamlNode& node, const std::string& what) {
  Duration time{Duration::Kind::uniform, 0, 0};
  const std::string* text = reader.text(node, what);
  if (text == nullptr) return time;
  const std::size_t dots = text->find("..");
  if (dots == std::string::npos) {
    reader.complain(node, fmt::format("{}: {} is not a range; write 1s..3s", what, quoted(*text)));
    return time;
  }
  const auto low = parse_duration(std::string_view(*text).substr(0, dots));
  const auto high = parse_duration(std::string_view(*text).substr(dots + 2));
  if (!low) reader.complain_within(node, 0, fmt::format("{}: {}", what, low.error()));
  if (!high) reader.complain_within(node, dots + 2, fmt::format("{}: {}", what, high.error()));
  if (!low || !high) return time;
  if (*low > *high)
    reader.complain(node,
                    fmt::format("{}: {} runs downwards; write the shorter time first", what, quoted(*text)));
  else if (*high == 0)
    reader.complain(node, fmt::format("{} is 0s..0s, which does nothing", what));
  time.low_ns = *low;
  time.high_ns = *high;
  return time;
}

Message bytes_message(Reader& reader, const YamlNode& node, const std::string& what) {
  const auto size = reader.count(node, what, Zero::allowed).value_or(0);
  if (size > kLargestMessage)
    reader.complain(node, fmt::format("{} is {}; a message has at most 16 MiB", what, size));
  return BinaryMessage{static_cast<std::uint32_t>(std::min(size, kLargestMessage))};
}

Message file_message(Reader& reader, const YamlNode& node, const std::string& what) {
  const auto file = reader.file(node, what);
  if (!file) return FileMessage{};
  if (file->content->size() > kLargestMessage)
    reader.complain(node, fmt::format("{}: {} has {} bytes; a message has at most 16 MiB", what,
                                      quoted(file->name), file->content->size()));
  return FileMessage{file->content};
}

// `deviation` and `within` of a normal or log-normal time.
Duration bell(Reader& reader, const Fields& fields, const YamlNode& node, std::string_view key) {
  constexpr std::int64_t kLongest_ns = 366LL * 24 * 3600 * 1'000'000'000;
  Duration time{key == "normal" ? Duration::Kind::normal : Duration::Kind::log_normal, 0, 0, 0, 0};
  time.mean_ns = reader.duration_ns(node, fields.what(key), Zero::refused).value_or(1);
  const YamlNode* deviation = fields.find("deviation");
  if (deviation != nullptr)
    time.deviation_ns = reader.duration_ns(*deviation, fields.what("deviation"), Zero::refused).value_or(1);
  else
    reader.complain(node, fmt::format("{} needs its standard deviation; write {{{}: 2s, deviation: 500ms}}",
                                      fields.what(key), key));
  time.high_ns = time.mean_ns + 10 * std::min(time.deviation_ns, kLongest_ns / 10);
  const YamlNode* within = fields.find("within");
  if (within == nullptr) return time;
  const Duration bounds = range(reader, *within, fields.what("within"));
  time.low_ns = bounds.low_ns;
  time.high_ns = bounds.high_ns;
  if (bounds.high_ns > 0 && (time.mean_ns < time.low_ns || time.mean_ns > time.high_ns))
    reader.complain(*within, fmt::format("{} does not hold the mean", fields.what("within")));
  return time;
}

// "1s..3s" if that, "1-3s" or "1s - 3s" was written where one time is wanted; otherwise "".
std::string range_meant(const YamlNode& node) {
  if (node.kind != YamlNode::Kind::scalar) return "";
  const std::string_view text = node.text;
  const std::size_t dots = text.find("..");
  const std::size_t at = dots != std::string_view::npos ? dots : text.find('-');
  if (at == std::string_view::npos || at == 0) return "";
  const auto trimmed = [](std::string_view part) {
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    return part.substr(0, part.find_last_not_of(' ') + 1);
  };
  std::string low{trimmed(text.substr(0, at))};
  const std::string high{trimmed(text.substr(at + (dots != std::string_view::npos ? 2 : 1)))};
  if (parse_decimal(low)) low += high.substr(std::min(high.find_first_not_of("0123456789."), high.size()));
  return parse_duration(low) && parse_duration(high) ? fmt::format("{}..{}", low, high) : "";
}

Message json_message(Reader& reader, const YamlNode& node, const std::string& what) {
  JsonMessage message;
  if (node.kind != YamlNode::Kind::map && node.kind != YamlNode::Kind::sequence)
    reader.complain(node, fmt::format("{} is no map and no list; write {{op: join, room: \"${{user}}\"}}, or "
                                      "'text' for any other",
                                      what));
  else
    write_json(reader, node, what, message.json);
  return message;
}

}  // namespace

Message read_message(Reader& reader, const Fields& fields, const YamlNode& at) {
  constexpr std::array<std::string_view, 4> kForms{"text", "json", "bytes", "file"};
  std::string_view form;
  for (const std::string_view key : kForms) {
    const YamlNode* node = fields.find(key);
    if (node != nullptr && !form.empty())
      reader.complain(*node, fmt::format("{} beside '{}'; a message is one of them", fields.what(key), form));
    if (node != nullptr && form.empty()) form = key;
  }
  if (form.empty()) {
    if (fields.intact())
      reader.complain(
          at, fmt::format("{} is missing; a message is a text or {{bytes: 100}}", fields.what("text")));
    return TextMessage{};
  }
  const YamlNode& node = *fields.find(form);
  if (form == "text") return TextMessage{reader.template_text(node, fields.what(form)).value_or(Template())};
  if (form == "json") return json_message(reader, node, fields.what(form));
  return form == "bytes" ? bytes_message(reader, node, fields.what(form))
                         : file_message(reader, node, fields.what(form));
}

std::optional<Regex> read_regex(Reader& reader, const YamlNode& node, const std::string& what) {
  const std::string* text = reader.text(node, what);
  if (text == nullptr) return std::nullopt;
  if (const auto placeholder = next_placeholder(*text, 0); placeholder && !placeholder->escaped) {
    reader.complain_within(
        node, placeholder->begin,
        fmt::format("'${{...}}' in {}, which is the same for all users; put a group into it "
                    "and compare that, as {{regex: 'id=(\\w+)', group: \"${{user}}\"}}",
                    what));
    return std::nullopt;
  }
  auto regex = Regex::compile(*text);
  if (regex) return std::move(*regex);
  reader.complain(node, fmt::format("{} is no regular expression: {}", what, regex.error()));
  return std::nullopt;
}

JsonReply read_json_reply(Reader& reader, const YamlNode& node, const std::string& what) {
  JsonReply reply;
  if (!reader.is_map(node, what, "{/id: text}")) return reply;
  const std::size_t members = node.children.size() / 2;
  if (members == 0 || members > kMostMembers) {
    reader.complain(node, fmt::format("{} has {} pointers; write 1 to {}, as {{/id: text}}", what, members,
                                      kMostMembers));
    return reply;
  }
  refuse_repeated_names(reader, node, what);
  Template::Draws drawn;
  for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
    reply.members.push_back({reader.pointer(*node.children[i], what).value_or("/"),
                             reader.template_text(*node.children[i + 1], what).value_or(Template())});
    reply.members.back().value.draw_behind(drawn);
  }
  return reply;
}

Reply read_reply(Reader& reader, const YamlNode& node, const std::string& what) {
  constexpr std::string_view kForms = "any, {text: ...}, {json: {/id: ...}} or {regex: ...}";
  if (node.kind == YamlNode::Kind::scalar && node.text == "any") return AnyReply{};
  if (node.kind != YamlNode::Kind::map) {
    const std::string shown = node.kind == YamlNode::Kind::scalar ? quoted(node.text) : "no map";
    reader.complain(node, fmt::format("{} is {}; write {}", what, shown, kForms));
    return AnyReply{};
  }
  if (node.children.empty()) reader.complain(node, fmt::format("{} is empty; write {}", what, kForms));
  return read_reply_fields(reader, Fields(reader, node, kReplyKeys, what));
}

Reply read_reply_fields(Reader& reader, const Fields& fields) {
  const YamlNode* text = fields.find("text");
  const YamlNode* json = fields.find("json");
  const YamlNode* regex = fields.find("regex");
  const YamlNode* group = fields.find("group");
  const char* first = text != nullptr ? "text" : "json";
  for (const auto& [key, node] : {std::pair{"json", json}, std::pair{"regex", regex}})
    if (node != nullptr && (text != nullptr || (json != nullptr && node != json)))
      reader.complain(*node, fmt::format("{} beside '{}'; a reply is one of 'text', 'json' and 'regex'",
                                         fields.what(key), first));
  if (group != nullptr && regex == nullptr)
    reader.complain(*group, fmt::format("{} belongs to 'regex'", fields.what("group")));
  if (text != nullptr)
    return TextReply{reader.template_text(*text, fields.what("text")).value_or(Template())};
  if (json != nullptr) return read_json_reply(reader, *json, fields.what("json"));
  return regex == nullptr ? Reply{AnyReply{}} : regex_reply(reader, *regex, group, fields);
}

Duration read_think_time(Reader& reader, const YamlNode& node, const std::string& what) {
  if (node.kind != YamlNode::Kind::map) {
    if (const std::string range = range_meant(node); !range.empty()) {
      reader.complain(node, fmt::format("{} is {}; write {{uniform: {}}}", what, quoted(node.text), range));
      return {};
    }
    const std::int64_t ns = reader.duration_ns(node, what, Zero::refused).value_or(1);
    return {Duration::Kind::fixed, ns, 0, 0, 0};
  }
  const Fields fields(reader, node, kThinkKeys, what);
  constexpr std::array<std::string_view, 4> kKinds{"uniform", "exponential", "normal", "log_normal"};
  std::string_view kind;
  std::size_t kinds = 0;
  for (const std::string_view key : kKinds)
    if (fields.find(key) != nullptr) {
      kind = key;
      ++kinds;
    }
  if (kinds > 1 || (kinds == 0 && fields.intact())) {
    reader.complain(node, fmt::format("{} wants one of {}", what, all_of(kKinds)));
    return {};
  }
  if (kinds == 0) return {};
  const YamlNode& value = *fields.find(kind);
  if (kind == "normal" || kind == "log_normal") return bell(reader, fields, value, kind);
  for (const std::string_view key : {"deviation", "within"})
    if (const YamlNode* extra = fields.find(key))
      reader.complain(*extra, fmt::format("{} belongs to 'normal' or 'log_normal'", fields.what(key)));
  if (kind == "uniform") return range(reader, value, fields.what(kind));
  return {Duration::Kind::exponential,
          reader.duration_ns(value, fields.what(kind), Zero::refused).value_or(1), 0, 0, 0};
}

Duration read_range(Reader& reader, const YamlNode& node, const std::string& what) {
  return range(reader, node, what);
}

std::uint16_t read_close_code(Reader& reader, const YamlNode& node, const std::string& what) {
  const auto code = reader.count(node, what, Zero::allowed);
  if (!code || may_be_sent(*code)) return static_cast<std::uint16_t>(code.value_or(1000));
  const bool reserved = *code == 1004 || *code == 1005 || *code == 1006 || *code == 1015;
  const char* why = reserved ? "must never stand in a close frame (RFC 6455 section 7.4.1)"
                    : *code >= 1000 && *code <= 2999
                        ? "is for the protocol itself, not for a script (RFC 6455 section 7.4)"
                        : "is no close code";
  reader.complain(node, fmt::format("{}: {} {}; write 1000, 1001 or 3000 to 4999", what, *code, why));
  return 1000;
}

}  // namespace onrush
