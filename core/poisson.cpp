#include "core/poisson.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace onrush {

PoissonArrivals::PoissonArrivals(const Pace& pace, std::uint64_t first, std::uint64_t key,
                                 Share share) noexcept
    : pace_{pace},
      share_{share},
      ramp_{(pace.from_per_s + pace.to_per_s) / 2 * pace.over_s},
      end_{integral(pace.length_s)},
      now_{Random{key}, 0, first},
      past_{now_} {
  now_.at = now_.random.exponential(1);
  past_ = now_;
  while (!over() && now_.number % share_.count != share_.index) step();
}

double PoissonArrivals::integral(double t_s) const noexcept {
  if (t_s <= 0) return 0;
  if (t_s < pace_.over_s) return arrivals_until({pace_.from_per_s, pace_.to_per_s, pace_.over_s}, t_s);
  return pace_.to_per_s > 0 ? ramp_ + pace_.to_per_s * (t_s - pace_.over_s) : ramp_;
}

std::int64_t PoissonArrivals::due_ns() const noexcept {
  const double at = now_.at;
  const double t_s = at < ramp_ ? seconds_until({pace_.from_per_s, pace_.to_per_s, pace_.over_s}, at)
                                : pace_.over_s + (at - ramp_) / pace_.to_per_s;
  constexpr double kMost_ns = 9.2e18;
  return t_s * 1e9 < kMost_ns ? std::llround(t_s * 1e9) : std::numeric_limits<std::int64_t>::max();
}

void PoissonArrivals::step() noexcept {
  ++now_.number;
  now_.at += now_.random.exponential(1);
}

void PoissonArrivals::next() noexcept {
  past_ = now_;
  do step();
  while (!over() && now_.number % share_.count != share_.index);
}

std::uint64_t PoissonArrivals::number_at(double t_s) noexcept {
  const double until = std::min(integral(t_s), end_);
  now_ = past_;
  while (now_.at < until) step();
  return now_.number;
}

}  // namespace onrush
