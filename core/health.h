// How far an agent's own second can be trusted: VALID, SUSPECT or INVALID, and why.
//
// Why: a generator that was late or starved blames the target for its own faults; so it judges itself, by
// fixed limits. Owner: any thread; pure.
#pragma once

#include <cstdint>
#include <string>

#include "core/snapshot.h"

namespace onrush {

enum class Grade : std::uint8_t { valid, suspect, invalid };

/// "VALID", "SUSPECT", "INVALID".
[[nodiscard]] const char* name(Grade grade) noexcept;

struct Judgement {
  Grade grade = Grade::valid;
  std::string cause;  ///< every limit that was passed, with its figure; empty if valid
};

[[nodiscard]] Judgement judge(const Health& health);

/// Its host has less memory left than it must keep: whatever opens more would drive it out of memory.
[[nodiscard]] bool nears_end_of_memory(const Health& health) noexcept;

/// One agent in one second that was not VALID.
struct SuspectSecond {
  std::uint32_t second;
  std::uint32_t agent;
  Judgement judgement;
};

}  // namespace onrush
