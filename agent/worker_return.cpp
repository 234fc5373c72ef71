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

// The user had a connection, and it has ended now without the script's doing.
void Worker::cut_off(const Session& session) noexcept {
  const std::optional<Backoff>& backoff = program_.plan.scenarios[session.scenario].reconnect;
  if (!backoff) return;
  Away& away = away_[slab_.slot_of(session)];
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
  ++away.tries;
  if (!opened) return;
  recorder_.time(session.scenario, Time::recovery, now_ns_ - away.since_ns);
  away.since_ns = 0;
}

}  // namespace onrush
