#include "core/slab.h"

#include <gtest/gtest.h>

#include <set>

namespace onrush {
namespace {

SlotIndex occupy(Slab& slab) {
  const SlotIndex slot = slab.acquire();
  if (slot != 0) slab.at(slot).state = State::waiting;
  return slot;
}

TEST(Slab, GivesEachPlaceOnceAndThenNone) {
  Slab slab{5};
  std::set<SlotIndex> slots;
  for (int i = 0; i < 5; ++i) slots.insert(occupy(slab));
  EXPECT_EQ(slots, (std::set<SlotIndex>{1, 2, 3, 4, 5}));
  EXPECT_EQ(slab.acquire(), 0U);
  slab.release(3);
  EXPECT_EQ(slab.used(), 4U);
  EXPECT_EQ(occupy(slab), 3U);
}

TEST(Slab, FindsNoSessionThatHasEnded) {
  Slab slab{2};
  const SlotIndex slot = occupy(slab);
  const std::uint32_t generation = slab.at(slot).generation;
  EXPECT_EQ(slab.find(slot, generation), &slab.at(slot));
  EXPECT_EQ(slab.find(slot, generation + 1), nullptr);
  slab.release(slot);
  EXPECT_EQ(slab.find(slot, generation), nullptr);
  ASSERT_EQ(occupy(slab), slot);
  EXPECT_EQ(slab.find(slot, generation), nullptr);
  EXPECT_NE(slab.find(slot, slab.at(slot).generation), nullptr);
  EXPECT_EQ(slab.find(0, 0), nullptr);
  EXPECT_EQ(slab.find(77, 1), nullptr);
}

TEST(Slab, ClearsAPlaceThatIsUsedAgain) {
  Slab slab{1};
  Session& session = slab.at(occupy(slab));
  session.sequence = 7;
  session.unsent = 3;
  session.fd = 12;
  slab.release(1);
  Session& again = slab.at(occupy(slab));
  EXPECT_EQ(again.sequence, 0U);
  EXPECT_EQ(again.unsent, 0U);
  EXPECT_EQ(again.fd, -1);
}

TEST(Slab, LaysEachSessionInTwoCacheLines) {
  Slab slab{3};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&slab.at(occupy(slab))) % 64, 0U);
}

}  // namespace
}  // namespace onrush
