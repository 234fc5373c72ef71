// A plan file read: an immutable Plan, or everything that is wrong with it.
//
// Why: a plan is corrected fastest when all its mistakes are shown at once, where they are, with what to
// write instead. Owner: pure functions. Always: any bytes give an answer soon; nothing throws, nothing
// recurses without bound.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/diagnostic.h"
#include "core/expected.h"
#include "core/plan.h"
#include "core/plan_files.h"

namespace onrush {

struct PlanText;

struct PlanSource {
  std::string file;  ///< its name in messages
  std::string_view yaml;
  std::vector<std::pair<std::string, std::string>>
      settings;        ///< `--set key=value`; the last one of a key wins
  std::string target;  ///< `--target`; "" = the plan's own
  Surroundings around = {};
};

/// A plan that travelled, with what came with it. The text must outlive the source.
[[nodiscard]] PlanSource source_of(const PlanText& text);

/// The plan, or all mistakes, sorted by position.
Expected<Plan, std::vector<Diagnostic>> read_plan(const PlanSource& source);

}  // namespace onrush
