// Any bytes as a plan file: a plan, of which everything that is worked out before a run can be, or mistakes
// that have a place and are sorted by it; never a crash, never long.
#include <algorithm>

#include "core/plan_search.h"
#include "core/plan_yaml.h"
#include "core/preflight.h"
#include "core/script.h"
#include "core/timeline.h"
#include "tests/fuzz/fuzz.h"

using namespace onrush;

namespace {

/// Every file that the plan names is there, and holds what its name says.
Expected<FileContent, std::string> file(const std::string& name) {
  if (name.ends_with(".csv"))
    return std::make_shared<const std::string>("name,token\nann,t1\nbob,\"t\n2\"\n");
  if (name.ends_with(".jsonl"))
    return std::make_shared<const std::string>("{\"room\":\"a\",\"n\":1}\n{\"room\":\"b\",\"n\":2}\n");
  if (name.ends_with(".bin")) return std::make_shared<const std::string>(300, '\0');
  return Unexpected<std::string>{"no such file"};
}

void work_out(Plan plan) {
  for (const Scenario& scenario : plan.scenarios) ONRUSH_CHECK(!compile(scenario).empty());
  ONRUSH_CHECK(timeline(plan).size() == plan.stages.size());
  const PlanNeed need = need_of(plan, "fuzz.yaml");
  ONRUSH_CHECK(need.user_bytes >= kUserBytes);
  if (!plan.search) return;
  const SearchRange range = range_of(*plan.search);
  Search search{range};
  const auto load = search.next(0);
  if (!load) return;
  set_trial(plan, *load);
  ONRUSH_CHECK(timeline(plan).size() == 2);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  PlanSource source{"fuzz.yaml", {reinterpret_cast<const char*>(data), size}, {}, {}};
  source.around.file = file;
  source.around.variable = [](const std::string& name) {
    return name == "HOME" ? std::optional<std::string>{"/root"} : std::nullopt;
  };
  Expected<Plan, std::vector<Diagnostic>> plan = read_plan(source);
  if (plan) return work_out(std::move(*plan)), 0;
  ONRUSH_CHECK(!plan.error().empty());
  ONRUSH_CHECK(std::is_sorted(plan.error().begin(), plan.error().end(), [](const auto& a, const auto& b) {
    return Position{a.line, a.column} < Position{b.line, b.column};
  }));
  for (const Diagnostic& mistake : plan.error())
    ONRUSH_CHECK(!mistake.message.empty() && (mistake.line == 0 || (mistake.line > 0 && mistake.column > 0)));
  ONRUSH_CHECK(!render(source.file, plan.error()).empty());
  return 0;
}
