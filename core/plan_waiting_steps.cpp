#include "core/plan_waiting_steps.h"

#include <fmt/format.h>

#include <array>

#include "core/nearest.h"
#include "core/plan_captures.h"
#include "core/plan_values.h"

namespace onrush {
namespace {

constexpr std::size_t kLongestReason = 123;  // RFC 6455 section 5.5: 125 bytes less the code
constexpr std::array<std::string_view, 2> kEnds{"close", "rst"};

bool given(const YamlNode& node) { return node.kind != YamlNode::Kind::null; }

}  // namespace

std::string StepContext::within(const YamlNode& name) const {
  return fmt::format("'{}' of {}", name.text, owner);
}

ExpectStep read_expect(const StepContext& context, const YamlNode& name, const YamlNode& value) {
  ExpectStep step;
  const std::string what = context.within(name);
  const bool is_any = value.kind == YamlNode::Kind::scalar && value.text == "any";
  if (!given(value) || is_any) return step;
  if (value.kind == YamlNode::Kind::scalar) {
    context.reader.complain(value,
                            fmt::format("{} is {}; write any, or {{text: {}}}", what, quoted(value.text),
                                        value.text.size() < 20 ? value.text : "hello"));
    return step;
  }
  if (!context.reader.is_map(value, what, "{text: hello}")) return step;
  const Fields fields(context.reader, value, kExpectKeys, what);
  step.reply = read_reply_fields(context.reader, fields);
  step.set = read_kept(context, fields);
  read_timeout(context.reader, fields, step.timeout_ns);
  return step;
}

PingStep read_ping(const StepContext& context, const YamlNode& name, const YamlNode& value) {
  PingStep step;
  const std::string what = context.within(name);
  if (given(value) && context.reader.is_map(value, what, "{timeout: 5s}"))
    read_timeout(context.reader, Fields(context.reader, value, kPingKeys, what), step.timeout_ns);
  return step;
}

LogStep read_log(const StepContext& context, const YamlNode& name, const YamlNode& value) {
  const std::string what = context.within(name);
  if (given(value)) return {context.reader.template_text(value, what).value_or(Template())};
  context.reader.complain(name, fmt::format("{} says nothing; write log: \"user ${{user}} is here\"", what));
  return {};
}

ReconnectStep read_reconnect(const StepContext& context, const YamlNode& name, const YamlNode& value) {
  ReconnectStep step;
  step.connect.timeout_ns = 0;  // the connection's, unless it states its own
  Reader& reader = context.reader;
  const std::string what = context.within(name);
  if (!given(value) || !reader.is_map(value, what, "{by: rst}")) return step;
  const Fields fields(reader, value, kReconnectKeys, what);
  if (const YamlNode* by = fields.find("by"))
    step.drop = reader.word(*by, fields.what("by"), kEnds).value_or(0) == 1;
  for (const std::string_view key : {"code", "reason"})
    if (const YamlNode* node = fields.find(key); node != nullptr && step.drop)
      reader.complain(*node,
                      fmt::format("{} beside 'by: rst', which sends no close frame", fields.what(key)));
  read_close_frame(reader, fields, step.close);
  read_timeout(reader, fields, step.connect.timeout_ns);
  return step;
}

SetStep read_set(const StepContext& context, const YamlNode& name, const YamlNode& value) {
  const std::string what = context.within(name);
  if (given(value)) return {read_captures(context.reader, value, what, CaptureFrom::text, context.captures)};
  context.reader.complain(name,
                          fmt::format("{} sets nothing; write set: {{greeting: \"hello ${{user}}\"}}", what));
  return {};
}

std::vector<Capture> read_kept(const StepContext& context, const Fields& fields) {
  const YamlNode* node = fields.find("set");
  if (node == nullptr) return {};
  return read_captures(context.reader, *node, fields.what("set"), CaptureFrom::reply, context.captures);
}

void read_timeout(Reader& reader, const Fields& fields, std::int64_t& timeout_ns) {
  if (const YamlNode* node = fields.find("timeout"))
    timeout_ns = reader.duration_ns(*node, fields.what("timeout"), Zero::refused).value_or(timeout_ns);
}

void read_close_frame(Reader& reader, const Fields& fields, CloseStep& step) {
  if (const YamlNode* node = fields.find("code"))
    step.code = read_close_code(reader, *node, fields.what("code"));
  if (const YamlNode* node = fields.find("reason")) {
    const std::string* reason = reader.text(*node, fields.what("reason"));
    if (reason != nullptr && reason->size() > kLongestReason)
      reader.complain(*node, fmt::format("{} has {} bytes; a close frame holds {}", fields.what("reason"),
                                         reason->size(), kLongestReason));
    const auto placeholder = reason == nullptr ? std::nullopt : next_placeholder(*reason, 0);
    if (placeholder)
      reader.complain_within(*node, placeholder->begin,
                             fmt::format("'${{...}}' in {} is not yet supported", fields.what("reason")));
    if (reason != nullptr) step.reason = *reason;
  }
}

}  // namespace onrush
