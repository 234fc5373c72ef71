#include "core/plan_graphql_steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/nearest.h"
#include "core/plan_graphql.h"
#include "core/plan_values.h"

namespace onrush {
namespace {

bool given(const YamlNode& node) { return node.kind != YamlNode::Kind::null; }

}  // namespace

bool GraphqlSteps::is_spoken(const StepContext& context, const YamlNode& name) const {
  if (!speaks_it_)
    context.reader.complain(name, fmt::format("{} needs a GraphQL connection; write connection: {{protocol: "
                                              "graphql-transport-ws}}",
                                              context.within(name)));
  return speaks_it_;
}

std::optional<std::uint8_t> GraphqlSteps::subscription(const StepContext& context, const YamlNode& name,
                                                       const YamlNode& node, const std::string& what) {
  if (!is_spoken(context, name)) return std::nullopt;
  return place_of(context.reader, node, what);
}

std::uint8_t GraphqlSteps::place_of(Reader& reader, const YamlNode& node, const std::string& what) const {
  const std::string* name = reader.text(node, what);
  if (name == nullptr) return 0;
  const auto found = std::find(named_.begin(), named_.end(), *name);
  if (found != named_.end()) return static_cast<std::uint8_t>(found - named_.begin());
  const std::vector<std::string_view> known(named_.begin(), named_.end());
  std::string hint = did_you_mean(*name, known);
  if (hint.empty())
    hint =
        known.empty() ? "; subscribe first, with as: " + *name : fmt::format("; there are {}", all_of(known));
  reader.complain(node, fmt::format("{}: no subscription {} before this step{}", what, quoted(*name), hint));
  return 0;
}

std::optional<Step> GraphqlSteps::subscribe(const StepContext& context, const YamlNode& name,
                                            const YamlNode& value) {
  if (!is_spoken(context, name)) return std::nullopt;
  Reader& reader = context.reader;
  const std::string what = context.within(name);
  constexpr std::string_view kExample = "{as: events, query: 'subscription { ... }'}";
  if (!reader.is_map(given(value) ? value : name, what, kExample)) return std::nullopt;
  Fields fields(reader, value, kSubscribeKeys, what);
  SubscribeStep step{
      {}, 0, read_graphql_payload(reader, fields, GraphqlOperation::subscription, {name.text, name})};
  if (const YamlNode* as = fields.need("as", "as: events")) {
    step.as = reader.name(*as, fields.what("as")).value_or("");
    if (std::find(named_.begin(), named_.end(), step.as) != named_.end())
      reader.complain(*as, fmt::format("{}: {} is another subscription's name already", fields.what("as"),
                                       quoted(step.as)));
    else if (named_.size() == kMostSubscriptions)
      reader.complain(*as,
                      fmt::format("{} has more than {} subscriptions", context.owner, kMostSubscriptions));
    else
      named_.push_back(step.as);
    step.place = static_cast<std::uint8_t>(named_.size() - 1);
  }
  return Step{std::move(step)};
}

std::optional<Step> GraphqlSteps::unsubscribe(const StepContext& context, const YamlNode& name,
                                              const YamlNode& value) {
  if (!is_spoken(context, name)) return std::nullopt;
  const std::string what = context.within(name);
  if (given(value)) return Step{UnsubscribeStep{place_of(context.reader, value, what)}};
  context.reader.complain(name, fmt::format("{} names no subscription; write unsubscribe: events", what));
  return std::nullopt;
}

std::optional<Step> GraphqlSteps::operate(const StepContext& context, const YamlNode& name,
                                          const YamlNode& value, GraphqlOperation operation) {
  if (!is_spoken(context, name)) return std::nullopt;
  Reader& reader = context.reader;
  const std::string what = context.within(name);
  const std::string example = fmt::format("{{query: '{} {{ ... }}'}}", onrush::name(operation));
  if (!reader.is_map(given(value) ? value : name, what, example)) return std::nullopt;
  const Fields fields(reader, value, kOperateKeys, what);
  OperateStep step;
  step.operation = operation;
  step.payload = read_graphql_payload(reader, fields, operation, {name.text, name});
  read_timeout(reader, fields, step.timeout_ns);
  const YamlNode* reply = fields.find("reply");
  if (reply == nullptr ||
      !reader.is_map(*reply, fields.what("reply"), "{on: events, json: {/data/id: text}}"))
    return Step{std::move(step)};
  Fields event(reader, *reply, kEventKeys, fields.what("reply"));
  if (const YamlNode* on = event.need("on", "on: events")) step.on = place_of(reader, *on, event.what("on"));
  if (const YamlNode* json = event.find("json"))
    step.event = read_json_reply(reader, *json, event.what("json"));
  return Step{std::move(step)};
}

}  // namespace onrush
