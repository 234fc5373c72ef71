#include "core/plan_captures.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "core/nearest.h"
#include "core/plan_values.h"

namespace onrush {
namespace {

void collect(const YamlNode& node, std::unordered_set<const YamlNode*>& seen,
             std::vector<std::string>& names) {
  if (!seen.insert(&node).second) return;  // an alias
  if (node.kind == YamlNode::Kind::map)
    for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
      const YamlNode& value = *node.children[i + 1];
      if (node.children[i]->text != "set" || value.kind != YamlNode::Kind::map) continue;
      for (std::size_t n = 0; n + 1 < value.children.size(); n += 2) {
        const std::string& name = value.children[n]->text;
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
      }
    }
  for (const YamlNode* child : node.children) collect(*child, seen, names);
}

bool may_be_captured(Reader& reader, const YamlNode& name, const std::string& what) {
  if (!reader.name(name, fmt::format("a name in {}", what))) return false;
  const std::vector<std::string>& parameters = reader.names().parameters;
  const bool parameter = std::find(parameters.begin(), parameters.end(), name.text) != parameters.end();
  if (!parameter && name.text.find('.') == std::string::npos && !is_variable(name.text)) return true;
  reader.complain(name,
                  fmt::format("{} cannot set {}, which {}; give it another name", what, quoted(name.text),
                              parameter                ? "is a parameter"
                              : is_variable(name.text) ? "texts know already"
                                                       : "has a '.' in it"));
  return false;
}

std::uint32_t place_of(const std::string& name, std::uint32_t at_most, std::vector<CaptureName>& names) {
  auto found = std::find_if(names.begin(), names.end(), [&](const CaptureName& c) { return c.name == name; });
  if (found == names.end()) found = names.insert(names.end(), {name, 0});
  found->at_most = std::max(found->at_most, at_most);
  return static_cast<std::uint32_t>(found - names.begin());
}

using Source = std::optional<decltype(Capture::source)>;

Source read_source(Reader& reader, const Fields& fields, const YamlNode& at, CaptureFrom from) {
  const YamlNode* text = fields.find("text");
  const YamlNode* json = fields.find("json");
  const YamlNode* regex = fields.find("regex");
  const int given = (text != nullptr ? 1 : 0) + (json != nullptr ? 1 : 0) + (regex != nullptr ? 1 : 0);
  if (given != 1) {
    if (given > 1 || fields.intact())
      reader.complain(at, fmt::format("a value to be kept is one of 'text', 'json' and 'regex'; write {}",
                                      from == CaptureFrom::reply ? "{json: /id}" : "{text: \"${user}\"}"));
    return std::nullopt;
  }
  if (text != nullptr) return reader.template_text(*text, fields.what("text")).value_or(Template());
  const YamlNode& of_reply = json != nullptr ? *json : *regex;
  if (from == CaptureFrom::text) {
    reader.complain(of_reply, fmt::format("{} needs a reply; put this 'set' into the 'request' or 'expect'",
                                          fields.what(json != nullptr ? "json" : "regex")));
    return std::nullopt;
  }
  if (json != nullptr) return reader.pointer(*json, fields.what("json")).value_or("/");
  auto expression = read_regex(reader, *regex, fields.what("regex"));
  if (!expression) return std::nullopt;
  return std::move(*expression);
}

}  // namespace

std::vector<std::string> captured_names(const YamlNode& node) {
  std::vector<std::string> names;
  std::unordered_set<const YamlNode*> seen;
  collect(node, seen, names);
  return names;
}

std::vector<Capture> read_captures(Reader& reader, const YamlNode& node, const std::string& what,
                                   CaptureFrom from, std::vector<CaptureName>& names) {
  std::vector<Capture> captures;
  const char* example =
      from == CaptureFrom::reply ? "{token: {json: /token}}" : "{greeting: \"hello ${user}\"}";
  if (!reader.is_map(node, what, example)) return captures;
  refuse_repeated_names(reader, node, what);
  if (node.children.empty()) reader.complain(node, fmt::format("{} is empty; write {}", what, example));
  Template::Draws drawn;
  for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
    const YamlNode& name = *node.children[i];
    const YamlNode& value = *node.children[i + 1];
    if (!may_be_captured(reader, name, what)) continue;
    const std::string owner = fmt::format("{} in {}", quoted(name.text), what);
    std::uint32_t at_most = kUsualCapture_bytes;
    Source source;
    if (value.kind != YamlNode::Kind::map) {
      source = reader.template_text(value, owner).value_or(Template());
    } else {
      const Fields fields(reader, value, kCaptureKeys, owner);
      source = read_source(reader, fields, value, from);
      if (const YamlNode* size = fields.find("at_most")) {
        const auto bytes = reader.count(*size, fields.what("at_most"), Zero::refused).value_or(1);
        if (bytes > kLargestCapture)
          reader.complain(*size, fmt::format("{} is {}; a value has at most {} bytes", fields.what("at_most"),
                                             bytes, kLargestCapture));
        at_most = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, kLargestCapture));
      }
    }
    // The places are those that templates were compiled with.
    const std::uint32_t place = place_of(name.text, at_most, names);
    if (!source) continue;
    captures.push_back({place, std::move(*source)});
    if (auto* text = std::get_if<Template>(&captures.back().source)) text->draw_behind(drawn);
  }
  return captures;
}

std::vector<Until> read_until(Reader& reader, const YamlNode& node, const std::string& what) {
  std::vector<Until> until;
  if (!reader.is_map(node, what, "{status: done}")) return until;
  refuse_repeated_names(reader, node, what);
  if (node.children.empty()) reader.complain(node, fmt::format("{} is empty; write {{status: done}}", what));
  const std::vector<std::string>& known = reader.names().captures;
  Template::Draws drawn;
  for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
    const YamlNode& name = *node.children[i];
    const auto found = std::find(known.begin(), known.end(), name.text);
    if (found == known.end()) {
      const std::vector<std::string_view> names(known.begin(), known.end());
      const std::string hint = did_you_mean(name.text, names);
      reader.complain(name, fmt::format("{} names {}, which no 'set' of this scenario gives a value{}", what,
                                        quoted(name.text), hint));
      continue;
    }
    until.push_back({static_cast<std::uint32_t>(found - known.begin()),
                     reader.template_text(*node.children[i + 1], what).value_or(Template())});
    until.back().value.draw_behind(drawn);
  }
  return until;
}

}  // namespace onrush
