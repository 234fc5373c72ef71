// Ends: of a step, of a connection, of a session; each counted once.
#include <fmt/format.h>

#include "agent/worker.h"

namespace onrush {

void Worker::note_failure(const Session& session, const Failure& failure, std::string_view sample) {
  if (is_traced(session))
    trace(session, Direction::none,
          fmt::format("failed, {}: {}{}{}", name(failure.phase), describe(failure),
                      sample.empty() ? "" : ": ", escaped(sample, kSampleBytes)));
  recorder_.failure(session.scenario, failure, run_us(now_ns_), sample);
}

// The plan wants this session to end, wherever it is.
void Worker::end_session(Session& session) {
  session.set(kEnding);
  switch (session.state) {
    case State::waiting: return finish_session(session, false);
    case State::connecting: return attempt_failed(session, {Phase::connect, Cause::cancelled, 0});
    case State::securing:
    case State::tunnelling:
    case State::upgrading:
    case State::acknowledging: return attempt_failed(session, {phase_of(session.state), Cause::cancelled, 0});
    case State::closing: return;
    default: break;
  }
  constexpr std::uint16_t kNormal = 1000;
  begin_close(session, kNormal, {});
}

// A request whose time or connection ends has no reply, and likewise an expectation or a ping; one that the
// plan itself cuts short is none at all. Whoever listened listens no more.
void Worker::leave_step(Session& session) noexcept {
  timers_.disarm(session);
  const bool waits = session.state == State::awaiting_reply || session.state == State::awaiting_pong;
  if (waits && !session.has(kEnding)) {
    const Wait& wait = wait_of(step_of(session).instruction.op);
    count(session, wait.all);
    count(session, wait.failed);
  }
  if (session.state != State::listening) return;
  end_listening(session);
  session.times = {now_ns_, now_ns_};  // what has been received lay in its place
}

void Worker::begin_close(Session& session, std::uint16_t code, std::string_view reason) {
  leave_step(session);
  set_state(session, State::closing);
  timers_.arm(session, now_ns_ + kCloseWait_ns);
  if (graphql_ != nullptr && !session.has(kDeaf) && !say_goodbye(session)) return;
  [[maybe_unused]] const bool alive = send_close(session, code, reason);
}

// The peer broke the protocol: it is told so (RFC 6455 section 7.1.7), and nothing more of it is looked at.
void Worker::fail_connection(Session& session, const FrameError& error) {
  if (session.state == State::acknowledging) return attempt_failed(session, {Phase::ack, error.cause, 0});
  if (session.state == State::closing) {
    note_failure(session, {Phase::close, error.cause, 0});
    return connection_ended(session);
  }
  note_failure(session, {Phase::open, error.cause, 0});
  turn_deaf(session);
  begin_close(session, error.close_code, {});
}

void Worker::lose_connection(Session& session, const Failure& failure, std::string_view sample) {
  note_failure(session, failure, sample);
  if (is_own_limit(failure)) count(session, Counter::own_lost);
  session.set(kLost);
  connection_ended(session);
}

void Worker::connection_ended(Session& session) {
  leave_step(session);
  const bool lost = session.has(kLost);
  if (is_traced(session)) trace(session, Direction::none, "closed");
  count(session, Counter::closed);
  if (lost) count(session, Counter::lost);
  const bool cut_by_plan = was_cut(session);
  if (lost || cut_by_plan) cut_off(session);
  recorder_.time(session.scenario, Time::session, now_ns_ - session.begun_ns);
  if (tls_ != nullptr && session.state == State::closing) end_tls(session);
  close_socket(session);
  set_state(session, State::waiting);
  if ((lost || cut_by_plan) && comes_back(session)) return;
  if (lost || cut_by_plan || session.has(kEnding)) return finish_session(session, false);
  // On from the next turn: what called us still looks at this connection.
  timers_.arm(session, now_ns_);
}

// RST, so that neither side keeps a million connections in TIME_WAIT.
void Worker::close_socket(Session& session) noexcept {
  timers_.disarm(session);
  unsent_.give_back(session.unsent);
  partial_.give_back(session.partial);
  if (tls_ != nullptr) tls_->release(slab_.slot_of(session));
  if (session.frame.deflates) compression_.end(slab_.slot_of(session));
  session.frame.deflates = false;
  if (session.fd != -1) {
    network_.close(session.fd, true);
    ports_[destination_of(session).endpoint].give_back(session.endpoint);
    session.fd = -1;
  }
  session.clear(kUnread);
  session.clear(kDeaf);
  session.clear(kLost);
}

// A user whose script has ended begins again while the stage wants it; one whose session failed stays away.
void Worker::finish_session(Session& session, bool normally) {
  settle(session);
  timers_.disarm(session);
  const SlotIndex slot = slab_.slot_of(session);
  if (session.has(kArrival)) {
    --arrivals_;
    if (tls_ != nullptr) tls_->forget(slot);
    return slab_.release(slot);
  }
  if (normally && !session.has(kEnding) && course_ == Course::running) {
    session.step = 0;
    timers_.arm(session, now_ns_);
    return;
  }
  SlotIndex& place = user_slot(session.scenario, session.user - program_.user_bases[session.scenario] - 1);
  if (place == slot) place = 0;
  if (tls_ != nullptr) tls_->forget(slot);
  slab_.release(slot);
}

}  // namespace onrush
