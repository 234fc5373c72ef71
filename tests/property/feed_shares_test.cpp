// Shares of feeds, for any number of agents: disjoint, complete, and each user's row where the user runs.
#include "core/feed_shares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/control.h"
#include "core/feed_reader.h"
#include "core/feed_users.h"
#include "core/plan_yaml.h"
#include "core/timeline.h"

namespace onrush {
namespace {

struct Case {
  std::string take;
  std::uint32_t rows;
  std::uint32_t idle, one, two;  ///< users; the first names no row
  bool arrivals;
};

std::string csv(std::uint32_t rows) {
  std::string text = "id\n";
  for (std::uint32_t i = 0; i < rows; ++i) text += std::to_string(i) + "\n";
  return text;
}

PlanText plan_of(const Case& c) {
  std::string yaml =
      "name: t\ntarget: ws://127.0.0.1:1/\ndata: {f: {csv: f.csv, take: " + c.take +
      "}}\nscenarios:\n  idle: {script: [connect, listen]}\n  one: {script: [connect, {send: {text: "
      "\"${data.f.id}\"}}, listen]}\n  two: {script: [connect, {send: {text: \"${data.f.id}\"}}, {think: "
      "1s}]}\n"
      "stages:\n  - {name: s, users: {idle: " +
      std::to_string(c.idle) + ", one: " + std::to_string(c.one) + ", two: " + std::to_string(c.two) + "}, " +
      (c.arrivals ? "arrivals: {two: 5/s}, " : "") + "for: 1s}\n";
  return {"t.yaml", yaml, {}, "", {{"f.csv", std::make_shared<const std::string>(csv(c.rows))}}};
}

std::vector<std::uint64_t> ids(const PlanFiles& files) {
  std::vector<std::uint64_t> found;
  auto reader = FeedReader::open(FeedForm::csv, *files.at(share_name("f")));
  while (*reader->next()) found.push_back(std::stoull(std::string{reader->values()[0]}));
  return found;
}

constexpr std::uint32_t kAgents[] = {1, 2, 3, 7, 20};

TEST(FeedShares, OfAFeedThatIsTakenOnceAreDisjointAndHoldTheRowsOfTheirUsers) {
  for (const Case& c : {Case{"once", 100, 0, 100, 0, false}, Case{"once", 100, 13, 40, 27, true},
                        Case{"once", 10, 5, 40, 27, true}, Case{"once", 1, 0, 3, 0, false},
                        Case{"once", 500, 3, 1, 0, false}, Case{"once", 70, 1, 0, 0, true}}) {
    const PlanText text = plan_of(c);
    const auto plan = read_plan(source_of(text));
    ASSERT_TRUE(plan.has_value()) << render("t.yaml", plan.error());
    const FeedUsers takers(*plan, 0);
    const auto bases = user_bases(*plan);
    for (const std::uint32_t agents : kAgents) {
      SCOPED_TRACE(testing::Message() << c.rows << " rows, " << agents << " agents");
      const auto dealt = deal_files(*plan, text.files, agents);
      ASSERT_EQ(dealt.size(), agents);
      std::set<std::uint64_t> all;
      std::uint64_t users = 0;
      for (std::uint32_t a = 0; a < agents; ++a) {
        EXPECT_FALSE(dealt[a].contains("f.csv")) << "the whole feed is no agent's business";
        const auto share = ids(dealt[a]);
        for (const std::uint64_t id : share) EXPECT_TRUE(all.insert(id).second) << id;
        users += takers.users({a, agents});
        // User k of the order has row k, wherever it runs.
        std::uint64_t k = 0;
        for (std::uint32_t s = 1; s <= 2; ++s)
          for (std::uint64_t j = 0; j < (s == 1 ? c.one : c.two); ++j, ++k) {
            if ((bases[s] + j) % agents != a) continue;
            const std::uint64_t place = takers.place_in({a, agents}, s, j);
            if (k < c.rows) {
              ASSERT_LT(place, share.size());
              EXPECT_EQ(share[place], k);
            } else {
              EXPECT_GE(place, share.size());
            }
          }
      }
      EXPECT_EQ(users, takers.users());
      const std::uint64_t wanted = c.arrivals ? c.rows : std::min<std::uint64_t>(c.rows, takers.users());
      EXPECT_EQ(all.size(), wanted);
    }
  }
}

TEST(FeedShares, OfOtherFeedsAreDisjointOnceThereAreEnoughRowsAndNeverEmpty) {
  for (const char* take : {"cycle", "random"})
    for (const std::uint32_t rows : {1U, 2U, 6U, 7U, 19U, 100U}) {
      const PlanText text = plan_of({take, rows, 3, 10, 5, true});
      const auto plan = read_plan(source_of(text));
      ASSERT_TRUE(plan.has_value());
      for (const std::uint32_t agents : kAgents) {
        std::map<std::uint64_t, int> times;
        for (const PlanFiles& files : deal_files(*plan, text.files, agents)) {
          const auto share = ids(files);
          EXPECT_FALSE(share.empty());
          for (const std::uint64_t id : share) ++times[id];
        }
        EXPECT_EQ(times.size(), rows);
        for (const auto& [id, count] : times)
          EXPECT_EQ(count, rows < agents ? static_cast<int>(agents) : 1) << id;
      }
    }
}

// The share is read as a plan's feed is, with columns and no rows if need be.
TEST(FeedShares, AnAgentReadsThePlanWithItsShareAlone) {
  const PlanText text = plan_of({"once", 2, 0, 2, 0, false});
  const auto plan = read_plan(source_of(text));
  ASSERT_TRUE(plan.has_value());
  const auto dealt = deal_files(*plan, text.files, 3);
  for (std::uint32_t a = 0; a < 3; ++a) {
    PlanText theirs = text;
    theirs.files = dealt[a];
    PlanSource source = source_of(theirs);
    source.around.feeds_are_shares = true;
    const auto read = read_plan(source);
    ASSERT_TRUE(read.has_value()) << render("t.yaml", read.error());
    EXPECT_EQ(read->data[0].rows, a < 2 ? 1U : 0U);
    EXPECT_EQ(read->data[0].columns, std::vector<std::string>{"id"});
  }
}

// P059: an agent whose share is missing refuses the plan and says why.
TEST(FeedShares, P059_AnAgentWithoutItsShareRefusesThePlan) {
  PlanText text = plan_of({"once", 2, 0, 2, 0, false});
  text.files.clear();
  PlanSource source = source_of(text);
  source.around.feeds_are_shares = true;
  const auto read = read_plan(source);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().front().message, "'csv' in feed 'f': the file did not come with the plan");
}

}  // namespace
}  // namespace onrush
