// Files of the checkout that the command carries with it, for those who have the program alone.
//
// Owner: constant data, made from the files by shipped.cmake, so that it is what tests have read.
#pragma once

#include <span>
#include <string_view>

namespace onrush {

struct StarterPlan {
  std::string_view kind;  ///< "echo"
  std::string_view text;  ///< plans/starters/KIND.yaml
};

/// By kind.
[[nodiscard]] std::span<const StarterPlan> starter_plans() noexcept;

/// docs/plan.schema.json.
[[nodiscard]] std::string_view plan_schema() noexcept;

}  // namespace onrush
