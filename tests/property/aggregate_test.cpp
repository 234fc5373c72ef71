#include "core/aggregate.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "tests/measured_run.h"

namespace onrush {
namespace {

using ::testing::IsEmpty;

const std::string kPlan = R"(
name: any
target: ws://127.0.0.1:8088/broadcast
scenarios:
  subscriber:
    script: [connect, {listen: {sequence: /seq}}]
  talker:
    script: [connect, {repeat: {every: 1s, do: [{request: {text: hello, reply: any}}]}}]
stages:
  - {name: setup, users: {subscriber: 100, talker: 10}, rate: 10/s}
  - {name: hold, for: 10s}
)";

constexpr std::uint32_t kAgents = 4;
constexpr std::uint32_t kSeconds = 6;

/// An agent that keeps honest books: what it opens it closes, what it asks it gets answered or counts as
/// failed.
class AnyAgent {
 public:
  AnyAgent(std::uint32_t index, std::mt19937_64& random) : index_{index}, random_{random} {}

  std::vector<Snapshot> all() {
    std::vector<Snapshot> sent;
    for (std::uint32_t second = 0; second < kSeconds; ++second)
      sent.push_back(one(second).numbered(second + 1));
    Second last{kSeconds};
    for (std::uint32_t s = 0; s < 2; ++s) last.closed(1, s, open_[s], any_us());
    sent.push_back(last.last().numbered(kSeconds + 1));
    return sent;
  }

 private:
  Second one(std::uint32_t second) {
    Second made{second};
    const std::uint32_t stage = second < 3 ? 0 : 1;
    for (std::uint32_t s = 0; s < 2; ++s) {
      const std::uint64_t opened = random_() % 5;
      const std::uint64_t closed = random_() % (open_[s] + 1);
      made.opened(stage, s, opened, any_us()).closed(stage, s, closed, any_us());
      made.failed(stage, s, {Phase::connect, Cause::system, 100 + static_cast<std::uint32_t>(random_() % 3)},
                  1 + random_() % 2);
      open_[s] += opened - closed;
    }
    const std::uint64_t replies = random_() % 9;
    const std::uint64_t unanswered = random_() % 2;
    made.count(stage, 1, Counter::requests, replies + unanswered)
        .count(stage, 1, Counter::failed_requests, unanswered);
    if (replies > 0) made.sample(stage, 1, Time::round_trip, any_us(), replies);
    if (random_() % 4 != 0)
      made.broadcast(stage, 0, second + 1, 10, random_() % 11, 1'000 + index_,
                     static_cast<std::int64_t>(random_() % 900));
    made.listening(10).open(open_[0] + open_[1]);
    return made;
  }
  std::int64_t any_us() { return static_cast<std::int64_t>(random_() >> (random_() % 30 + 34)); }

  std::uint32_t index_;
  std::mt19937_64& random_;
  std::uint64_t open_[2] = {};
};

void expect_same(const Aggregate& a, const Aggregate& b) {
  EXPECT_EQ(a.counters(), b.counters());
  const Measured total_a = a.total();
  const Measured total_b = b.total();
  for (std::size_t i = 0; i < kTimes; ++i) {
    const auto time = static_cast<Time>(i);
    ASSERT_EQ(total_a.samples(time), total_b.samples(time));
    if (total_a.samples(time) == 0) continue;
    EXPECT_EQ(total_a.find(time)->encode(), total_b.find(time)->encode());
    EXPECT_EQ(total_a.find(time)->sum_us(), total_b.find(time)->sum_us());
    EXPECT_EQ(total_a.find(time)->max_us(), total_b.find(time)->max_us());
  }
  EXPECT_EQ(a.delivery().expected, b.delivery().expected);
  EXPECT_EQ(a.delivery().received, b.delivery().received);
  EXPECT_EQ(a.delivery().spread_max_us, b.delivery().spread_max_us);
  ASSERT_EQ(a.series().rows().size(), b.series().rows().size());
  for (const auto& [second, row] : a.series().rows()) {
    const SeriesRow& other = b.series().rows().at(second);
    EXPECT_EQ(row.counters, other.counters);
    EXPECT_EQ(row.gauges.open, other.gauges.open);
    ASSERT_EQ(row.times.size(), other.times.size());
    for (std::size_t i = 0; i < row.times.size(); ++i) {
      EXPECT_EQ(row.times[i].p99_us, other.times[i].p99_us);
      EXPECT_EQ(row.times[i].count, other.times[i].count);
    }
  }
}

class AggregateProperty : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  AggregateProperty() {
    for (std::uint32_t i = 0; i < kAgents; ++i) sent_.push_back(AnyAgent{i, random_}.all());
  }
  TestRun fresh() { return TestRun{kPlan, {"a1", "a2", "a3", "a4"}}; }
  /// Applies all, each agent's in order, the agents mixed by chance and some snapshots sent again.
  void apply_mixed(Aggregate& aggregate) {
    std::vector<std::size_t> next(kAgents);
    for (std::size_t left = kAgents * (kSeconds + 1); left > 0;) {
      const auto agent = static_cast<std::uint32_t>(random_() % kAgents);
      if (next[agent] > 0 && random_() % 3 == 0) {
        const auto again = aggregate.apply(agent, sent_[agent][random_() % next[agent]]);
        ASSERT_TRUE(again) << again.error();
        EXPECT_FALSE(*again);
      }
      if (next[agent] == sent_[agent].size()) continue;
      const auto applied = aggregate.apply(agent, sent_[agent][next[agent]++]);
      ASSERT_TRUE(applied) << applied.error();
      EXPECT_TRUE(*applied);
      --left;
      EXPECT_THAT(aggregate.broken_identities(), IsEmpty());
    }
  }

  std::mt19937_64 random_{GetParam()};
  std::vector<std::vector<Snapshot>> sent_;
};
INSTANTIATE_TEST_SUITE_P(Seeds, AggregateProperty, ::testing::Range<std::uint64_t>(1, 31));

// P062
TEST_P(AggregateProperty, NeitherOrderNorRepetitionOfAgentsSnapshotsChangesAnything) {
  TestRun one = fresh();
  TestRun other = fresh();
  apply_mixed(one.aggregate);
  apply_mixed(other.aggregate);
  expect_same(one.aggregate, other.aggregate);
}

TEST_P(AggregateProperty, BooksBalanceWhicheverAgentIsLostWhenever) {
  TestRun run = fresh();
  const auto lost = static_cast<std::uint32_t>(random_() % kAgents);
  const std::size_t after = random_() % (kSeconds + 1);
  for (std::size_t i = 0; i <= kSeconds; ++i)
    for (std::uint32_t agent = 0; agent < kAgents; ++agent) {
      if (agent == lost && i == after)
        run.aggregate.agent_lost(lost, static_cast<std::int64_t>(i) * 1'000'000 + 1);
      ASSERT_TRUE(run.aggregate.apply(agent, sent_[agent][i]));
      EXPECT_THAT(run.aggregate.broken_identities(), IsEmpty());
    }
  const Counters counters = run.aggregate.counters();
  EXPECT_EQ(at(counters, Counter::opened), at(counters, Counter::closed));
  EXPECT_EQ(at(counters, Counter::attempted), at(counters, Counter::opened) + at(counters, Counter::failed));
}

}  // namespace
}  // namespace onrush
