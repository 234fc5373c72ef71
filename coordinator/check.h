// What `onrush check` prints: the timeline that a plan will run, what its peak needs, and what its author may
// not have meant.
//
// Owner: any thread; pure. What the machine has comes in as facts; nothing is asked of it here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/plan.h"

namespace onrush {

/// What the machine that checks the plan has.
struct CheckFacts {
  std::uint64_t descriptor_limit = 0;
  std::uint64_t ports_per_address = 0;
  std::uint64_t memory_available_bytes = 0;
  bool target_on_host = false;
};

/// At most 100 columns wide, ends with a newline.
[[nodiscard]] std::string render_check(const Plan& plan, const CheckFacts& facts);

/// Sentences about what the plan says and its author may not have meant; empty if there is nothing to say.
[[nodiscard]] std::vector<std::string> check_notes(const Plan& plan, const CheckFacts& facts);

}  // namespace onrush
