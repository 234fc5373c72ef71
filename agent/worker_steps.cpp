// Steps that wait for something other than the reply to a message, and those that only say something.
#include <algorithm>
#include <array>
#include <utility>

#include "agent/worker.h"
#include "core/bytes.h"

namespace onrush {
namespace {

using PingPayload = std::array<std::uint8_t, 8>;

PingPayload bytes_of_number(std::uint64_t number) noexcept {
  PingPayload payload{};
  for (std::uint8_t& byte : payload) {
    byte = static_cast<std::uint8_t>(number);
    number >>= 8;
  }
  return payload;
}

}  // namespace

// What waits for no reply to a message leaves `sent_ns` alone: `${now_us}` of what it expects is that of the
// user's last message.
void Worker::begin_expecting(Session& session, const ProgramStep& step) {
  now_ns_ = network_.now_ns();
  session.times.due_ns = now_ns_;
  wait_until(session, State::awaiting_reply, now_ns_ + step.timeout_ns);
}

void Worker::begin_ping(Session& session, const ProgramStep& step) {
  if (session.unsent != 0) return set_state(session, State::flushing);  // comes back here when there is room
  now_ns_ = network_.now_ns();
  session.times.due_ns = now_ns_;
  wait_until(session, State::awaiting_pong, now_ns_ + step.timeout_ns);
  if (pong_owed_ && !send_pong(session)) return;
  frame_.clear();
  encode_frame(Opcode::ping, bytes_of_number(ping_number(session)), random_.next_32(), frame_);
  [[maybe_unused]] const bool alive = send_bytes(session, frame_);
}

// Worked out anew when the pong comes, so it need not be kept; no other ping of this run has it, so that a
// stray pong or one that comes too late is nobody's.
std::uint64_t Worker::ping_number(const Session& session) const noexcept {
  const SocketToken token = token_of(session);
  const std::uint64_t identity = std::uint64_t{token.generation} << 32 | token.slot;
  return mix(program_.plan.seed ^ mix(identity ^ mix(static_cast<std::uint64_t>(session.times.due_ns))));
}

void Worker::pong_received(Session& session, std::span<const std::uint8_t> payload) {
  const PingPayload wanted = bytes_of_number(ping_number(session));
  if (std::equal(payload.begin(), payload.end(), wanted.begin(), wanted.end())) replied(session);
}

// Keeps what the step wants of the reply. Cause::none, or why it cannot: then the values up to there have
// been kept, and the others stay as they were.
Cause Worker::keep(Session& session, const ProgramStep& step, std::span<const std::uint8_t> reply) {
  const SlotIndex slot = slab_.slot_of(session);
  for (const CaptureSource& source : step.set) {
    std::optional<std::string_view> value;
    if (source.text != nullptr) {
      text_.clear();
      source.text->render(values_of(session), text_);
      value = text_;
    } else if (source.json) {
      if (json_.begin(reply)) value = json_.text(*source.json);
    } else {
      value = source.regex->find(text_of(reply));
    }
    if (!value) return Cause::no_value;
    if (!captures_.put(slot, session.scenario, source.place, *value)) return Cause::value_too_long;
  }
  return Cause::none;
}

// The reply has come, but the script cannot do with it what it wants to: the request has failed.
void Worker::answer_lacks(Session& session, Cause cause, std::span<const std::uint8_t> reply) {
  note_failure(session, {Phase::request, cause, 0}, text_of(reply));
  leave_step(session);
  ++session.step;
  set_state(session, State::pacing);
  run(session, now_ns_);
}

bool Worker::is_met(const Session& session, const std::vector<Until>& until) {
  return std::all_of(until.begin(), until.end(), [&](const Until& wanted) {
    const std::string_view value = captures_.get(slab_.slot_of(session), session.scenario, wanted.place);
    return is_equal(session, wanted.value, value);
  });
}

void Worker::choose(Session& session, const ProgramStep& step) noexcept {
  const auto& branches = std::get<ChooseStep>(step.instruction.step->what).branches;
  double weights = 0;
  for (const ChooseStep::Branch& branch : branches) weights += branch.weight;
  double left = random_.unit() * weights;
  const auto& script = program_.scripts[session.scenario];
  std::uint32_t begin = session.step + 1u;
  for (std::size_t b = 0; b + 1 < branches.size() && left >= branches[b].weight; ++b) {
    left -= branches[b].weight;
    begin = script[begin].instruction.jump;
  }
  session.step = static_cast<std::uint16_t>(begin + 1);
}

void Worker::log(const Session& session, const LogStep& step) {
  // Each worker has an equal part of the lines, beginning with the first that comes.
  const std::int64_t interval_ns = 1'000'000'000 / kLogLinesPerSecond * settings_.share.count;
  if (now_ns_ < next_log_ns_) {
    ++unshown_;
    return;
  }
  next_log_ns_ = now_ns_ + interval_ns;
  text_.clear();
  step.text.render(values_of(session), text_);
  recorder_.log(
      {session.scenario, session.user, run_us(now_ns_), std::exchange(unshown_, 0), fit_to_show(text_)});
}

}  // namespace onrush
