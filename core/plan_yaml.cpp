#include "core/plan_yaml.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "core/control.h"
#include "core/nearest.h"
#include "core/plan_captures.h"
#include "core/plan_connection.h"
#include "core/plan_connects.h"
#include "core/plan_data.h"
#include "core/plan_parameters.h"
#include "core/plan_scenario.h"
#include "core/plan_search.h"
#include "core/plan_stages.h"
#include "core/plan_target.h"
#include "core/yaml_reader.h"

namespace onrush {
namespace {

constexpr std::size_t kMostExpressions = 100;
constexpr std::size_t kMostObserved = 16;
constexpr std::array<std::string_view, 2> kLossPolicies{"continue", "abort"};

// Counters begin at 0 and grow: what holds for 0 would end the run before it has begun.
bool holds_at_once(const Expression& e) {
  const auto* figure = std::get_if<Figure>(&e.subject);
  const bool counts = std::holds_alternative<Counter>(e.subject) ||
                      (figure != nullptr && !e.share &&
                       (*figure == Figure::failed_connections || *figure == Figure::lost_connections ||
                        *figure == Figure::failed_requests));
  return counts && e.for_ns == 0 && compare(0, e.comparison, e.value);
}

bool asks_for_connections(const Stage& stage) {
  return (!stage.users.empty() && (stage.rate || stage.over_ns)) || stage.arrivals ||
         !stage.arrivals_by_scenario.empty();
}

std::vector<Expression> read_expressions(Reader& reader, const YamlNode& node,
                                         const std::vector<Stage>& stages,
                                         const std::vector<Scenario>& scenarios, bool abort) {
  std::vector<Expression> expressions;
  const std::string what = abort ? "'abort'" : "'thresholds'";
  if (!reader.is_list(node, what, "[\"round_trip_time p99 < 250ms\"]")) return expressions;
  if (node.children.size() > kMostExpressions) {
    reader.complain(
        node, fmt::format("{} has {} entries; at most {}", what, node.children.size(), kMostExpressions));
    return expressions;
  }
  std::vector<std::string> names;
  for (const Stage& s : stages)
    if (!s.name.empty()) names.push_back(s.name);
  std::vector<std::string> scenario_names;
  for (const Scenario& s : scenarios) scenario_names.push_back(s.name);
  for (const YamlNode* item : node.children) {
    const std::string* text = reader.text(*item, fmt::format("an item of {}", what));
    if (text == nullptr) continue;
    auto parsed = parse_expression(*text, names, scenario_names);
    if (!parsed) {
      reader.complain_within(*item, parsed.error().offset, parsed.error().message);
      continue;
    }
    if (abort && holds_at_once(*parsed))
      reader.complain(
          *item,
          fmt::format("{} holds from the first second on, so the run would end at once; turn it round or add "
                      "'for 10s'",
                      quoted(*text)));
    const auto stage =
        std::find_if(stages.begin(), stages.end(), [&](const Stage& s) { return s.name == parsed->stage; });
    const auto* figure = std::get_if<Figure>(&parsed->subject);
    if (figure != nullptr && *figure == Figure::connect_pace && stage != stages.end() &&
        !parsed->stage.empty() && !asks_for_connections(*stage))
      reader.complain_within(
          *item, text->rfind(parsed->stage),
          fmt::format("stage '{}' asks for no rate of connections, so 'connect_pace' has no value in it",
                      stage->name));
    expressions.push_back(std::move(*parsed));
  }
  return expressions;
}

std::vector<Observed> read_observed(Reader& reader, const YamlNode& node) {
  std::vector<Observed> observed;
  if (!reader.is_list(node, "'observe'", "[{name: server, port: 8088}]")) return observed;
  if (node.children.size() > kMostObserved) {
    reader.complain(node,
                    fmt::format("'observe' has {} entries; at most {}", node.children.size(), kMostObserved));
    return observed;
  }
  std::set<std::string> names;
  for (const YamlNode* item : node.children) {
    if (!reader.is_map(*item, "an item of 'observe'", "{name: server, port: 8088}")) continue;
    Fields fields(reader, *item, kObserveKeys, "'observe'");
    Observed o{"", 0};
    if (const YamlNode* name = fields.need("name", "name: server")) {
      o.name = reader.name(*name, fields.what("name")).value_or("");
      if (!o.name.empty() && !names.insert(o.name).second)
        reader.complain(*name, fmt::format("'observe' has a '{}' already; give each its own name", o.name));
    }
    if (const YamlNode* port = fields.need("port", "port: 8088")) {
      const auto number = reader.count(*port, fields.what("port"), Zero::allowed);
      if (number && (*number == 0 || *number > 65535))
        reader.complain(*port, fmt::format("{} is {}; a port is 1 to 65535", fields.what("port"), *number));
      o.port = static_cast<std::uint16_t>(number.value_or(0));
    }
    observed.push_back(std::move(o));
  }
  return observed;
}

Plan read_root(Reader& reader, const YamlNode& root, const std::string& given_target,
               const std::optional<std::string>& search_load) {
  Plan plan;
  if (!reader.is_map(root, "the plan", "name: ..., target: ..., scenarios: ..., stages: ...")) return plan;
  Fields fields(reader, root, kPlanKeys, "the plan");
  if (const YamlNode* name = fields.need("name", "name: first"))
    plan.name = reader.name(*name, "'name' of the plan").value_or("");
  const YamlNode* target = given_target.empty() ? fields.need("target", "target: ws://127.0.0.1:8088/echo")
                                                : fields.find("target");
  if (target != nullptr) plan.targets = read_targets(reader, *target);
  if (!given_target.empty()) plan.targets = read_given_target(reader, given_target);
  if (const YamlNode* node = fields.find("data")) plan.data = read_data(reader, *node);
  if (const YamlNode* node = fields.find("connection"))
    plan.connection = read_connection(reader, *node, plan.data);
  const auto pins = [](const Target& t) { return !t.addresses.empty(); };
  if (plan.connection.proxy && std::any_of(plan.targets.begin(), plan.targets.end(), pins))
    reader.complain(*target, "'resolve' does nothing behind a proxy, which looks names up itself");
  const std::set<std::uint32_t> everybodys_feeds = reader.take_feeds();
  if (const YamlNode* scenarios = fields.need("scenarios", "scenarios: {visitor: {script: [connect, ...]}}"))
    plan.scenarios =
        read_scenarios(reader, *scenarios, everybodys_feeds, plan.connection.graphql.has_value());
  for (Scenario& s : plan.scenarios) give_connection(s.script, {{}, plan.connection.timeout_ns});
  if (const YamlNode* node = fields.find("search")) plan.search = read_search(reader, *node, plan.scenarios);
  const YamlNode* stages =
      plan.search ? fields.find("stages")
                  : fields.need("stages", "stages: [{name: steady, users: 100, over: 10s, for: 30s}]");
  if (stages != nullptr)
    plan.stages = read_stages(reader, *stages, plan.scenarios);
  else if (plan.search)
    set_trial(plan, range_of(*plan.search).from);  // what `onrush run` then runs
  if (const YamlNode* node = fields.find("thresholds"))
    plan.thresholds = read_expressions(reader, *node, plan.stages, plan.scenarios, false);
  if (const YamlNode* node = fields.find("abort"))
    plan.abort = read_expressions(reader, *node, plan.stages, plan.scenarios, true);
  if (const YamlNode* node = fields.find("observe")) plan.observe = read_observed(reader, *node);
  if (const YamlNode* node = fields.find("seed"))
    plan.seed = reader.count(*node, "'seed'", Zero::allowed).value_or(1);
  if (const YamlNode* node = fields.find("on_agent_loss"))
    plan.on_agent_loss =
        static_cast<OnAgentLoss>(reader.word(*node, "'on_agent_loss'", kLossPolicies).value_or(0));
  if (search_load) set_trial(plan, reader, *search_load);
  return plan;
}

}  // namespace

PlanSource source_of(const PlanText& text) {
  return {text.file, text.yaml, text.settings, text.target, surroundings_of(text.files, text.environment)};
}

Expected<Plan, std::vector<Diagnostic>> read_plan(const PlanSource& source) {
  auto text = SourceText::from(source.yaml);
  if (!text) return Unexpected{std::vector{text.error()}};
  auto tree = YamlTree::parse(std::move(*text));
  if (!tree) return Unexpected{std::vector{tree.error()}};
  Reader reader(*tree, source.around);
  // What a 'set' gives a value to is no parameter; which scenario may name it is looked at when it is read.
  reader.names().captures = captured_names(tree->root());
  Settings settings = source.settings;
  const std::optional<std::string> search_load = take_search_load(settings);
  std::map<std::string, std::string> parameters = substitute_parameters(*tree, settings, reader);
  reader.names().captures.clear();
  Plan plan = read_root(reader, tree->root(), source.target, search_load);
  plan.parameters = std::move(parameters);
  plan.files = reader.take_files();
  std::vector<Diagnostic> mistakes = reader.take();
  if (!mistakes.empty()) return Unexpected{std::move(mistakes)};
  return plan;
}

}  // namespace onrush
