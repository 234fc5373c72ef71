#include "core/arrival_mix.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "core/check.h"

namespace onrush {

namespace {

// A block is never longer, so that the weights hold in runs of ordinary length and places fit the permutation
// below. Weights that need more are rounded: by less than one arrival in a million.
constexpr std::uint64_t kLongestBlock = 1'000'000;

// Fractions with denominators up to this become whole numbers: 0.1, 12.5, 1/3 written as 0.333333.
constexpr int kLargestDenominator = 1000;

bool is_whole(double x) { return std::fabs(x - std::round(x)) <= 1e-6 * std::fmax(x, 1); }

std::vector<std::uint64_t> rounded(const std::vector<double>& weights, double factor) {
  std::vector<std::uint64_t> whole;
  for (const double w : weights) whole.push_back(static_cast<std::uint64_t>(std::llround(w * factor)));
  return whole;
}

std::vector<std::uint64_t> whole_numbers(const std::vector<double>& weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  ONRUSH_CHECK(sum > 0 && std::isfinite(sum));
  const auto whole_times = [&](double m) {
    return std::all_of(weights.begin(), weights.end(),
                       [&](double w) { return is_whole(w * m) && (w == 0 || w * m >= 0.5); });
  };
  for (int m = 1; m <= kLargestDenominator; ++m) {
    if (!whole_times(m)) continue;
    std::vector<std::uint64_t> whole = rounded(weights, m);
    std::uint64_t divisor = 0;
    for (const std::uint64_t w : whole) divisor = std::gcd(divisor, w);
    for (std::uint64_t& w : whole) w /= divisor;
    if (std::accumulate(whole.begin(), whole.end(), std::uint64_t{0}) <= kLongestBlock) return whole;
    break;
  }
  return rounded(weights, static_cast<double>(kLongestBlock) / sum);
}

// Finalizer of splitmix64 (Steele, Lea, Flood 2014): every input bit reaches every output bit.
std::uint64_t scramble(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// A permutation of 0 .. size - 1 chosen by `key`, without a table: multiplying by an odd number, adding and
// xor with a shifted copy are each one to one on the numbers of `bits` bits, so the whole is; a result beyond
// size is put in again until one lies within, which keeps it one to one. A rotation by the key makes every
// place equally likely for every number even where a block is too small to mix (3 + 1 arrivals).
std::uint64_t permuted(std::uint64_t x, std::uint64_t size, std::uint64_t key) {
  const auto bits = static_cast<int>(std::bit_width(size - 1));
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  do {
    std::uint64_t round_key = key;
    for (int round = 0; round < 3; ++round) {
      round_key = scramble(round_key);
      x = (x * (round_key | 1) + (round_key >> 32)) & mask;
      x ^= x >> ((bits + 1) / 2);
    }
  } while (x >= size);
  return (x + scramble(~key) % size) % size;
}

}  // namespace

ArrivalMix::ArrivalMix(const Plan& plan) : seed_{plan.seed} {
  std::vector<double> weights;
  for (const Scenario& s : plan.scenarios) weights.push_back(s.weight);
  ends_ = whole_numbers(weights);
  std::partial_sum(ends_.begin(), ends_.end(), ends_.begin());
}

std::uint32_t ArrivalMix::scenario(std::uint64_t k) const noexcept {
  if (block() == 1)
    return static_cast<std::uint32_t>(std::find(ends_.begin(), ends_.end(), 1u) - ends_.begin());
  const std::uint64_t key = scramble(seed_ ^ scramble(k / block()));
  const std::uint64_t place = permuted(k % block(), block(), key);
  return static_cast<std::uint32_t>(std::upper_bound(ends_.begin(), ends_.end(), place) - ends_.begin());
}

}  // namespace onrush
