// What a scenario's script can do, as far as it shows without running it.
//
// Why: `onrush check` tells what a stage will bring, and which thresholds can never have a sample.
// Owner: any thread; pure.
#pragma once

#include <cstdint>
#include <optional>

#include "core/plan.h"

namespace onrush {

/// The pace of an outermost `repeat` with `every`: what it sends to the target on its own clock.
struct Pace {
  std::int64_t every_ns = 0;
  std::optional<std::uint32_t> times;
  std::optional<std::int64_t> for_ns;
  std::uint64_t messages = 0;  ///< sends and requests of one iteration, at least
};

struct ScriptFacts {
  bool requests = false;
  bool sends = false;  ///< sends or requests
  bool paced = false;  ///< sends or requests within a repeat with `every`
  bool paced_requests = false;
  bool paced_sends = false;
  bool subscribes = false;
  bool listens = false;
  bool expects = false;
  bool pings = false;
  bool numbers_broadcasts = false;  ///< listens with `sequence`
  bool stamped = false;             ///< listens with `sent`
  bool batch_stamped = false;       ///< listens with `batch_sent`
  std::optional<Pace> pace;         ///< of the first such repeat
};

[[nodiscard]] ScriptFacts facts_of(const Scenario& scenario);

/// Messages that one user begins in `length_s` if it starts its pace at the beginning.
[[nodiscard]] std::uint64_t messages_within(const Pace& pace, double length_s);

}  // namespace onrush
