#include "core/plan_connects.h"

#include <fmt/format.h>

#include "core/plan_upgrade.h"

namespace onrush {

ScenarioConnection read_scenario_connection(Reader& reader, const YamlNode& node, const std::string& owner,
                                            bool graphql) {
  ScenarioConnection connection;
  const std::string what = fmt::format("'connection' of {}", owner);
  if (!reader.is_map(node, what, "{path: /room}")) return connection;
  const Fields fields(reader, node, kScenarioConnectionKeys, what);
  connection.upgrade = read_upgrade_fields(reader, fields);
  if (const YamlNode* timeout = fields.find("timeout"))
    connection.timeout_ns = reader.duration_ns(*timeout, fields.what("timeout"), Zero::refused).value_or(0);
  if (const YamlNode* subprotocols = fields.find("subprotocols"); subprotocols != nullptr && graphql)
    reader.complain(*subprotocols, fmt::format("{} on a GraphQL connection, which offers its 'protocol'",
                                               fields.what("subprotocols")));
  return connection;
}

void give_connection(Steps& steps, const ScenarioConnection& connection) {
  const auto give = [&connection](ConnectStep& step) {
    if (step.timeout_ns == 0) step.timeout_ns = connection.timeout_ns;
    step.upgrade = combined(connection.upgrade, step.upgrade);
  };
  for (Step& step : steps) {
    if (auto* connect = std::get_if<ConnectStep>(&step.what)) give(*connect);
    if (auto* reconnect = std::get_if<ReconnectStep>(&step.what)) give(reconnect->connect);
    if (auto* repeat = std::get_if<RepeatStep>(&step.what)) give_connection(repeat->body, connection);
    if (auto* choose = std::get_if<ChooseStep>(&step.what))
      for (ChooseStep::Branch& branch : choose->branches) give_connection(branch.body, connection);
  }
}

}  // namespace onrush
