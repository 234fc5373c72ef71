// Whatever the bytes, reading a plan gives an answer: a plan, or mistakes with positions in the file.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <sstream>

#include "core/plan_yaml.h"
#include "core/script.h"
#include "tests/sanitized.h"

namespace onrush {
namespace {

std::string file(const std::string& path) {
  std::ifstream in(std::string(ONRUSH_SOURCE_DIR) + "/" + path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// Pieces that mean something to YAML or to a plan.
constexpr const char* kPieces[] = {"[",        "]",        "{",         "}",       ": ",     "- ",
                                   "\n",       "  ",       "\t",        "\"",      "'",      "#",
                                   "&a ",      "*a",       "!!x ",      "|\n",     ">\n",    "? ",
                                   ",",        "%",        "---\n",     "...\n",   "~",      "${",
                                   "}",        "${user}",  "\\",        "\r\n",    "@",      "`",
                                   "<<: ",     "${users}", "0x1",       "1:30",    "-1",     "1e9",
                                   "\xC3\xBC", "\xff",     "every: 1s", "connect", "listen", "repeat: {do: [",
                                   "for: 0s",  "users: 5"};

std::string mutated(std::string text, std::mt19937_64& random) {
  const auto below = [&](std::size_t n) {
    return static_cast<std::size_t>(random() % std::max<std::size_t>(n, 1));
  };
  for (std::size_t edits = 1 + below(6); edits > 0; --edits) {
    const std::size_t at = below(text.size() + 1);
    switch (below(5)) {
      case 0: text.insert(at, kPieces[below(std::size(kPieces))]); break;
      case 1: text.erase(at, 1 + below(20)); break;
      case 2: text.insert(at, text.substr(below(text.size()), below(60))); break;
      case 3:
        if (at < text.size()) text[at] = static_cast<char>(random());
        break;
      case 4: text.insert(at, std::string(1 + below(80), "[{-? \t"[below(6)])); break;
    }
  }
  return text;
}

void expect_an_answer(const std::string& yaml) {
  const auto plan = read_plan({"t.yaml", yaml, {{"users", "5"}}, ""});
  if (plan) {
    for (const Scenario& s : plan->scenarios) EXPECT_EQ(compile(s).back().op, Op::end);
    EXPECT_FALSE(plan->stages.empty());
    return;
  }
  ASSERT_FALSE(plan.error().empty());
  const auto lines = static_cast<int>(std::count(yaml.begin(), yaml.end(), '\n')) + 1;
  EXPECT_TRUE(std::is_sorted(plan.error().begin(), plan.error().end()));
  for (const Diagnostic& d : plan.error()) {
    EXPECT_FALSE(d.message.empty());
    EXPECT_EQ(d.message.find('\n'), std::string::npos) << d.message;
    EXPECT_LE(d.line, lines);
    EXPECT_GE(d.line, 0);
    EXPECT_EQ(d.line == 0, d.column == 0);
    EXPECT_TRUE(d.line > 0 || d.message.rfind("--set ", 0) == 0) << d.message;
  }
}

TEST(PlanProperty, EveryMutatedPlanGivesAnAnswer) {
  const std::string plans[] = {
      file("plans/c1000k.yaml"), file("plans/open-arrivals.yaml"), file("tests/golden/plans/scripts.yaml"),
      file("tests/golden/plans/stages.yaml"), file("tests/golden/plans/templates.yaml")};
  for (std::uint64_t seed = 1; seed <= seeds(4000); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    expect_an_answer(mutated(plans[seed % std::size(plans)], random));
    if (HasFatalFailure()) return;
  }
}

TEST(PlanProperty, EverySoupOfPiecesGivesAnAnswer) {
  for (std::uint64_t seed = 1; seed <= seeds(4000); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    std::string yaml;
    for (std::size_t n = random() % 60; n > 0; --n) yaml += kPieces[random() % std::size(kPieces)];
    expect_an_answer(yaml);
    if (HasFatalFailure()) return;
  }
}

TEST(PlanProperty, EveryPrefixOfAPlanGivesAnAnswer) {
  for (const char* path : {"plans/c1000k.yaml", "plans/open-arrivals.yaml"}) {
    const std::string yaml = file(path);
    for (std::size_t length = 0; length < yaml.size(); length += 3) expect_an_answer(yaml.substr(0, length));
  }
}

}  // namespace
}  // namespace onrush
