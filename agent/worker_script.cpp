// Steps: each session goes on in its script until it has to wait for something.
//
// `ready_ns` is the instant at which the step before was done: when a reply came, or when a think time had
// passed, not when the worker got round to it. What lies between it and the sending is our own lateness.
#include <algorithm>
#include <limits>

#include "agent/worker.h"
#include "core/think_time.h"

namespace onrush {
namespace {

constexpr std::uint32_t kEndless = std::numeric_limits<std::uint32_t>::max();

const RepeatStep& repeat_of(const ProgramStep& step) {
  return std::get<RepeatStep>(step.instruction.step->what);
}

// Iterations due before `for` has passed: n * every < for.
std::uint64_t due_within(const RepeatStep& repeat) {
  return static_cast<std::uint64_t>((*repeat.for_ns + *repeat.every_ns - 1) / *repeat.every_ns);
}

std::uint32_t iterations(const RepeatStep& repeat) {
  std::uint64_t count = repeat.times ? *repeat.times : kEndless;
  if (repeat.every_ns && repeat.for_ns) count = std::min(count, due_within(repeat));
  if (repeat.for_ns && *repeat.for_ns <= 0) count = 0;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, kEndless));
}

}  // namespace

void Worker::run(Session& session, std::int64_t ready_ns) {
  const SocketToken token = token_of(session);
  for (std::uint32_t steps = 0; steps < kStepsPerRun; ++steps) {
    if (!run_step(session, step_of(session), ready_ns)) return;
    if (slab_.find(token.slot, token.generation) != &session) return;
  }
  // A script that never waits goes on in the next turn, so that others have theirs.
  wait_until(session, State::pacing, ready_ns);
}

// False if the session waits or has ended.
bool Worker::run_step(Session& session, const ProgramStep& step, std::int64_t& ready_ns) {
  const Op op = step.instruction.op;
  const bool talks = op == Op::send || op == Op::request || op == Op::listen || op == Op::expect ||
                     op == Op::ping || op == Op::subscribe || op == Op::unsubscribe || op == Op::operate;
  if (talks && session.fd == -1) {  // a script that talks before it connects: its user has nothing to do
    finish_session(session, false);
    return false;
  }
  switch (op) {
    case Op::connect:
      if (session.fd == -1) return connect(session, connect_of(*step.instruction.step), ready_ns), false;
      ++session.step;
      return true;
    case Op::send:
    case Op::request: return run_message(session, step, ready_ns);
    case Op::subscribe:
    case Op::unsubscribe:
    case Op::operate: return run_graphql(session, step, ready_ns);
    case Op::listen: return begin_listening(session, step, ready_ns), false;
    case Op::think: {
      ++session.step;
      ready_ns += draw(std::get<ThinkStep>(step.instruction.step->what).time, random_);
      if (ready_ns <= now_ns_) return true;
      return wait_until(session, State::thinking, ready_ns), false;
    }
    case Op::repeat_begin: return begin_repeat(session, step, ready_ns);
    case Op::repeat_end: return end_repeat(session, step, ready_ns);
    case Op::close: {
      const CloseStep& close = close_of(*step.instruction.step);
      ++session.step;
      if (session.fd == -1) return true;
      return begin_close(session, close.code, close.reason), false;
    }
    case Op::drop:
      ++session.step;
      if (session.fd == -1) return true;
      return connection_ended(session), false;
    case Op::expect: return begin_expecting(session, step), false;
    case Op::ping: return begin_ping(session, step), false;
    case Op::log: ++session.step; return log(session, std::get<LogStep>(step.instruction.step->what)), true;
    case Op::choose: return choose(session, step), true;
    case Op::set: {
      const Cause lacks = keep(session, step, {});
      if (lacks != Cause::none) note_failure(session, {Phase::request, lacks, 0});
      ++session.step;
      return true;
    }
    case Op::branch:
    case Op::jump: session.step = static_cast<std::uint16_t>(step.instruction.jump); return true;
    case Op::end: return script_ended(session), false;
  }
  return false;
}

void Worker::wait_until(Session& session, State state, std::int64_t deadline_ns) {
  set_state(session, session.fd == -1 ? State::waiting : state);
  timers_.arm(session, deadline_ns);
}

bool Worker::run_message(Session& session, const ProgramStep& step, std::int64_t& ready_ns) {
  if (session.unsent != 0) {  // the socket takes no more: goes on here when it does
    set_state(session, State::flushing);
    return false;
  }
  const std::int64_t due_ns = step.instruction.paced ? session.repeat_ns[step.due_depth] : ready_ns;
  now_ns_ = network_.now_ns();
  recorder_.time(session.scenario, Time::send_lag, now_ns_ - std::max(due_ns, ready_ns));
  session.times = {due_ns, now_ns_};
  ready_ns = now_ns_;
  ++session.sequence;
  count(session, Counter::messages_sent);
  if (step.instruction.op == Op::send) {
    if (step.instruction.paced) recorder_.time(session.scenario, Time::sending, now_ns_ - due_ns);
    ++session.step;
    return send_message(session, std::get<SendStep>(step.instruction.step->what).message);
  }
  const auto& request = std::get<RequestStep>(step.instruction.step->what);
  wait_until(session, State::awaiting_reply, now_ns_ + step.timeout_ns);
  [[maybe_unused]] const bool alive = send_message(session, request.message);
  return false;
}

bool Worker::begin_repeat(Session& session, const ProgramStep& step, std::int64_t ready_ns) {
  const RepeatStep& repeat = repeat_of(step);
  const std::uint32_t count = iterations(repeat);
  const std::size_t depth = step.instruction.depth;
  session.repeat_left[depth] = count;
  session.repeat_ns[depth] = ready_ns + (repeat.every_ns ? 0 : repeat.for_ns.value_or(0));
  session.step = static_cast<std::uint16_t>(count == 0 ? step.instruction.jump : session.step + 1u);
  return true;
}

// Paced iterations keep their due times however late they run: n is due at begin + n * every, none is left
// out.
bool Worker::end_repeat(Session& session, const ProgramStep& step, std::int64_t& ready_ns) {
  const RepeatStep& repeat = repeat_of(step);
  const std::size_t depth = step.instruction.depth;
  std::uint32_t& left = session.repeat_left[depth];
  std::int64_t& at_ns = session.repeat_ns[depth];
  if (left != kEndless) --left;
  const bool time_left = repeat.every_ns || !repeat.for_ns || ready_ns < at_ns;
  if (repeat.every_ns) at_ns += *repeat.every_ns;
  if (!repeat.until.empty() && is_met(session, repeat.until)) return ++session.step, true;
  if (left != 0 && time_left) {
    session.step = static_cast<std::uint16_t>(step.instruction.jump + 1);
    return !repeat.every_ns || pace(session, at_ns, ready_ns);
  }
  ++session.step;
  if (!repeat.every_ns || !repeat.for_ns || iterations(repeat) != due_within(repeat)) return true;
  // All of the time has to pass, not only the iterations: the next would be due at begin + n * every >= begin
  // + for.
  const auto beyond_ns = static_cast<std::int64_t>(due_within(repeat)) * *repeat.every_ns - *repeat.for_ns;
  return pace(session, at_ns - beyond_ns, ready_ns);
}

bool Worker::pace(Session& session, std::int64_t due_ns, std::int64_t& ready_ns) {
  ready_ns = std::max(ready_ns, due_ns);
  if (due_ns <= now_ns_) return true;
  wait_until(session, State::pacing, due_ns);
  return false;
}

void Worker::script_ended(Session& session) {
  if (session.fd == -1) return finish_session(session, true);
  constexpr std::uint16_t kNormal = 1000;
  begin_close(session, kNormal, {});
}

}  // namespace onrush
