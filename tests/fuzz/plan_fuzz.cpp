// Any bytes as a plan file: a plan, or mistakes that have a place and are sorted by it; never a crash, never
// long.
#include <algorithm>

#include "core/plan_yaml.h"
#include "tests/fuzz/fuzz.h"

using namespace onrush;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const PlanSource source{"fuzz.yaml", {reinterpret_cast<const char*>(data), size}, {}, {}};
  const Expected<Plan, std::vector<Diagnostic>> plan = read_plan(source);
  if (plan) return 0;
  ONRUSH_CHECK(!plan.error().empty());
  ONRUSH_CHECK(std::is_sorted(plan.error().begin(), plan.error().end(), [](const auto& a, const auto& b) {
    return Position{a.line, a.column} < Position{b.line, b.column};
  }));
  for (const Diagnostic& mistake : plan.error())
    ONRUSH_CHECK(!mistake.message.empty() && (mistake.line == 0 || (mistake.line > 0 && mistake.column > 0)));
  ONRUSH_CHECK(!render(source.file, plan.error()).empty());
  return 0;
}
