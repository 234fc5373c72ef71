// Which destination each connection of a worker goes to: targets by weight, the addresses of each in turn.
//
// Owner: one worker. Always: with one destination nothing is kept and nothing is computed; with several, two
// bytes a slot say where its connection goes.
#pragma once

#include <cstdint>
#include <vector>

#include "agent/program.h"
#include "core/session.h"
#include "core/target.h"

namespace onrush {

class Destinations {
 public:
  /// `start` differs between workers, so that their first connections do not all go to the same one.
  Destinations(const Program& program, std::uint32_t start, std::uint32_t capacity)
      : program_{program},
        turn_{program.plan.targets, start},
        next_address_(program.plan.targets.size(), start) {
    if (program.destinations.size() > 1) by_slot_.resize(std::size_t{capacity} + 1);
  }

  /// For the slot's next connection.
  void choose(SlotIndex slot) noexcept {
    if (by_slot_.empty()) return;
    const std::size_t target = turn_.next();
    const std::uint32_t first = program_.destination_of_target[target];
    const std::uint32_t count = program_.destination_of_target[target + 1] - first;
    by_slot_[slot] = static_cast<std::uint16_t>(first + next_address_[target]++ % count);
  }

  /// Index of the program's destinations: of the slot's newest connection.
  [[nodiscard]] std::uint32_t of(SlotIndex slot) const noexcept {
    return by_slot_.empty() ? 0 : by_slot_[slot];
  }

 private:
  const Program& program_;
  TargetTurn turn_;
  std::vector<std::uint32_t> next_address_;  ///< by target
  std::vector<std::uint16_t> by_slot_;       ///< empty if there is only one
};

}  // namespace onrush
