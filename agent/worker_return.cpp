// Coming back: a user whose connection was lost, or whose attempt failed, tries again after a back-off and
// goes through its script from the start.
//
// The row of attempts that makes the pauses longer ends only with a connection that held for a while
// (core/backoff.h). A stage waits for a user's first attempt alone: with the target down, those that come
// back would never let it end.
#include "agent/worker.h"

namespace onrush {

// True: it waits for its next attempt. The session has no connection, and its script has not ended.
bool Worker::comes_back(Session& session) {
  const std::optional<Backoff>& backoff = program_.plan.scenarios[session.scenario].reconnect;
  if (!backoff || session.has(kEnding) || course_ != Course::running) return false;
  Away& away = away_[slab_.slot_of(session)];
  if (away.row >= backoff->attempts) {
    count(session, Counter::gave_up);
    return false;
  }
  settle(session);
  ++away.row;
  away.returning = true;
  session.step = 0;
  timers_.arm(session, now_ns_ + pause_ns(*backoff, away.row, random_));
  return true;
}

// The plan takes a user the connection that it has. Nothing of it is the target's failure, and a request that
// waits for its reply is none.
void Worker::cut(Session& session) {
  now_ns_ = network_.now_ns();
  count(session, Counter::disconnected);
  away_[slab_.slot_of(session)].cut = true;
  if (session.state == State::awaiting_reply || session.state == State::awaiting_pong)
    set_state(session, State::pacing);
  constexpr std::uint16_t kGoingAway = 1001;
  if (program_.plan.stages[stage_].disconnect->by_close)
    begin_close(session, kGoingAway, {});
  else
    connection_ended(session);
}

bool Worker::was_cut(const Session& session) const noexcept {
  return !away_.empty() && away_[slab_.slot_of(session)].cut;
}

// The user had a connection, and it has ended now without the script's doing.
void Worker::cut_off(const Session& session) noexcept {
  if (away_.empty()) return;
  Away& away = away_[slab_.slot_of(session)];
  away.cut = false;
  const std::optional<Backoff>& backoff = program_.plan.scenarios[session.scenario].reconnect;
  if (!backoff) return;
  if (now_ns_ - session.begun_ns >= backoff->reset_after_ns) away.row = 0;
  away.since_ns = now_ns_;
  away.tries = 0;
}

void Worker::attempt_ended(const Session& session, bool opened) noexcept {
  if (away_.empty()) return;
  Away& away = away_[slab_.slot_of(session)];
  if (std::exchange(away.returning, false)) {
    count(session, Counter::reconnects);
    if (opened) count(session, Counter::reconnected);
  }
  if (away.since_ns == 0) return;
  if (away.tries < UINT16_MAX) ++away.tries;
  if (!opened) return;
  recorder_.time(session.scenario, Time::recovery, now_ns_ - away.since_ns);
  recorder_.came_back(session.scenario, away.tries);
  away.since_ns = 0;
}

}  // namespace onrush
