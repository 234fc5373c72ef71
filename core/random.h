// Chance from a seed: xoshiro256** (Blackman and Vigna), seeded by splitmix64.
//
// Why: think times, mask keys and handshake keys must differ between users and repeat with the plan's seed.
// It is no source of secrets. Owner: one worker.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace onrush {

/// One step of splitmix64: a good mixer of a counter.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

class Random {
 public:
  /// The same seed and stream give the same numbers; different streams (one a worker) are unrelated.
  explicit constexpr Random(std::uint64_t seed, std::uint64_t stream = 0) noexcept {
    std::uint64_t x = mix(seed) ^ mix(~stream);
    for (std::uint64_t& word : state_) word = x = mix(x);
  }

  [[nodiscard]] constexpr std::uint64_t next() noexcept {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  [[nodiscard]] constexpr std::uint32_t next_32() noexcept {
    return static_cast<std::uint32_t>(next() >> 32);
  }

  /// In [0, 1).
  [[nodiscard]] constexpr double unit() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }

  /// In [low, high]; multiplied out instead of taken modulo, so without bias that a test could see.
  [[nodiscard]] constexpr std::int64_t between(std::int64_t low, std::int64_t high) noexcept {
    const auto span = static_cast<std::uint64_t>(high - low) + 1;
    if (span == 0) return static_cast<std::int64_t>(next());
    return low + static_cast<std::int64_t>(unit() * static_cast<double>(span));
  }

  /// Normally distributed with mean 0 and deviation 1 (Box and Muller; of the two values the first, so that a
  /// draw needs no memory). 1 - u is never 0.
  [[nodiscard]] double normal() noexcept {
    const double radius = std::sqrt(-2 * std::log(1 - unit()));
    return radius * std::cos(2 * std::numbers::pi * unit());
  }

  /// Exponentially distributed with this mean: -mean * ln(1 - u), and 1 - u is never 0.
  [[nodiscard]] double exponential(double mean) noexcept { return -mean * std::log(1 - unit()); }

 private:
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace onrush
