// Keep-alive pings of `connection: {ping: ...}`, and the end of peers that answer none.
#include <cstring>

#include "agent/worker.h"

namespace onrush {
namespace {

using PingPayload = std::array<std::uint8_t, 8>;

// When it was sent names a ping: no two of a connection have the same, so a pong that comes too late is
// nobody's.
PingPayload payload_of(std::int64_t sent_ns) noexcept {
  PingPayload payload{};
  std::memcpy(payload.data(), &sent_ns, payload.size());
  return payload;
}

}  // namespace

// The visits of slots without a connection cost next to nothing, so the turn's budget is for pings alone.
void Worker::keep_alive() {
  if (course_ != Course::running || now_ns_ < keep_alive_.next_look_ns()) return;
  for (std::uint32_t pings = 0; pings < kPingsPerTurn;) {
    if (const auto slot = keep_alive_.next_answer(now_ns_)) {
      answer_due(*slot);
      continue;
    }
    const auto slot = keep_alive_.next_ping(now_ns_);
    if (!slot) return keep_alive_.looked(now_ns_);
    pings += ping_due(*slot) ? 1 : 0;
  }
  more_due_ = true;
}

bool Worker::ping_due(SlotIndex slot) {
  if (slot > slab_.touched()) return false;
  Session& session = slab_.at(slot);
  // One after the other: a ping without an answer keeps its time, so that it is found overdue.
  if (!is_open(session.state) || keep_alive_.sent_ns(slot) != 0) return false;
  now_ns_ = network_.now_ns();
  keep_alive_.sent_ns(slot) = now_ns_;
  count(session, Counter::keepalive_pings);
  frame_.clear();
  encode_frame(Opcode::ping, payload_of(now_ns_), random_.next_32(), frame_);
  [[maybe_unused]] const bool alive = send_bytes(session, frame_);
  return true;
}

// What has come and waits to be read may be the answer; its turn comes first.
void Worker::answer_due(SlotIndex slot) {
  if (slot > slab_.touched() || keep_alive_.sent_ns(slot) == 0) return;
  Session& session = slab_.at(slot);
  if (!is_open(session.state) || session.has(kUnread)) return;
  const std::int64_t waited_ns = now_ns_ - keep_alive_.sent_ns(slot);
  if (waited_ns < keep_alive_.timeout_ns()) return;  // sent late, or the next one: it has its time
  constexpr std::int64_t kMs = 1'000'000;
  lose_connection(session, {Phase::open, Cause::no_pong,
                            static_cast<std::uint32_t>((keep_alive_.timeout_ns() + kMs / 2) / kMs)});
}

bool Worker::is_keep_alive_pong(const Session& session, std::span<const std::uint8_t> payload) noexcept {
  if (!keep_alive_.is_on()) return false;
  std::int64_t& sent_ns = keep_alive_.sent_ns(slab_.slot_of(session));
  const PingPayload wanted = payload_of(sent_ns);
  if (sent_ns == 0 || !std::equal(payload.begin(), payload.end(), wanted.begin(), wanted.end())) return false;
  sent_ns = 0;
  count(session, Counter::keepalive_pongs);
  return true;
}

}  // namespace onrush
