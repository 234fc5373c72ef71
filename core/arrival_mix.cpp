#include "core/arrival_mix.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/check.h"
#include "core/permutation.h"
#include "core/random.h"

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
  const std::uint64_t key = mix(seed_ ^ mix(k / block()));
  const std::uint64_t place = permuted(k % block(), block(), key);
  return static_cast<std::uint32_t>(std::upper_bound(ends_.begin(), ends_.end(), place) - ends_.begin());
}

}  // namespace onrush
