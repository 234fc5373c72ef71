// A plan file read from disk and checked, for the commands.
#pragma once

#include "coordinator/commands.h"
#include "core/expected.h"
#include "core/plan.h"

namespace onrush {

struct PlanFile {
  PlanText text;
  Plan plan;
};

/// Error: complete lines for a person: the file cannot be read, or all mistakes in it.
[[nodiscard]] Expected<PlanFile, std::string> read_plan_file(const PlanArguments& arguments);

}  // namespace onrush
