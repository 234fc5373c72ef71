// Which row of each feed a session takes, from the agent's share of the rows.
//
// Why: agents and workers ask nobody. A user of the closed model has its own row by its number, whenever it
// begins; those who arrive take what lies behind, each worker every n-th. Owner: one worker. Always: no two
// sessions of the run have one row of a feed that is taken once, but for those of one user.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "agent/program.h"
#include "core/feed_users.h"

namespace onrush {

class FeedRows {
 public:
  /// `agent` and `worker`: their shares of the run; `slots`: of the slab, the one that means none included.
  FeedRows(const Program& program, Share agent, Share worker, std::uint32_t slots);

  /// Gives the session in `slot` its rows. `j`: number of the user in its scenario, nothing for one who
  /// arrives; `user`: ${user}. If one of the feeds has none left, that feed, and no row is used up.
  [[nodiscard]] std::optional<std::uint32_t> take(std::uint32_t slot, std::uint32_t scenario,
                                                  std::optional<std::uint64_t> j,
                                                  std::uint64_t user) noexcept;

  /// Its rows, one a feed; nullptr if the plan has no feeds.
  [[nodiscard]] const std::uint32_t* rows(std::uint32_t slot) const noexcept {
    return rows_.data() + std::size_t{slot} * feeds_.size();
  }

 private:
  struct Cursor {
    FeedUsers takers;
    std::uint64_t users;  ///< of the closed model on this agent
    std::uint64_t arrived = 0;
  };
  [[nodiscard]] std::optional<std::uint64_t> row_of(std::uint32_t feed, std::uint32_t scenario,
                                                    std::optional<std::uint64_t> j,
                                                    std::uint64_t user) const noexcept;

  const Program& program_;
  Share agent_;
  Share worker_;  ///< of the agent
  std::vector<Cursor> feeds_;
  std::vector<std::uint32_t> rows_;  ///< by slot and feed
};

}  // namespace onrush
