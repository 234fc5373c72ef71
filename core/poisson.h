// Arrivals at random instants: a Poisson process whose rate is a stage's.
//
// Why: visitors do not come at equal intervals, and bunches are what fills queues. The process is one
// sequence for the run, made of the plan's seed; every share walks through all of it and takes every
// count-th, so any number of agents starts the same sessions at the same instants. Owner: one worker (or a
// reader of the plan).
//
// A Poisson process of rate 1 has independent exponential gaps with mean 1 between its points. Running its
// clock by the integral of a rate gives the process of that rate: point x is due when the integral comes to x
// (Cinlar, Introduction to Stochastic Processes, section 4.7). Each stage has a process of its own; the
// process has no memory, so nothing shows at their border.
#pragma once

#include <cstdint>

#include "core/random.h"
#include "core/schedule.h"

namespace onrush {

/// A ramp, then its end value until the stage ends.
struct Pace {
  double from_per_s;
  double to_per_s;
  double over_s;    ///< of the ramp, 0: there is none
  double length_s;  ///< of both; infinity if the end is not known beforehand
};

class PoissonArrivals {
 public:
  /// `first`: number of the stage's first arrival. `key` chooses the process.
  PoissonArrivals(const Pace& pace, std::uint64_t first, std::uint64_t key, Share share) noexcept;

  /// True if the share has no arrival left in the stage.
  [[nodiscard]] bool over() const noexcept { return now_.at >= end_; }
  /// The share's next arrival: its number in the run, and when it is due, in ns since the stage began.
  [[nodiscard]] std::uint64_t number() const noexcept { return now_.number; }
  [[nodiscard]] std::int64_t due_ns() const noexcept;
  void next() noexcept;

  /// Number of the first arrival, of any share, due at `t_s` or later, when the share's arrivals before are
  /// behind it: where the next stage goes on. Nothing else is asked of it then.
  [[nodiscard]] std::uint64_t number_at(double t_s) noexcept;

 private:
  void step() noexcept;
  [[nodiscard]] double integral(double t_s) const noexcept;

  /// A point of the process, with what follows it.
  struct Point {
    Random random;
    double at;
    std::uint64_t number;
  };

  Pace pace_;
  Share share_;
  double ramp_;  ///< arrivals that the ramp has on average
  double end_;   ///< and the whole stage
  Point now_;    ///< the share's next arrival
  Point past_;   ///< its arrival before, or the stage's first point: behind it lie those of other shares
};

}  // namespace onrush
