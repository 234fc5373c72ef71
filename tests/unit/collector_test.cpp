#include "agent/collector.h"

#include <gtest/gtest.h>

namespace onrush {
namespace {

std::uint64_t sum(const Snapshot& snapshot, Counter counter) {
  std::uint64_t sum = 0;
  for (const Cell& cell : snapshot.cells) sum += at(cell.counters, counter);
  return sum;
}

WorkerState state(std::uint64_t open) {
  WorkerState state;
  state.gauges.open = open;
  return state;
}

TEST(Recorder, KeepsEachStageApartWithinASecond) {
  Recorder recorder{2};
  recorder.enter_stage(0);
  recorder.count(0, Counter::opened, 3);
  recorder.enter_stage(1);
  recorder.count(0, Counter::opened, 4);
  recorder.count(1, Counter::opened, 5);
  ASSERT_TRUE(recorder.hand_over(0, {}));
  const Portion* portion = recorder.oldest();
  ASSERT_NE(portion, nullptr);
  ASSERT_EQ(portion->cells.size(), 3U);
  EXPECT_EQ(at(portion->cells[0]->counters, Counter::opened), 3U);
  EXPECT_EQ(portion->cells[2]->stage, 1U);
  EXPECT_EQ(portion->cells[2]->scenario, 1U);
}

TEST(Recorder, LosesNothingWhileTheCollectorIsAway) {
  Recorder recorder{1};
  int handed_over = 0;
  for (std::uint32_t second = 0; second < 10; ++second) {
    recorder.count(0, Counter::messages_sent, 1);
    recorder.time(0, Time::round_trip, 5'000);
    handed_over += recorder.hand_over(second, {});
  }
  EXPECT_EQ(handed_over, 2);  // the third portion is the one being written
  std::uint64_t messages = 0, samples = 0;
  const auto take_all = [&] {
    while (const Portion* portion = recorder.oldest()) {
      for (const RecordedCell* cell : portion->cells) {
        messages += at(cell->counters, Counter::messages_sent);
        samples += cell->times[static_cast<std::size_t>(Time::round_trip)].count();
      }
      recorder.give_back();
    }
  };
  take_all();
  EXPECT_EQ(messages, 2U);
  ASSERT_TRUE(recorder.hand_over(10, {}));
  take_all();
  EXPECT_EQ(messages, 10U);
  EXPECT_EQ(samples, 10U);
}

// P064: a target that fails in ever new ways costs no memory without bound.
TEST(Recorder, CountsFailuresBeyondItsTableAsOther) {
  Recorder recorder{1};
  for (std::uint32_t code = 0; code < 5000; ++code)
    recorder.failure(0, {Phase::open, Cause::peer_close, code}, code, std::string(1000, 'x'));
  ASSERT_TRUE(recorder.hand_over(0, {}));
  const Portion& portion = *recorder.oldest();
  EXPECT_LE(portion.failures.size(), Recorder::kFailureKinds + 1);
  std::uint64_t count = 0;
  for (const FailureCount& failure : portion.failures) {
    count += failure.count;
    EXPECT_LE(failure.sample.size(), kSampleBytes);
  }
  EXPECT_EQ(count, 5000U);
  EXPECT_EQ(portion.failures.back().failure.cause, Cause::other);
  EXPECT_EQ(portion.failures.back().last_us, 4999);
}

TEST(Recorder, AddsBroadcastsBeyondItsTableToTheLast) {
  Recorder recorder{1};
  for (std::uint64_t sequence = 1; sequence <= 10'000; ++sequence) recorder.broadcast(0, sequence, 0, 2, 77);
  ASSERT_TRUE(recorder.hand_over(0, {}));
  std::uint64_t expected = 0, received = 0;
  for (const BroadcastCount& broadcast : recorder.oldest()->broadcasts) {
    expected += broadcast.expected;
    received += broadcast.received;
  }
  EXPECT_LE(recorder.oldest()->broadcasts.size(), Recorder::kBroadcasts + 1);
  EXPECT_EQ(expected, 20'000U);
  EXPECT_EQ(received, 10'000U);
}

TEST(Collector, MakesASecondOnlyWhenEveryWorkerHasHandedItOver) {
  Recorder a{1}, b{1};
  Collector collector{{&a, &b}, nullptr};
  a.count(0, Counter::opened, 2);
  a.time(0, Time::handshake, 1'000'000);
  ASSERT_TRUE(a.hand_over(0, state(2)));
  EXPECT_TRUE(collector.collect().empty());
  b.count(0, Counter::opened, 3);
  b.time(0, Time::handshake, 3'000'000);
  ASSERT_TRUE(b.hand_over(0, state(3)));
  const std::vector<Snapshot> snapshots = collector.collect();
  ASSERT_EQ(snapshots.size(), 1U);
  EXPECT_EQ(snapshots[0].number, 1U);
  EXPECT_EQ(snapshots[0].second, 0U);
  EXPECT_EQ(snapshots[0].gauges.open, 5U);
  ASSERT_EQ(snapshots[0].cells.size(), 1U);
  EXPECT_EQ(sum(snapshots[0], Counter::opened), 5U);
  ASSERT_EQ(snapshots[0].cells[0].times.size(), 1U);
  Histogram merged;
  const TimeSamples& samples = snapshots[0].cells[0].times[0];
  ASSERT_TRUE(merged.add_encoded(samples.v2, samples.exact));
  EXPECT_EQ(merged.count(), 2U);
  EXPECT_EQ(merged.min_us(), 1000);
  EXPECT_EQ(merged.max_us(), 3000);
}

TEST(Collector, CountsOnlyWhatIsNewInEachSnapshot) {
  Recorder recorder{1};
  Collector collector{{&recorder}, nullptr};
  for (std::uint32_t second = 0; second < 5; ++second) {
    recorder.count(0, Counter::messages_sent, second + 1);
    ASSERT_TRUE(recorder.hand_over(second, {}));
    const std::vector<Snapshot> snapshots = collector.collect();
    ASSERT_EQ(snapshots.size(), 1U);
    EXPECT_EQ(sum(snapshots[0], Counter::messages_sent), second + 1);
  }
}

// P062: repeated ones carry the same number, and the last one waits for its receipt.
TEST(Collector, GivesAgainWhatWasNotAcknowledged) {
  Recorder recorder{1};
  Collector collector{{&recorder}, nullptr};
  for (std::uint32_t second = 0; second < 3; ++second) {
    ASSERT_TRUE(recorder.hand_over(second, {}));
    if (second == 2) recorder.finish();
    ASSERT_EQ(collector.collect().size(), 1U);
  }
  EXPECT_TRUE(collector.collect().empty());
  collector.acknowledge(1);
  collector.resend();
  const std::vector<Snapshot> again = collector.collect();
  ASSERT_EQ(again.size(), 2U);
  EXPECT_EQ(again[0].number, 2U);
  EXPECT_EQ(again[1].number, 3U);
  EXPECT_TRUE(again[1].last);
  EXPECT_FALSE(collector.finished());
  collector.acknowledge(3);
  EXPECT_TRUE(collector.finished());
}

TEST(Collector, KeepsABoundedNumberAndLosesNothingBeyondIt) {
  Recorder recorder{1};
  Collector collector{{&recorder}, nullptr};
  const std::uint32_t seconds = 3 * Collector::kKept;
  std::vector<Snapshot> got;
  for (std::uint32_t second = 0; second < seconds; ++second) {
    recorder.count(0, Counter::messages_sent);
    recorder.hand_over(second, {});
    for (Snapshot& snapshot : collector.collect()) got.push_back(std::move(snapshot));
  }
  EXPECT_EQ(got.size(), Collector::kKept);
  const auto hear = [&] {
    collector.acknowledge(got.back().number);
    for (Snapshot& snapshot : collector.collect()) got.push_back(std::move(snapshot));
  };
  while (!recorder.hand_over(seconds, {})) hear();
  recorder.finish();
  while (!got.back().last) hear();
  std::uint64_t messages = 0;
  for (const Snapshot& snapshot : got) messages += sum(snapshot, Counter::messages_sent);
  EXPECT_EQ(messages, seconds);
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i].number, i + 1);
}

}  // namespace
}  // namespace onrush
