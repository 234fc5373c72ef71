#include "core/think_time.h"

#include <algorithm>
#include <cmath>

namespace onrush {
namespace {

// The logarithm of a log-normal time is normal with mean m and deviation s. A plan states mean M and
// deviation D of the time itself; M = exp(m + s^2 / 2) and D^2 = M^2 (exp(s^2) - 1) give s^2 = ln(1 + (D /
// M)^2) and m = ln M - s^2 / 2.
double log_normal(double mean, double deviation, double standard) {
  const double ratio = deviation / mean;
  const double variance = std::log1p(ratio * ratio);
  return mean * std::exp(std::sqrt(variance) * standard - variance / 2);
}

std::int64_t within(const Duration& time, double ns) {
  const double low = static_cast<double>(time.low_ns);
  const double high = static_cast<double>(time.high_ns);
  return static_cast<std::int64_t>(std::clamp(ns, low, high));
}

}  // namespace

std::int64_t draw(const Duration& time, Random& random) noexcept {
  const double mean = static_cast<double>(time.mean_ns);
  const double deviation = static_cast<double>(time.deviation_ns);
  switch (time.kind) {
    case Duration::Kind::fixed: return time.low_ns;
    case Duration::Kind::uniform: return random.between(time.low_ns, time.high_ns);
    case Duration::Kind::exponential:
      return static_cast<std::int64_t>(random.exponential(static_cast<double>(time.low_ns)));
    case Duration::Kind::normal: return within(time, mean + deviation * random.normal());
    case Duration::Kind::log_normal: return within(time, log_normal(mean, deviation, random.normal()));
  }
  return 0;
}

double mean_s(const Duration& time) noexcept {
  const auto seconds = [](std::int64_t ns) { return static_cast<double>(ns) / 1e9; };
  switch (time.kind) {
    case Duration::Kind::fixed:
    case Duration::Kind::exponential: break;
    case Duration::Kind::uniform: return (seconds(time.low_ns) + seconds(time.high_ns)) / 2;
    case Duration::Kind::normal:
    case Duration::Kind::log_normal:
      return std::clamp(seconds(time.mean_ns), seconds(time.low_ns), seconds(time.high_ns));
  }
  return seconds(time.low_ns);
}

}  // namespace onrush
