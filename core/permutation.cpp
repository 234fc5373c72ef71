#include "core/permutation.h"

#include <bit>

#include "core/random.h"

namespace onrush {

// Multiplying by an odd number, adding and xor with a shifted copy are each one to one on the numbers of
// `bits` bits, so the whole is; a result beyond size is put in again until one lies within, which keeps it
// one to one. A rotation by the key makes every place equally likely for every number even where size is too
// small to mix (3 + 1 arrivals).
std::uint64_t permuted(std::uint64_t x, std::uint64_t size, std::uint64_t key) noexcept {
  const auto bits = static_cast<int>(std::bit_width(size - 1));
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  do {
    std::uint64_t round_key = key;
    for (int round = 0; round < 3; ++round) {
      round_key = mix(round_key);
      x = (x * (round_key | 1) + (round_key >> 32)) & mask;
      x ^= x >> ((bits + 1) / 2);
    }
  } while (x >= size);
  return (x + mix(~key) % size) % size;
}

}  // namespace onrush
