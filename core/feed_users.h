// Who takes rows of a feed: the users of the closed model in a fixed order, then whoever arrives.
//
// Why: a row that is taken once must be nobody else's, on any agent, without agents asking each other. So the
// plan alone says which user of the closed model has which row: all users whose scenario names the feed,
// scenario by scenario, each in the order of their numbers; user k of that order takes row k, wherever it
// runs and however often it begins. The rows behind them are dealt to the agents in turn, for those who
// arrive. Owner: any thread; a value.
#pragma once

#include <cstdint>
#include <vector>

#include "core/plan.h"
#include "core/schedule.h"

namespace onrush {

class FeedUsers {
 public:
  FeedUsers(const Plan& plan, std::uint32_t feed);

  /// Users of the closed model that take rows.
  [[nodiscard]] std::uint64_t users() const noexcept { return users_; }
  /// Of them, those of one share.
  [[nodiscard]] std::uint64_t users(Share share) const noexcept;
  /// True if sessions of the open model take rows too.
  [[nodiscard]] bool arrivals() const noexcept { return arrivals_; }

  /// The agent, of `agents`, that runs user `k`.
  [[nodiscard]] std::uint32_t agent_of(std::uint64_t k, std::uint32_t agents) const noexcept;
  /// Place of user `j` of a scenario among the users of its share.
  [[nodiscard]] std::uint64_t place_in(Share share, std::uint32_t scenario, std::uint64_t j) const noexcept;

 private:
  struct Block {
    std::uint32_t scenario;
    std::uint64_t base;   ///< user j belongs to share (base + j) % count
    std::uint64_t users;  ///< at most at once
  };
  static std::uint64_t first_of(const Block& block, Share share) noexcept;
  static std::uint64_t users_of(const Block& block, Share share) noexcept;

  std::vector<Block> blocks_;  ///< of the scenarios that name the feed, in the plan's order
  std::uint64_t users_ = 0;
  bool arrivals_ = false;
};

}  // namespace onrush
