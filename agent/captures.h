// What users keep of what they were told, for their later steps: `${name}` there.
//
// Why: a token of a first reply goes into every later message, and a user is 128 bytes without room for it.
// So a plan that keeps values has a table of fixed places beside its sessions, made before the run; a plan
// that keeps none has nothing. Owner: one worker. Always: nothing is allocated after construction; memory of
// users that have kept nothing is never touched; a value is at most as long as the plan allows.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/plan.h"
#include "core/session.h"

namespace onrush {

class Captures {
 public:
  /// `capacity`: sessions of the worker.
  Captures(const Plan& plan, std::uint32_t capacity);

  /// False if no scenario keeps anything.
  [[nodiscard]] bool any() const noexcept { return stride_ != 0; }
  /// A new session of that slot has kept nothing yet.
  void clear(SlotIndex slot, std::uint32_t scenario) noexcept;
  /// False if the value is too long; what was there before stays.
  [[nodiscard]] bool put(SlotIndex slot, std::uint32_t scenario, std::uint32_t place,
                         std::string_view value) noexcept;
  [[nodiscard]] std::string_view get(SlotIndex slot, std::uint32_t scenario,
                                     std::uint32_t place) const noexcept;
  /// All of them, in the order of Scenario::captures. Valid until the next call.
  [[nodiscard]] std::span<const std::string_view> values(SlotIndex slot, std::uint32_t scenario) noexcept;

 private:
  /// Two bytes of length, then the value.
  struct Place {
    std::size_t offset;
    std::uint32_t at_most;
  };
  struct Free {
    void operator()(char* memory) const noexcept { std::free(memory); }
  };
  [[nodiscard]] char* at(SlotIndex slot, const Place& place) const noexcept {
    return memory_.get() + stride_ * slot + place.offset;
  }

  std::vector<std::vector<Place>> places_;  ///< by scenario
  std::size_t stride_ = 0;                  ///< of the scenario that keeps most
  std::unique_ptr<char, Free> memory_;
  std::vector<std::string_view> values_;
};

}  // namespace onrush
