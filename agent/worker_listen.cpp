// Listening: broadcasts recognised by their number, and how long each was under way.
#include <algorithm>
#include <bit>

#include "agent/worker.h"

namespace onrush {
namespace {

constexpr std::uint32_t kWindow = 32;

// One host's clock differs from itself by less: a stamp that is later than its receipt by more is of another
// unit or another clock, and says nothing of how long its copy was under way.
constexpr std::int64_t kClocksDiffer_us = 1000;

constexpr std::uint32_t mask_of(std::uint32_t bits) { return bits >= kWindow ? ~0u : (1u << bits) - 1; }

std::uint32_t missing(std::uint32_t recent, std::uint32_t bits) {
  return static_cast<std::uint32_t>(std::popcount(~recent & mask_of(bits)));
}

std::int64_t to_us(double value, TimeUnit unit) {
  switch (unit) {
    case TimeUnit::ns: return static_cast<std::int64_t>(value / 1e3);
    case TimeUnit::us: return static_cast<std::int64_t>(value);
    case TimeUnit::ms: return static_cast<std::int64_t>(value * 1e3);
    case TimeUnit::s: return static_cast<std::int64_t>(value * 1e6);
  }
  return 0;
}

// Microseconds since 1970 of a member; 0 if it is absent or no time of this age of the world. A double holds
// them exactly until the year 2255, nanoseconds to 0.3 us.
std::int64_t time_of(JsonReader& json, const std::optional<JsonPointer>& pointer, TimeUnit unit) {
  if (!pointer) return 0;
  const std::optional<double> value = json.real(*pointer);
  return value && *value > 0 && *value < 9e18 ? to_us(*value, unit) : 0;
}

}  // namespace

void Worker::begin_listening(Session& session, const ProgramStep& step, std::int64_t ready_ns) {
  const auto& listen = std::get<ListenStep>(step.instruction.step->what);
  set_state(session, State::listening);
  session.received = {0, 0, 0};
  if (listen.for_ns) timers_.arm(session, ready_ns + *listen.for_ns);
  if (!step.listen.sequence) return;
  session.set(kNumbered);
  broadcasts_[session.scenario].listener_began(slab_, session);
}

// What is missing when nobody listens any more is missing for good.
void Worker::end_listening(Session& session) noexcept {
  if (!session.has(kNumbered)) return;
  session.clear(kNumbered);
  broadcasts_[session.scenario].listener_ended();
  count(session, Counter::gaps, missing(session.received.recent, session.received.known));
}

void Worker::broadcast_received(Session& session, std::span<const std::uint8_t> payload, bool complete) {
  const ProgramStep& step = step_of(session);
  if (!complete || !step.listen.any() || !json_.begin(payload)) return;
  const TimeUnit unit = std::get<ListenStep>(step.instruction.step->what).unit;
  const std::int64_t received_us = wall_us(now_ns_);
  const std::int64_t batch_us = time_of(json_, step.listen.batch_sent, unit);
  const std::int64_t sent_us = time_of(json_, step.listen.sent, unit);
  if (step.listen.sequence) {
    const auto sequence = json_.number(*step.listen.sequence);
    if (!sequence || !is_first_copy(session, *sequence)) return;
    count(session, Counter::delivered);
    const std::int64_t offset_us = received_us - now_ns_ / 1000;
    broadcasts_[session.scenario].received(
        slab_, {*sequence, batch_us, received_us, session.begun_ns / 1000 + offset_us, offset_us}, recorder_);
  }
  if (sent_us != 0) delivery_took(session, Time::delivery, sent_us, received_us);
  if (batch_us != 0) delivery_took(session, Time::batch_delivery, batch_us, received_us);
}

// A copy may come between the look at the clock and the read that gets it, so the clock is looked at again
// before a stamp is said to be early.
void Worker::delivery_took(Session& session, Time time, std::int64_t stamp_us, std::int64_t received_us) {
  if (stamp_us - received_us > kClocksDiffer_us && stamp_us - wall_us(network_.now_ns()) > kClocksDiffer_us)
    return count(session, Counter::early_stamps);
  recorder_.time(session.scenario, time, std::max<std::int64_t>(received_us - stamp_us, 0) * 1000);
}

// A gap counts when its number leaves the window unseen: then it will not be told from a duplicate any more.
bool Worker::is_first_copy(Session& session, std::uint64_t sequence) noexcept {
  Received& seen = session.received;
  if (seen.known == 0) {
    seen = {sequence, 1, 1};
    return true;
  }
  if (sequence > seen.last) {
    const std::uint64_t ahead = sequence - seen.last;
    const std::uint64_t known = seen.known + ahead;
    if (ahead >= kWindow) {
      count(session, Counter::gaps, missing(seen.recent, seen.known) + (ahead - kWindow));
      seen.recent = 1;
    } else {
      if (known > kWindow) {
        const auto kept = kWindow - static_cast<std::uint32_t>(ahead);
        count(session, Counter::gaps, missing(seen.recent, seen.known) - missing(seen.recent, kept));
      }
      seen.recent = seen.recent << ahead | 1;
    }
    seen.known = static_cast<std::uint8_t>(known < kWindow ? known : kWindow);
    seen.last = sequence;
    return true;
  }
  const std::uint64_t behind = seen.last - sequence;
  if (behind >= kWindow || (behind < seen.known && (seen.recent >> behind & 1) != 0)) {
    count(session, Counter::duplicates);
    return false;
  }
  if (behind >= seen.known) seen.known = static_cast<std::uint8_t>(behind + 1);
  seen.recent |= 1u << behind;
  count(session, Counter::reordered);
  return true;
}

}  // namespace onrush
