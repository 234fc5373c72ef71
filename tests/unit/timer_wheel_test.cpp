#include "core/timer_wheel.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "core/random.h"

namespace onrush {
namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;

class TimerWheelTest : public ::testing::Test {
 protected:
  Session& add() {
    Session& session = slab_.at(slab_.acquire());
    session.state = State::thinking;
    return session;
  }
  std::vector<SlotIndex> advance(std::int64_t now_ns, std::uint32_t budget = 1'000'000) {
    std::vector<SlotIndex> fired;
    wheel_.advance(now_ns, budget, [&](Session& session) { fired.push_back(slab_.slot_of(session)); });
    return fired;
  }

  Slab slab_{20'000};
  TimerWheel wheel_{slab_, 5 * kSecond_ns};
};

TEST_F(TimerWheelTest, FiresADeadlineThatHasPassedAlready) {
  Session& session = add();
  wheel_.arm(session, 1);
  EXPECT_EQ(advance(5 * kSecond_ns).size(), 1U);
  EXPECT_FALSE(session.has(kTimerArmed));
}

TEST_F(TimerWheelTest, MovesAndClearsADeadline) {
  Session& session = add();
  wheel_.arm(session, 6 * kSecond_ns);
  wheel_.arm(session, 8 * kSecond_ns);
  EXPECT_TRUE(advance(7 * kSecond_ns).empty());
  wheel_.disarm(session);
  EXPECT_TRUE(advance(9 * kSecond_ns).empty());
  EXPECT_EQ(wheel_.armed(), 0U);
  EXPECT_EQ(wheel_.next_due_ns(), TimerWheel::kNever);
}

TEST_F(TimerWheelTest, KeepsItsBudgetAndGoesOnWhereItStopped) {
  for (int i = 0; i < 10; ++i) wheel_.arm(add(), 6 * kSecond_ns);
  std::vector<SlotIndex> fired = advance(7 * kSecond_ns, 4);
  EXPECT_EQ(fired, (std::vector<SlotIndex>{1, 2, 3, 4}));
  EXPECT_LE(wheel_.next_due_ns(), 7 * kSecond_ns);
  EXPECT_EQ(advance(7 * kSecond_ns).size(), 6U);
}

TEST_F(TimerWheelTest, MayBeArmedAgainWhileItFires) {
  Session& session = add();
  wheel_.arm(session, 6 * kSecond_ns);
  int fired = 0;
  wheel_.advance(10 * kSecond_ns, 100, [&](Session& s) {
    if (++fired < 5) wheel_.arm(s, s.wake_ns + kSecond_ns / 2);
  });
  EXPECT_EQ(fired, 5);
}

TEST_F(TimerWheelTest, HoldsDeadlinesOfAMonth) {
  constexpr std::int64_t kMonth_ns = std::int64_t{30} * 24 * 3600 * kSecond_ns;
  wheel_.arm(add(), kMonth_ns);
  EXPECT_TRUE(advance(kMonth_ns - kSecond_ns).empty());
  EXPECT_EQ(advance(kMonth_ns + TimerWheel::kTick_ns).size(), 1U);
}

// A property over many seeds, against a sorted map: nobody early, nobody later than a tick, nobody forgotten.
TEST_F(TimerWheelTest, NeverFiresEarlyAndNeverLaterThanATick) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random{seed};
    Slab slab{2000};
    std::int64_t now_ns = random.between(0, std::int64_t{1} << 50);
    TimerWheel wheel{slab, now_ns};
    std::multimap<std::int64_t, SlotIndex> model;
    std::vector<SlotIndex> idle;
    for (int i = 0; i < 2000; ++i) {
      const SlotIndex slot = slab.acquire();
      slab.at(slot).state = State::thinking;
      idle.push_back(slot);
    }
    const auto random_span = [&] { return random.between(0, std::int64_t{1} << random.between(10, 51)); };
    for (int round = 0; round < 600; ++round) {
      for (int i = 0; i < 10 && !idle.empty(); ++i) {
        const std::int64_t deadline = now_ns + random_span();
        wheel.arm(slab.at(idle.back()), deadline);
        model.emplace(deadline, idle.back());
        idle.pop_back();
      }
      if (!model.empty() && random.unit() < 0.3) {
        const auto victim =
            std::next(model.begin(), random.between(0, static_cast<std::int64_t>(model.size()) - 1));
        wheel.disarm(slab.at(victim->second));
        idle.push_back(victim->second);
        model.erase(victim);
      }
      if (!model.empty()) {
        EXPECT_LE(wheel.next_due_ns(), model.begin()->first + TimerWheel::kTick_ns) << "seed " << seed;
      }
      now_ns = random.unit() < 0.5 ? std::max(now_ns, std::min(wheel.next_due_ns(), now_ns + random_span()))
                                   : now_ns + random_span();
      wheel.advance(now_ns, 1'000'000, [&](Session& session) {
        const SlotIndex slot = slab.slot_of(session);
        ASSERT_LE(session.wake_ns, now_ns) << "seed " << seed;
        auto [first, last] = model.equal_range(session.wake_ns);
        while (first != last && first->second != slot) ++first;
        ASSERT_NE(first, last);
        model.erase(first);
        idle.push_back(slot);
      });
      if (!model.empty()) {
        ASSERT_GT(model.begin()->first + TimerWheel::kTick_ns, now_ns) << "seed " << seed;
      }
      ASSERT_EQ(wheel.armed(), model.size());
    }
  }
}

}  // namespace
}  // namespace onrush
