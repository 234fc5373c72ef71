// The loads that a search tries, story by story. Properties: tests/property/search_property_test.cpp.
#include "core/search.h"

#include <gmock/gmock.h>

#include <functional>
#include <vector>

namespace onrush {
namespace {

using testing::ElementsAre;
using Outcome = TrialOutcome;

/// The loads tried until the end, with a target that answers by `outcome(load, trial)`.
std::vector<std::uint64_t> loads(Search& search, const std::function<Outcome(std::uint64_t, int)>& outcome) {
  std::vector<std::uint64_t> tried;
  while (const auto load = search.next(0)) {
    tried.push_back(*load);
    search.took(outcome(*load, static_cast<int>(tried.size())));
  }
  return tried;
}

auto knee(std::uint64_t at) {
  return [at](std::uint64_t load, int) { return load <= at ? Outcome::kept : Outcome::broken; };
}

TEST(Search, DoublesUntilBrokenThenBisectsThenConfirmsTwice) {
  Search search({.from = 100, .to = 10'000, .step = 50});
  EXPECT_THAT(loads(search, knee(690)), ElementsAre(100, 200, 400, 800, 800, 600, 700, 700, 650, 650, 650));
  EXPECT_EQ(search.end(), SearchEnd::found);
  EXPECT_EQ(search.kept(), 650u);
  EXPECT_EQ(search.beyond(), 700u);
  EXPECT_EQ(search.times_kept(), 3u);
}

TEST(Search, GrowsByItsFactorAndNeverBeyondTheEnd) {
  Search search({.from = 10, .to = 100, .factor = 3});
  EXPECT_THAT(loads(search, knee(1000)), ElementsAre(10, 30, 90, 100, 100, 100));
  EXPECT_EQ(search.end(), SearchEnd::kept_throughout);
  EXPECT_EQ(search.kept(), 100u);
  EXPECT_FALSE(search.beyond());
}

TEST(Search, AFactorNearOneStillGrows) {
  Search search({.from = 1, .to = 3, .factor = 1.01});
  EXPECT_THAT(loads(search, knee(9)), ElementsAre(1, 2, 3, 3, 3));
}

TEST(Search, GoesBelowTheFirstLoadIfThatIsBroken) {
  Search search({.from = 64, .to = 1000, .step = 4});
  EXPECT_THAT(loads(search, knee(5)), ElementsAre(64, 64, 32, 32, 16, 16, 8, 8, 4, 4, 4));
  EXPECT_EQ(search.end(), SearchEnd::found);
}

TEST(Search, SaysSoIfNothingIsKept) {
  Search search({.from = 8, .to = 1000});
  EXPECT_THAT(loads(search, knee(0)), ElementsAre(8, 8, 4, 4, 2, 2, 1, 1));
  EXPECT_EQ(search.end(), SearchEnd::broken_throughout);
  EXPECT_EQ(search.kept(), 0u);
}

TEST(Search, AStepMayBeAShareOfTheLoad) {
  Search search({.from = 1000, .to = 100'000, .step_share = 0.1});
  EXPECT_THAT(loads(search, knee(1'450)), ElementsAre(1000, 2000, 2000, 1500, 1500, 1250, 1375, 1375, 1375));
}

TEST(Search, ALoadThatBreaksOnceIsTriedAgainAndNotGivenUp) {
  Search search({.from = 100, .to = 10'000, .step = 50});
  // Trials 3, 7 and 11 meet a hiccup: while the load grows, while it is bisected and while it is confirmed.
  const auto hiccups = [](std::uint64_t load, int trial) {
    return load <= 690 && trial != 3 && trial != 7 && trial != 11 ? Outcome::kept : Outcome::broken;
  };
  EXPECT_THAT(loads(search, hiccups),
              ElementsAre(100, 200, 400, 400, 800, 800, 600, 600, 700, 700, 650, 650, 650, 650));
  EXPECT_EQ(search.end(), SearchEnd::found);
  EXPECT_EQ(search.kept(), 650u);
  EXPECT_EQ(search.times_kept(), 3u);
}

TEST(Search, ASecondBreakOfALoadCountsHoweverOftenItWasKeptBetween) {
  Search search({.from = 100, .to = 400, .step = 100});
  // 200 is broken, kept, kept, broken: searched below.
  const auto shaky = [](std::uint64_t load, int trial) {
    return load == 100 || (load == 200 && (trial == 3 || trial == 8)) ? Outcome::kept : Outcome::broken;
  };
  EXPECT_THAT(loads(search, shaky), ElementsAre(100, 200, 200, 400, 400, 300, 300, 200, 200, 100, 100));
  EXPECT_EQ(search.end(), SearchEnd::found);
  EXPECT_EQ(search.kept(), 100u);
  EXPECT_EQ(search.beyond(), 200u);
}

TEST(Search, ASpoiltTrialBetweenTwoBreaksForgivesNothing) {
  Search search({.from = 100, .to = 100});
  EXPECT_EQ(search.next(0), 100u);
  search.took(Outcome::broken);
  EXPECT_EQ(search.beyond(), std::nullopt);
  EXPECT_EQ(search.next(0), 100u);
  search.took(Outcome::spoilt);
  EXPECT_EQ(search.next(0), 100u);
  search.took(Outcome::broken);
  EXPECT_EQ(search.beyond(), 100u);
  EXPECT_EQ(search.next(0), 50u);
}

TEST(Search, ALoadThatBreaksWhenConfirmedWasLuckAndIsSearchedBelow) {
  Search search({.from = 100, .to = 10'000, .step = 50});
  const auto luck_ends = [](std::uint64_t load, int trial) {
    return load < 590 || (load < 620 && trial <= 6) ? Outcome::kept : Outcome::broken;
  };
  EXPECT_THAT(loads(search, luck_ends),
              ElementsAre(100, 200, 400, 800, 800, 600, 700, 700, 650, 650, 600, 600, 500, 550, 550, 550));
  EXPECT_EQ(search.kept(), 550u);
  EXPECT_EQ(search.beyond(), 600u);
}

TEST(Search, ASpoiltTrialIsRunAgainAndDecidesNothing) {
  Search search({.from = 100, .to = 400, .step = 100});
  const auto noisy = [](std::uint64_t load, int trial) {
    if (trial % 2 == 1) return Outcome::spoilt;
    return load <= 250 ? Outcome::kept : Outcome::broken;
  };
  EXPECT_THAT(loads(search, noisy),
              ElementsAre(100, 100, 200, 200, 400, 400, 400, 400, 300, 300, 300, 300, 200, 200, 200, 200));
  EXPECT_EQ(search.end(), SearchEnd::found);
}

TEST(Search, ALoadThatIsAlwaysSpoiltIsALimitOfOurOwn) {
  Search search({.from = 100, .to = 400, .step = 100});
  const auto weak = [](std::uint64_t load, int) { return load <= 200 ? Outcome::kept : Outcome::spoilt; };
  EXPECT_THAT(loads(search, weak), ElementsAre(100, 200, 400, 400, 400, 400, 300, 300, 300, 300, 200, 200));
  EXPECT_EQ(search.end(), SearchEnd::own_limit);
  EXPECT_EQ(search.kept(), 200u);
}

TEST(Search, ALoadThatIsRefusedIsALimitOfOurOwnAtOnce) {
  Search search({.from = 100, .to = 400, .step = 100});
  const auto small = [](std::uint64_t load, int) { return load <= 250 ? Outcome::kept : Outcome::refused; };
  EXPECT_THAT(loads(search, small), ElementsAre(100, 200, 400, 300, 200, 200));
  EXPECT_EQ(search.end(), SearchEnd::own_limit);
}

TEST(Search, TheTargetsLimitBelowOursCounts) {
  Search search({.from = 100, .to = 400, .step = 100});
  const auto both = [](std::uint64_t load, int) {
    return load >= 400 ? Outcome::refused : load >= 300 ? Outcome::broken : Outcome::kept;
  };
  EXPECT_THAT(loads(search, both), ElementsAre(100, 200, 400, 300, 300, 200, 200));
  EXPECT_EQ(search.end(), SearchEnd::found);
}

TEST(Search, NoTrialBeginsThatWouldNotEndInTime) {
  Search search({.from = 1, .to = 100, .trial_ns = 10, .at_most_ns = 35});
  EXPECT_EQ(search.next(0), 1u);
  search.took(Outcome::kept);
  EXPECT_EQ(search.next(14), 2u);
  search.took(Outcome::broken);
  EXPECT_EQ(search.next(25), 2u);
  search.took(Outcome::broken);
  EXPECT_EQ(search.next(26), std::nullopt);
  EXPECT_EQ(search.end(), SearchEnd::out_of_time);
  EXPECT_EQ(search.kept(), 1u);
  EXPECT_EQ(search.beyond(), 2u);
}

TEST(Search, TellsWhatItIsDoing) {
  Search search({.from = 2, .to = 8});
  EXPECT_EQ(search.next(0), 2u);
  EXPECT_EQ(search.phase(), SearchPhase::growing);
  search.took(Outcome::kept);
  EXPECT_EQ(search.next(0), 4u);
  search.took(Outcome::broken);
  EXPECT_EQ(search.next(0), 4u);
  EXPECT_EQ(search.phase(), SearchPhase::growing);
  search.took(Outcome::broken);
  EXPECT_EQ(search.next(0), 3u);
  EXPECT_EQ(search.phase(), SearchPhase::bisecting);
  search.took(Outcome::broken);
  EXPECT_EQ(search.next(0), 3u);
  search.took(Outcome::broken);
  EXPECT_EQ(search.next(0), 2u);
  EXPECT_EQ(search.phase(), SearchPhase::confirming);
  EXPECT_EQ(search.next(0), 2u) << "asked twice, it names the same trial";
}

}  // namespace
}  // namespace onrush
