// The steps of GraphQL, from YAML: subscribe, unsubscribe, query, mutate, and what names a subscription.
//
// Owner: one reading of one script. `name` is the node of the step's word, `value` what stands behind it,
// which is null if nothing does. Nothing comes of a step that has no connection for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/plan.h"
#include "core/plan_waiting_steps.h"
#include "core/yaml_reader.h"

namespace onrush {

class GraphqlSteps {
 public:
  /// `speaks_it`: the plan's connections do.
  explicit GraphqlSteps(bool speaks_it) : speaks_it_{speaks_it} {}

  [[nodiscard]] std::optional<Step> subscribe(const StepContext& context, const YamlNode& name,
                                              const YamlNode& value);
  [[nodiscard]] std::optional<Step> unsubscribe(const StepContext& context, const YamlNode& name,
                                                const YamlNode& value);
  [[nodiscard]] std::optional<Step> operate(const StepContext& context, const YamlNode& name,
                                            const YamlNode& value, GraphqlOperation operation);
  /// The place among the script's subscriptions of one that was named before; `node` names it.
  [[nodiscard]] std::optional<std::uint8_t> subscription(const StepContext& context, const YamlNode& name,
                                                         const YamlNode& node, const std::string& what);

 private:
  [[nodiscard]] bool is_spoken(const StepContext& context, const YamlNode& name) const;
  [[nodiscard]] std::uint8_t place_of(Reader& reader, const YamlNode& node, const std::string& what) const;

  bool speaks_it_;
  std::vector<std::string> named_;  ///< so far
};

}  // namespace onrush
