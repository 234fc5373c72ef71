// docs/plan-reference.md is held against the reader: its plans are read, and every key that the reader knows
// is in it.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "core/metrics.h"
#include "core/plan_keys.h"
#include "core/plan_yaml.h"

namespace onrush {
namespace {

std::string reference() {
  std::ifstream in(std::string(ONRUSH_SOURCE_DIR) + "/docs/plan-reference.md");
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::vector<std::string> whole_plans(const std::string& page) {
  constexpr std::string_view kBegin = "```yaml plan\n";
  std::vector<std::string> plans;
  for (std::size_t at = page.find(kBegin); at != std::string::npos; at = page.find(kBegin, at + 1)) {
    const std::size_t begin = at + kBegin.size();
    plans.push_back(page.substr(begin, page.find("```", begin) - begin));
  }
  return plans;
}

TEST(PlanReference, EveryWholePlanOfThePageIsGood) {
  const auto plans = whole_plans(reference());
  ASSERT_GE(plans.size(), 5u);
  for (const std::string& yaml : plans) {
    const auto plan = read_plan({"plan-reference.md", yaml, {}, ""});
    EXPECT_TRUE(plan.has_value()) << yaml << (plan ? "" : render("plan-reference.md", plan.error()));
  }
}

TEST(PlanReference, EveryKeyOfTheReaderIsDescribed) {
  const std::string page = reference();
  for (const KeyTable* table : key_tables())
    for (const std::string_view key : table->known) {
      const std::string quoted = "`" + std::string(key) + "`";
      // The forms of 'think' and the members of 'reply' stand within an example of theirs.
      const std::string within = "{" + std::string(key) + ":";
      EXPECT_TRUE(page.find(quoted) != std::string::npos || page.find(within) != std::string::npos)
          << key << " of " << table->owner;
    }
}

TEST(PlanReference, EveryMetricIsNamed) {
  const std::string page = reference();
  for (std::size_t i = 0; i < kTimes; ++i)
    EXPECT_NE(page.find("`" + std::string(describe(static_cast<Time>(i)).name) + "`"), std::string::npos);
  for (std::size_t i = 0; i < kCounters; ++i)
    EXPECT_NE(page.find("`" + std::string(describe(static_cast<Counter>(i)).name) + "`"), std::string::npos);
}

TEST(PlanReference, KeyTablesDoNotContradictThemselves) {
  for (const KeyTable* table : key_tables())
    for (const std::string_view later : table->later)
      for (const std::string_view known : table->known) EXPECT_NE(later, known) << table->owner;
}

}  // namespace
}  // namespace onrush
