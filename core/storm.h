// What became of users who were cut off together: how long until 50, 90, 99 and 100 % were back.
//
// Why: a percentile of recovery_time is one of those who came back, and says nothing of those who did not.
// Here the whole is everybody who was cut off. Owner: pure functions over the coordinator's aggregate.
//
// A storm begins with a stage that disconnects users and lasts until the next such stage, or the end. Without
// one it is the target that cut users off, if it did: the storm then begins with the first stage that lost
// any.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/aggregate.h"

namespace onrush {

inline constexpr std::array<double, 4> kStormShares{0.5, 0.9, 0.99, 1};

struct Storm {
  std::uint32_t stage = 0;         ///< that it began with
  std::uint64_t asked = 0;         ///< users that the stage was to disconnect
  std::uint64_t disconnected = 0;  ///< of them, those that had a connection
  std::uint64_t lost = 0;          ///< connections that the target ended meanwhile
  std::uint64_t back = 0;          ///< users who came back, each time that they did
  std::uint64_t gave_up = 0;
  /// Time from the cut, by kStormShares of all who were cut off or lost; nothing if so many did not come
  /// back.
  std::array<std::optional<std::int64_t>, kStormShares.size()> back_us;
  double tries_mean = 0;         ///< attempts of a user who came back; 32 and more count as 32
  std::uint32_t tries_most = 0;  ///< at most 32: 32 or more
  Tries tries{};

  [[nodiscard]] std::uint64_t away() const noexcept { return disconnected + lost; }
};

[[nodiscard]] std::vector<Storm> storms(const Aggregate& aggregate);

}  // namespace onrush
