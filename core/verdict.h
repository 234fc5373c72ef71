// What a run comes to: one word, one exit code, and every reason for it.
//
// Why: a script looks at the exit code alone, so whatever spoils a run must show in it, and the worst must
// win. Owner: any thread; pure. Always: exit code 0 if and only if the verdict is passed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/aggregate.h"

namespace onrush {

// From the worst to the best; the worst reason's exit code is the run's (docs/operations.md).
enum class Verdict : std::uint8_t {
  internal_error,  ///< 70: our own books do not balance, so nothing of this can be trusted
  interrupted,     ///< 130: somebody ended it
  refused,         ///< 3: nothing was started
  aborted,         ///< 4: the plan ended it
  invalid,         ///< 6: the generator cannot vouch for its figures
  degraded,        ///< 5: an agent was lost
  failed,          ///< 99: a threshold does not hold, or nothing connected
  passed,          ///< 0
};

/// "passed", "failed", "aborted", "degraded", "invalid", "refused", "interrupted", "internal error".
[[nodiscard]] const char* name(Verdict verdict) noexcept;
[[nodiscard]] int exit_code(Verdict verdict) noexcept;

/// Exit code of a plan or a command line that cannot be understood: then there is no run and no verdict.
inline constexpr int kExitBadPlan = 2;

/// What happened to the run besides its figures.
struct RunEvents {
  std::vector<std::string> refused;  ///< why nothing was started
  std::optional<std::string> aborted;
  std::optional<std::string> interrupted;
  std::optional<std::string> out_of_memory;  ///< why it was stopped before a machine ran out
  std::vector<std::string> warnings;         ///< of the preflights: what distorts the figures; each once
  std::vector<std::string> lost_agents;      ///< names
};

struct Decision {
  Verdict verdict = Verdict::passed;
  std::vector<std::string> reasons;   ///< the worst first; empty if passed
  std::vector<std::string> warnings;  ///< change no verdict; "TLS: ..." if no certificate was verified
};

/// What to say of a process of which there is no sample.
[[nodiscard]] std::string unobserved(const Observed& observed);

[[nodiscard]] Decision decide(const RunEvents& events, const Aggregate& aggregate);

}  // namespace onrush
