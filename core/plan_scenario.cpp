#include "core/plan_scenario.h"

#include <fmt/format.h>

#include "core/nearest.h"
#include "core/plan_captures.h"
#include "core/plan_connects.h"
#include "core/plan_flow.h"
#include "core/plan_on_close.h"
#include "core/plan_steps.h"

namespace onrush {
namespace {

Steps stripped(std::vector<PlacedStep> placed) {
  Steps steps;
  for (PlacedStep& p : placed) {
    if (auto* repeat = std::get_if<RepeatStep>(&p.step.what)) repeat->body = stripped(std::move(p.body));
    if (auto* choose = std::get_if<ChooseStep>(&p.step.what))
      for (std::size_t i = 0; i < choose->branches.size(); ++i)
        choose->branches[i].body = stripped(std::move(p.branches[i]));
    steps.push_back(std::move(p.step));
  }
  return steps;
}

// Templates find a value by its place in the list.
void name_captures(Reader& reader, const YamlNode& script, const std::string& owner, Scenario& scenario) {
  std::vector<std::string> names = captured_names(script);
  if (names.size() > kMostCaptures) {
    reader.complain(script, fmt::format("{} sets {} values; at most {}", owner, names.size(), kMostCaptures));
    names.resize(kMostCaptures);
  }
  for (const std::string& name : names) scenario.captures.push_back({name, 0});
  reader.names().captures = std::move(names);
}

Scenario read_scenario(Reader& reader, const YamlNode& key, const YamlNode& value,
                       const std::set<std::uint32_t>& everybodys_feeds, bool graphql) {
  Scenario scenario;
  scenario.name = reader.name(key, "the name of a scenario").value_or(key.text);
  const std::string owner = fmt::format("scenario {}", quoted(key.text));
  if (!reader.is_map(value, owner, "{script: [connect, ...]}")) return scenario;
  Fields fields(reader, value, kScenarioKeys, owner);
  if (const YamlNode* weight = fields.find("weight")) {
    scenario.weight = reader.decimal(*weight, fields.what("weight")).value_or(1);
    if (scenario.weight > kHeaviestWeight)
      reader.complain(*weight, fmt::format("{} is more than {}", fields.what("weight"), kHeaviestWeight));
  }
  if (const YamlNode* on_close = fields.find("on_close"))
    scenario.reconnect = read_on_close(reader, *on_close, owner);
  ScenarioConnection connection;
  if (const YamlNode* node = fields.find("connection"))
    connection = read_scenario_connection(reader, *node, owner, graphql);
  const YamlNode* script = fields.need("script", "script: [connect, {send: {text: hello}}, close]");
  if (script == nullptr || !reader.is_list(*script, fields.what("script"), "[connect, listen]"))
    return scenario;
  if (script->children.empty())
    reader.complain(*script, fmt::format("{} is empty; begin it with connect", fields.what("script")));
  name_captures(reader, *script, owner, scenario);
  PlacedScript placed = read_script({reader, owner, scenario.captures}, *script, graphql);
  if (placed.whole) check_flow(reader, placed.steps, owner);
  scenario.script = stripped(std::move(placed.steps));
  give_connection(scenario.script, connection);
  std::set<std::uint32_t> feeds = reader.take_feeds();
  feeds.insert(everybodys_feeds.begin(), everybodys_feeds.end());
  scenario.feeds.assign(feeds.begin(), feeds.end());
  reader.names().captures.clear();
  std::uint64_t bytes = 0;
  for (const CaptureName& capture : scenario.captures) bytes += capture.at_most;
  if (bytes > kLargestCapture)
    reader.complain(*script,
                    fmt::format("the users of {} keep up to {} bytes each; at most {}: give their values a "
                                "smaller 'at_most'",
                                owner, bytes, kLargestCapture));
  return scenario;
}

}  // namespace

std::vector<Scenario> read_scenarios(Reader& reader, const YamlNode& node,
                                     const std::set<std::uint32_t>& everybodys_feeds, bool graphql) {
  std::vector<Scenario> scenarios;
  if (!reader.is_map(node, "'scenarios'", "{visitor: {script: [connect, ...]}}")) return scenarios;
  refuse_repeated_names(reader, node, "'scenarios'");
  if (node.children.empty())
    reader.complain(node, "'scenarios' is empty; write {visitor: {script: [connect, ...]}}");
  if (node.children.size() / 2 > kMostScenarios) {
    reader.complain(node, fmt::format("'scenarios' has {} entries; at most {}", node.children.size() / 2,
                                      kMostScenarios));
    return scenarios;
  }
  for (std::size_t i = 0; i + 1 < node.children.size(); i += 2)
    scenarios.push_back(
        read_scenario(reader, *node.children[i], *node.children[i + 1], everybodys_feeds, graphql));
  return scenarios;
}

}  // namespace onrush
