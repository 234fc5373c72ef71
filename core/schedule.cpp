#include "core/schedule.h"

#include <cmath>
#include <limits>

#include "core/check.h"

namespace onrush {

// The rate at t is a + s t, with s = (b - a) / T. Its integral N(t) = a t + s t^2 / 2 counts the arrivals by
// t, so the item with x arrivals of the ramp before it is due when N(t) = x. The textbook root (-a + sqrt(a^2
// + 2 s x)) / s cancels when s is small; multiplied out with its conjugate it is 2 x / (a + sqrt(a^2 + 2 s
// x)), exact for s = 0 too.
namespace {

constexpr std::uint64_t kNoEnd = std::numeric_limits<std::uint64_t>::max();
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

bool constant(const Ramp& r) { return r.from_per_s == r.to_per_s; }

double slope(const Ramp& r) { return constant(r) ? 0 : (r.to_per_s - r.from_per_s) / r.length_s; }

}  // namespace

double seconds_until(const Ramp& r, double x) noexcept {
  if (x <= 0) return 0;
  const double a = r.from_per_s;
  const double rate_then_squared = a * a + 2 * slope(r) * x;
  return std::fmin(2 * x / (a + std::sqrt(std::fmax(rate_then_squared, 0))), r.length_s);
}

// How many items are due before the running count reaches `count`: those whose number is less. A count that
// should be whole may come out of the sums a little above or below, so numbers within the tolerance count as
// reached. Both ends of a ramp are cut by this one function, so whatever the noise, no item falls between two
// ramps or into both.
std::uint64_t items_before(double count) noexcept {
  const double tolerance = std::fmax(1e-6, count * 1e-14);
  const double items = std::ceil(count - tolerance);
  if (!(items < 1.8e19)) return kNoEnd;
  return items <= 0 ? 0 : static_cast<std::uint64_t>(items);
}

double arrivals_until(const Ramp& ramp, double t_s) noexcept {
  if (t_s <= 0 || (ramp.from_per_s == 0 && ramp.to_per_s == 0)) return 0;  // also 0 * infinity
  if (t_s >= ramp.length_s) return (ramp.from_per_s + ramp.to_per_s) / 2 * ramp.length_s;
  return t_s * (ramp.from_per_s + slope(ramp) * t_s / 2);
}

Schedule::Schedule(Ramp ramp, double begun, Share share) noexcept
    : ramp_{ramp}, begun_{begun}, share_{share}, end_{items_before(ended())} {
  ONRUSH_CHECK(ramp.from_per_s >= 0 && ramp.to_per_s >= 0 && ramp.length_s > 0 && begun >= 0);
  ONRUSH_CHECK(std::isfinite(ramp.length_s) || constant(ramp));
  ONRUSH_CHECK(share.index < share.count);
}

std::optional<std::uint64_t> Schedule::first() const noexcept {
  const std::uint64_t begin = items_before(begun_);
  if (begin >= end_) return std::nullopt;
  const std::uint64_t to_ours = (share_.index + share_.count - begin % share_.count) % share_.count;
  if (to_ours >= end_ - begin) return std::nullopt;
  return begin + to_ours;
}

std::optional<std::uint64_t> Schedule::after(std::uint64_t k) const noexcept {
  if (k >= end_ || share_.count >= end_ - k) return std::nullopt;
  return k + share_.count;
}

std::int64_t Schedule::due_ns(std::uint64_t k) const noexcept {
  const double ns = seconds_until(ramp_, static_cast<double>(k) - begun_) * 1e9;
  return ns < 9.2e18 ? std::llround(ns) : kNever;  // rarer than once in 292 years
}

std::uint64_t Schedule::count() const noexcept {
  if (end_ == kNoEnd) return kNoEnd;
  const auto begin = first();
  return begin ? (end_ - 1 - *begin) / share_.count + 1 : 0;
}

double Schedule::ended() const noexcept { return begun_ + arrivals_until(ramp_, ramp_.length_s); }

}  // namespace onrush
