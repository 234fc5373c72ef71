// Whatever the knee, the range and the noise: a search finds the knee within its step, in few trials and in
// time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "core/search.h"
#include "tests/sanitized.h"

namespace onrush {
namespace {

constexpr std::uint64_t kSearches = seeds(5'000);

struct Story {
  SearchRange range;
  std::uint64_t knee;  ///< the highest load that the target keeps
};

Story random_story(std::mt19937_64& random) {
  const auto up_to = [&](double decades) {
    return static_cast<std::uint64_t>(std::pow(10, std::uniform_real_distribution<>(0, decades)(random)));
  };
  Story story{};
  story.range.from = up_to(5);
  story.range.to = story.range.from + up_to(6) - 1;
  story.range.factor = std::uniform_real_distribution<>(1.1, 5)(random);
  story.range.step = up_to(3);
  story.range.step_share = random() % 2 == 0 ? 0 : std::uniform_real_distribution<>(0, 0.2)(random);
  story.knee = random() % 8 == 0 ? 0 : up_to(6.5);
  return story;
}

std::uint64_t step_at(const SearchRange& range, std::uint64_t load) {
  return std::max(range.step, static_cast<std::uint64_t>(static_cast<double>(load) * range.step_share));
}

/// A promise that the target keeps breaks in one trial of a load, for whatever reason.
class Hiccups {
 public:
  Hiccups(std::mt19937_64& random, double share) : random_{random}, share_{share} {}
  bool at(std::uint64_t load) {
    return std::bernoulli_distribution(share_)(random_) && had_.insert(load).second;
  }

 private:
  std::mt19937_64& random_;
  double share_;
  std::set<std::uint64_t> had_;
};

TEST(SearchProperty, AnyKneeIsFoundWithinItsStepHoweverManyTrialsAreSpoiltAndOneOfEachLoadBreaksByChance) {
  for (std::uint64_t seed = 0; seed < kSearches; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const Story story = random_story(random);
    const double noise = std::uniform_real_distribution<>(0, 0.6)(random);
    Hiccups hiccups(random, seed % 2 == 0 ? 0 : noise);
    Search search(story.range);
    std::uint32_t spoilt = 0;
    int counted = 0;
    while (const auto load = search.next(0)) {
      ASSERT_GE(*load, 1u);
      ASSERT_LE(*load, story.range.to);
      // As many in a row as it bears.
      const bool spoil = spoilt + 1 < Search::kMostSpoilt && std::bernoulli_distribution(noise)(random);
      spoilt = spoil ? spoilt + 1 : 0;
      counted += spoil ? 0 : 1;
      ASSERT_LT(counted, 200);
      const bool keeps = *load <= story.knee && (spoil || !hiccups.at(*load));
      search.took(spoil ? TrialOutcome::spoilt : keeps ? TrialOutcome::kept : TrialOutcome::broken);
    }
    const std::uint64_t low = search.kept();
    EXPECT_LE(low, story.knee);
    if (story.knee >= story.range.to) {
      EXPECT_EQ(search.end(), SearchEnd::kept_throughout);
      EXPECT_EQ(low, story.range.to);
    } else {
      EXPECT_EQ(search.end(), low == 0 ? SearchEnd::broken_throughout : SearchEnd::found);
      ASSERT_TRUE(search.beyond());
      EXPECT_GT(*search.beyond(), story.knee);
      EXPECT_LE(*search.beyond() - low, step_at(story.range, low));
    }
    EXPECT_EQ(search.times_kept(), low > 0 ? 1 + Search::kConfirmations : 0);
  }
}

TEST(SearchProperty, ATargetThatAnswersByChanceEndsTheSearchAndNeverContradictsItself) {
  for (std::uint64_t seed = 0; seed < kSearches; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const Story story = random_story(random);
    Search search(story.range);
    std::uint64_t beyond = story.range.to + 1;
    for (int trial = 0; const auto load = search.next(0); ++trial) {
      ASSERT_LT(trial, 100'000);
      ASSERT_LE(*load, story.range.to);
      ASSERT_LT(*load, beyond) << "a load that counts as broken is not tried again";
      const auto outcome = static_cast<TrialOutcome>(random() % 4);
      search.took(outcome);
      if (search.beyond()) beyond = *search.beyond();
      ASSERT_LT(search.kept(), beyond);
    }
    ASSERT_TRUE(search.end());
  }
}

TEST(SearchProperty, TheTrialsNeverTakeLongerThanAllowed) {
  for (std::uint64_t seed = 0; seed < kSearches; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    Story story = random_story(random);
    story.range.trial_ns = 1'000;
    story.range.at_most_ns = 1'000 + static_cast<std::int64_t>(random() % 30'000);
    Search search(story.range);
    std::int64_t elapsed_ns = 0;
    int trials = 0;
    while (const auto load = search.next(elapsed_ns)) {
      ++trials;
      elapsed_ns += 1 + static_cast<std::int64_t>(random() % 1'000);
      search.took(*load <= story.knee ? TrialOutcome::kept : TrialOutcome::broken);
    }
    EXPECT_GE(trials, 1);
    EXPECT_LE(elapsed_ns, story.range.at_most_ns);
  }
}

}  // namespace
}  // namespace onrush
