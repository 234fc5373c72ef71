// How long a user thinks: one draw from the plan's distribution.
//
// Owner: any thread; the caller's Random makes it repeatable.
#pragma once

#include <cstdint>

#include "core/plan.h"
#include "core/random.h"

namespace onrush {

/// Nanoseconds, never negative, and within the bounds of a normal or log-normal time.
[[nodiscard]] std::int64_t draw(const Duration& time, Random& random) noexcept;

/// The mean of many draws; what bounds cut off moves that of a normal or log-normal time a little.
[[nodiscard]] double mean_s(const Duration& time) noexcept;

}  // namespace onrush
