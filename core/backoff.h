// How long somebody who was cut off waits before the next attempt.
//
// Why: users who all come back at once knock a server over that has just risen; so each waits longer after
// every failure, and chance spreads them. Owner: part of a Plan; immutable. Pure: chance is an argument.
#pragma once

#include <cstdint>

#include "core/random.h"

namespace onrush {

/// How chance changes a pause of at most c: `none` c itself, `equal` c/2 to c, `full` 0 to c.
enum class Jitter : std::uint8_t { none, equal, full };

struct Backoff {
  std::int64_t low_ns = 100'000'000;      ///< the longest first pause, > 0
  std::int64_t high_ns = 10'000'000'000;  ///< no pause is longer, >= low_ns
  double factor = 2;                      ///< by which each pause may be longer than the one before, >= 1
  Jitter jitter = Jitter::full;
  std::uint32_t attempts = 20;  ///< in a row; whoever has used them up stays away
  /// A connection that held this long makes the next pause a first one again. Not the opening itself: a
  /// server that accepts and closes at once would be hammered for ever.
  std::int64_t reset_after_ns = 10'000'000'000;
};

/// The longest pause before attempt `n` of a row, n = 1, 2, ...: low * factor^(n - 1), at most high.
[[nodiscard]] std::int64_t longest_pause_ns(const Backoff& backoff, std::uint32_t n) noexcept;

/// The pause before attempt `n`, with its jitter.
[[nodiscard]] std::int64_t pause_ns(const Backoff& backoff, std::uint32_t n, Random& random) noexcept;

}  // namespace onrush
