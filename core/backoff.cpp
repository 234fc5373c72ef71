#include "core/backoff.h"

#include <cmath>

namespace onrush {

std::int64_t longest_pause_ns(const Backoff& backoff, std::uint32_t n) noexcept {
  // Grows past every bound and to infinity, never to a number that is none: low > 0 and factor >= 1.
  const double grown = static_cast<double>(backoff.low_ns) * std::pow(backoff.factor, n > 0 ? n - 1.0 : 0.0);
  return grown < static_cast<double>(backoff.high_ns) ? std::llround(grown) : backoff.high_ns;
}

std::int64_t pause_ns(const Backoff& backoff, std::uint32_t n, Random& random) noexcept {
  const std::int64_t longest = longest_pause_ns(backoff, n);
  switch (backoff.jitter) {
    case Jitter::none: return longest;
    case Jitter::equal: return random.between(longest / 2, longest);
    case Jitter::full: return random.between(0, longest);
  }
  return longest;
}

}  // namespace onrush
