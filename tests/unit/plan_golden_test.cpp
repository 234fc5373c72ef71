// Every plan in tests/golden/plans is read, and what is said of it is compared with the text beside it.
// To accept new wording after reading it: ONRUSH_ACCEPT=1 build/release/bin/test-unit
// --gtest_filter='PlanGolden*'
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/plan_yaml.h"

namespace onrush {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::vector<fs::path> plans() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(fs::path(ONRUSH_SOURCE_DIR) / "tests/golden/plans"))
    if (entry.path().extension() == ".yaml") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

TEST(PlanGolden, EveryBadPlanIsToldWhereWhatAndWhatInstead) {
  ASSERT_GE(plans().size(), 20u);
  for (const fs::path& path : plans()) {
    SCOPED_TRACE(path.filename().string());
    const std::string yaml = content(path);
    const auto plan = read_plan({path.filename().string(), yaml, {}, ""});
    ASSERT_FALSE(plan.has_value());
    const std::string said = render(path.filename().string(), plan.error());
    const fs::path expected = fs::path(path).replace_extension(".txt");
    if (std::getenv("ONRUSH_ACCEPT") != nullptr) std::ofstream(expected, std::ios::binary) << said;
    EXPECT_EQ(said, content(expected));
  }
}

}  // namespace
}  // namespace onrush
