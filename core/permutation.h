// A seeded order of the numbers 0 .. size - 1, without a table.
//
// Why: every agent must choose the same users, or play the same mix, without being told and without memory
// for a million places. Owner: pure functions.
#pragma once

#include <cstdint>

namespace onrush {

/// Place of number `x` in the order that `key` chooses; one to one on 0 .. size - 1. `x` < `size`, size >= 1.
[[nodiscard]] std::uint64_t permuted(std::uint64_t x, std::uint64_t size, std::uint64_t key) noexcept;

}  // namespace onrush
