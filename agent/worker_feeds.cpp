// Data: which values a user's texts stand for, and what a user means that finds no row.
#include "agent/worker.h"

namespace onrush {

TemplateValues Worker::values_of(const Session& session) noexcept {
  TemplateValues values{.user = session.user,
                        .sequence = session.sequence,
                        .now_us = wall_us(session.times.sent_ns),
                        .agent = settings_.agent.index + 1,
                        .seed = program_.plan.seed,
                        .feeds = program_.feeds,
                        .rows = feed_rows_.rows(slab_.slot_of(session))};
  if (captures_.any()) values.captures = captures_.values(slab_.slot_of(session), session.scenario);
  return values;
}

// While connecting no message of the user is under way, so chance follows the attempt.
TemplateValues Worker::values_of_attempt(const Session& session) noexcept {
  TemplateValues values = values_of(session);
  values.seed ^= mix(static_cast<std::uint64_t>(session.begun_ns));
  return values;
}

// False if there is no row for it: then the session does not begin.
bool Worker::take_rows(const Session& session, std::uint64_t user, bool arrival) {
  const auto used_up = feed_rows_.take(slab_.slot_of(session), session.scenario,
                                       arrival ? std::nullopt : std::optional{user}, session.user);
  if (used_up) without_row(session, *used_up);
  return !used_up;
}

void Worker::without_row(const Session& session, std::uint32_t feed) {
  count(session, Counter::without_row);
  if (program_.plan.data[feed].on_end == Feed::OnEnd::stop) return;
  count(session, Counter::attempted);
  count(session, Counter::failed);
  count(session, Counter::own_failed);
  recorder_.time(session.scenario, Time::failed_handshake, 0);
  note_failure(session, {Phase::connect, Cause::no_row, 0}, program_.plan.data[feed].name);
}

}  // namespace onrush
