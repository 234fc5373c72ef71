// Counters and times of some part of a run: a cell, a stage, a scenario, a second, or all of it.
//
// Why: every figure is kept for the smallest part and added up for larger ones, so that all of them agree.
// Owner: one thread at a time. Always: a time without samples costs nothing and find() says so.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "core/histogram.h"
#include "core/metrics.h"

namespace onrush {

void add(Counters& to, const Counters& counters) noexcept;

class Measured {
 public:
  Counters counters{};
  Tries tries{};

  /// Nothing (nullptr) without samples.
  [[nodiscard]] const Histogram* find(Time time) const noexcept;
  [[nodiscard]] std::uint64_t samples(Time time) const noexcept;
  /// To record into; made on first use.
  [[nodiscard]] Histogram& of(Time time);

  void add(const Measured& other);

 private:
  std::array<std::unique_ptr<Histogram>, kTimes> times_;
};

}  // namespace onrush
