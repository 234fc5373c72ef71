// Which scenario each arrival of the shared stream plays: the plan's weights, exact in every block.
//
// Why: drawing at random would miss the weights by chance, and taking turns would send every n-th arrival, so
// all of an agent's share, to one scenario. Here each block holds each scenario exactly `weight` times, in an
// order of its own. Owner: any thread; immutable. Pure: the same plan and number give the same scenario on
// every agent. Allocates only when made.
#pragma once

#include <cstdint>
#include <vector>

#include "core/plan.h"

namespace onrush {

class ArrivalMix {
 public:
  explicit ArrivalMix(const Plan& plan);

  /// The scenario of arrival `k` of the run.
  [[nodiscard]] std::uint32_t scenario(std::uint64_t k) const noexcept;

  /// Arrivals in a block: the sum of the weights as the smallest whole numbers that have their proportions.
  [[nodiscard]] std::uint64_t block() const noexcept { return ends_.back(); }

 private:
  std::uint64_t seed_;
  std::vector<std::uint64_t>
      ends_;  ///< places 0 .. block - 1; scenario s has those from the end before to its own
};

}  // namespace onrush
