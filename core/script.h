// A scenario's steps compiled into a flat array of instructions: the program that every session of it runs.
//
// Why: a session is data and holds only a program counter; nested steps would need a stack a user.
// Owner: any thread; immutable. Always: every `jump` is in range; the last instruction is `end`.
#pragma once

#include <cstdint>
#include <vector>

#include "core/plan.h"

namespace onrush {

enum class Op : std::uint8_t {
  connect,
  send,
  request,
  listen,
  think,
  repeat_begin,
  repeat_end,
  close,
  drop,
  expect,
  ping,
  log,
  choose,
  set,
  branch,  ///< never run: where a branch of the `choose` before begins
  jump,
  subscribe,
  unsubscribe,
  operate,
  end
};

/// Repeats may be nested this deep; plan_yaml refuses more.
inline constexpr std::uint8_t kMaxRepeatDepth = 2;

struct Instruction {
  Op op;
  std::uint8_t depth = 0;  ///< repeat_begin, repeat_end: 0 = outermost
  bool paced =
      false;  ///< send, request, operate: the first of an iteration of `repeat: every`, so it has a due time
  std::uint32_t jump = 0;      ///< repeat_begin: past its end; repeat_end: its begin; branch: the next
                               ///< one; jump: there
  const Step* step = nullptr;  ///< parameters, in the plan, which outlives the script
};

using Script = std::vector<Instruction>;

/// What an instruction of this step connects or closes with: its own, or that of a `reconnect`.
[[nodiscard]] const ConnectStep& connect_of(const Step& step);
[[nodiscard]] const CloseStep& close_of(const Step& step);

[[nodiscard]] Script compile(const Scenario& scenario);

}  // namespace onrush
