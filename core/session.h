// One virtual user in flight: 128 bytes, and all the memory that an idle connection costs.
//
// Why: a million users fit in 128 MB only if a user is data. Behaviour lives in the script (one compiled
// program a scenario) and in the worker (one loop a thread). Owner: the worker whose slab holds it. Times are
// monotonic. Always: `fd == -1` exactly if the state is idle or waiting; an event whose generation differs is
// stale; the timer wheel's links are used exactly while kTimerArmed is set.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "core/frame.h"
#include "core/script.h"

namespace onrush {

using SlotIndex = std::uint32_t;  ///< place in the worker's slab; 0 means none

/// The state diagram of a session. What an open one waits for is part of it.
enum class State : std::uint8_t {
  idle,            ///< the slot is free
  waiting,         ///< no connection: before `connect`, or between two sessions of the same user
  connecting,      ///< TCP
  tunnelling,      ///< a proxy was asked for a tunnel, its answer is not complete
  securing,        ///< TLS
  upgrading,       ///< request sent, response not complete
  acknowledging,   ///< GraphQL: connection_init sent
  thinking,        ///< open: until wake_ns
  pacing,          ///< open: until the iteration is due at wake_ns
  awaiting_reply,  ///< open: the request's reply or the message expected, or its time-out at wake_ns
  awaiting_pong,   ///< open: the pong of the script's ping, or its time-out at wake_ns
  listening,       ///< open: unsolicited messages, until wake_ns if a timer is armed
  flushing,        ///< open: the socket takes no more, and the next step wants to send
  closing,         ///< our close frame is sent or the connection has failed; RST at wake_ns at the latest
};

[[nodiscard]] constexpr bool is_open(State state) noexcept {
  return state >= State::thinking && state <= State::flushing;
}

enum SessionFlag : std::uint8_t {
  kTimerArmed = 1,
  kArrival = 2,     ///< of the open model: one session, then the slot is free
  kEnding = 4,      ///< its stage or the run wants it to end: the script goes no further
  kLost = 8,        ///< the connection ended by neither script nor plan
  kUnread = 16,     ///< in the worker's list of sockets whose read budget was used up
  kUnsettled = 32,  ///< its stage waits for it to open, fail or close
  kNumbered = 64,   ///< counted among the listeners that number broadcasts
  kDeaf = 128,  ///< whatever still comes is not looked at: the peer's close frame has come, or it broke the
                ///< protocol
};

/// What a user who waits for a message knows of it.
struct MessageTimes {
  std::int64_t due_ns;   ///< when the step under way was due; `expect`, `ping`: when it began
  std::int64_t sent_ns;  ///< when the last message was sent
};

/// What a listening user has received: an anti-replay window (RFC 4303 section 3.4.3). Bit d of `recent` says
/// whether broadcast last - d has come; `known` bits of it mean something, the others lie before the user's
/// first.
struct Received {
  std::uint64_t last;
  std::uint32_t recent;
  std::uint8_t known;
};

struct alignas(64) Session {
  // First cache line: what every event touches.
  union {
    MessageTimes times;
    Received received;  ///< while listening
  };
  std::int32_t fd;
  std::uint32_t generation;  ///< rises each time the slot is reused
  std::uint16_t step;        ///< program counter in the scenario's script
  std::uint16_t scenario;
  std::uint16_t settling_stage;  ///< whose settling waits for it, while kUnsettled
  State state;
  std::uint8_t flags;
  SlotIndex timer_next;  ///< links of the timer wheel's bucket, a ring
  SlotIndex timer_previous;
  FrameState frame;

  // Second: timers, opening, closing, repeats and long messages.
  std::int64_t wake_ns;   ///< exact deadline of the timer
  std::int64_t begun_ns;  ///< the attempt's start, then the connection's
  std::uint64_t user;     ///< ${user}
  std::array<std::int64_t, kMaxRepeatDepth>
      repeat_ns;  ///< paced: the iteration's due time; else when `for` has passed
  std::array<std::uint32_t, kMaxRepeatDepth> repeat_left;  ///< iterations
  std::uint32_t sequence;                                  ///< ${sequence}: messages this user has begun
  std::uint32_t endpoint;                                  ///< of the port allocator, to be given back
  std::uint32_t unsent;                                    ///< borrowed buffers, 0 = none
  std::uint32_t partial;

  [[nodiscard]] bool has(SessionFlag flag) const noexcept { return (flags & flag) != 0; }
  void set(SessionFlag flag) noexcept { flags = static_cast<std::uint8_t>(flags | flag); }
  void clear(SessionFlag flag) noexcept { flags = static_cast<std::uint8_t>(flags & ~flag); }
};

static_assert(sizeof(Session) == 128);
static_assert(std::is_trivially_copyable_v<Session>);

}  // namespace onrush
