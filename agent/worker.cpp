#include "agent/worker.h"

#include <algorithm>
#include <limits>

namespace onrush {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kSecond_ns = 1'000'000'000;
// How long a worker sleeps when nothing is known to be due.
constexpr std::int64_t kIdle_ns = kSecond_ns;
// How soon it tries again to hand over when the collector holds all portions.
constexpr std::int64_t kRetry_ns = 1'000'000;
constexpr std::uint32_t kReadyBuffers = 64;

// A time that ran out, as the detail of its failure.
std::uint32_t milliseconds(std::int64_t time_ns) {
  return static_cast<std::uint32_t>((time_ns + 500'000) / 1'000'000);
}

}  // namespace

Worker::Worker(const Program& program, const WorkerSettings& settings, std::vector<PortAllocator> ports,
               Network& network, std::unique_ptr<TlsLayer> tls)
    : program_{program},
      settings_{settings},
      network_{network},
      ports_{std::move(ports)},
      destinations_{program, settings.share.index, settings.capacity},
      tls_{std::move(tls)},
      slab_{settings.capacity},
      timers_{slab_, network.now_ns()},
      recorder_{static_cast<std::uint32_t>(program.plan.scenarios.size())},
      random_{program.plan.seed, settings.share.index},
      stages_{program, settings.share},
      json_{kMaxMessageBytes},
      captures_{program.plan, settings.capacity},
      unsent_{kReadyBuffers},
      partial_{kReadyBuffers},
      compression_{program.plan.connection.deflate ? settings.capacity : 0},
      feed_rows_{program, settings.agent, settings.share, settings.capacity + 1},
      keep_alive_{program.plan.connection.ping, settings.capacity},
      receive_(kReceiveBytes + kJsonPadding),
      start_ns_{kNever},
      stage_ends_ns_(program.stages.size(), kNever) {
  for (std::uint32_t s = 0; s < program.plan.scenarios.size(); ++s) {
    broadcasts_.emplace_back(s, settings.capacity);
    users_.emplace_back(share_of_users(program, s, settings.share).count);
    if (program.plan.scenarios[s].reconnect) away_.resize(settings.capacity + 1);
  }
  for (const StageTimeline& stage : program.stages)
    if (!stage.cuts.empty()) away_.resize(settings.capacity + 1);
  if (program.plan.connection.graphql)
    graphql_ = std::make_unique<GraphqlUsers>(settings.capacity, program.subscriptions);
  for (std::string* text : {&text_, &reply_text_, &frame_, &pong_, &pongs_}) text->reserve(4096);
  unread_.reserve(1024);
  reading_.reserve(1024);
  mail_.reserve(16);
}

void Worker::turn() {
  const std::int64_t wake_ns = std::max(next_wake_ns(), now_ns_);
  const std::span<const NetworkEvent> events = network_.wait(wake_ns);
  now_ns_ = network_.now_ns();
  // A worker that is woken too late shows it here even if nothing else was due.
  const std::int64_t begin_ns = std::min(now_ns_, wake_ns);
  more_due_ = false;
  handshakes_ = 0;
  open_mail();
  for (const NetworkEvent& event : events) handle(event);
  read_on();
  now_ns_ = network_.now_ns();
  follow_timeline();
  if (timers_.advance(now_ns_, kTimersPerTurn, [this](Session& session) { timer_due(session); }) ==
      kTimersPerTurn)
    more_due_ = true;
  if (keep_alive_.is_on()) keep_alive();
  now_ns_ = network_.now_ns();
  turn_max_ns_ = std::max(turn_max_ns_, now_ns_ - begin_ns);
  hand_over();
}

void Worker::handle(const NetworkEvent& event) {
  Session* session = slab_.find(event.token.slot, event.token.generation);
  if (session == nullptr || session->fd == -1) return;  // closed earlier in this turn
  const int descriptor = session->fd;
  if (event.writable) {
    if (session->state == State::connecting)
      connected(*session);
    else
      writable(*session);
    if (!still(*session, event.token, descriptor)) return;
  }
  // One that is queued is read when its turn comes, and only then: a flood makes an event a turn as well.
  if (event.readable && !session->has(kUnread) && !must_wait(*session)) readable(*session, event.ended);
}

void Worker::timer_due(Session& session) {
  const std::int64_t due_ns = session.wake_ns;
  switch (session.state) {
    case State::waiting:
      if (session.step != 0) return run(session, due_ns);
      // Nobody comes any more once the run is closing.
      return course_ == Course::closing ? finish_session(session, false) : begin_session(session, due_ns);
    case State::connecting:
    case State::securing:
    case State::tunnelling:
    case State::upgrading:
      return attempt_failed(
          session, {phase_of(session.state), Cause::timeout, milliseconds(due_ns - session.begun_ns)});
    case State::acknowledging: {
      // Which of the two deadlines it was: the ack's own, or that of the whole attempt.
      const bool own = due_ns == session.times.sent_ns + program_.plan.connection.graphql->ack_timeout_ns;
      const std::int64_t since_ns = own ? session.times.sent_ns : session.begun_ns;
      return attempt_failed(session, {Phase::ack, Cause::timeout, milliseconds(due_ns - since_ns)});
    }
    case State::thinking:
    case State::pacing: return run(session, due_ns);
    case State::awaiting_reply:
    case State::awaiting_pong: {
      const ProgramStep& step = step_of(session);
      note_failure(session,
                   {wait_of(step.instruction.op).phase, Cause::timeout, milliseconds(step.timeout_ns)});
      if (step.instruction.op == Op::operate && !give_up_operation(session)) return;
      [[fallthrough]];
    }
    case State::listening:
      leave_step(session);
      ++session.step;
      set_state(session, State::pacing);
      return run(session, due_ns);
    case State::closing:
      if (!session.has(kDeaf))
        note_failure(session, {Phase::close, Cause::timeout, milliseconds(kCloseWait_ns)});
      return connection_ended(session);
    case State::flushing:
    case State::idle: break;
  }
  ONRUSH_CHECK(false && "a timer in a state that has none");
}

// Sockets that had more than their budget of the turn before; whoever has still more goes to the end of the
// queue. Each is in it once.
void Worker::read_on() {
  if (unread_.empty()) return;
  std::swap(unread_, reading_);
  now_ns_ = network_.now_ns();
  const std::int64_t until_ns = now_ns_ + kReadOn_ns;
  std::size_t next = 0;
  for (; next < reading_.size() && now_ns_ < until_ns; ++next) {
    const SocketToken token = reading_[next];
    Session* session = slab_.find(token.slot, token.generation);
    if (session == nullptr || !session->has(kUnread)) continue;
    session->clear(kUnread);
    readable(*session, true);
  }
  unread_.insert(unread_.begin(), reading_.begin() + static_cast<std::ptrdiff_t>(next), reading_.end());
  reading_.clear();
}

void Worker::start(std::int64_t at_ns) { post({Letter::Kind::start, 0, at_ns}); }
void Worker::end_stage(std::uint32_t stage, std::int64_t at_ns) {
  post({Letter::Kind::end_stage, stage, at_ns});
}
void Worker::stop() { post({Letter::Kind::stop, 0, 0}); }

void Worker::post(Letter letter) {
  {
    const std::lock_guard lock{mail_mutex_};
    mail_.push_back(letter);
    has_mail_.store(true, std::memory_order_release);
  }
  network_.wake();
}

void Worker::open_mail() {
  if (!has_mail_.load(std::memory_order_acquire)) return;
  const std::lock_guard lock{mail_mutex_};
  for (const Letter& letter : mail_) {
    switch (letter.kind) {
      case Letter::Kind::start: start_ns_ = std::min(start_ns_, letter.at_ns); break;
      case Letter::Kind::stop: stop_asked_ = true; break;
      case Letter::Kind::end_stage:
        // Stages of a known length end by themselves, at the same instant everywhere.
        if (letter.stage < program_.stages.size() &&
            program_.stages[letter.stage].end != StageEnd::after_length)
          stage_ends_ns_[letter.stage] = std::min(stage_ends_ns_[letter.stage], letter.at_ns);
        break;
    }
  }
  mail_.clear();
  has_mail_.store(false, std::memory_order_release);
}

std::int64_t Worker::next_wake_ns() const noexcept {
  if (more_due_ || !unread_.empty() || has_mail_.load(std::memory_order_acquire)) return now_ns_;
  std::int64_t wake = std::min(now_ns_ + kIdle_ns, timers_.next_due_ns());
  if (course_ == Course::before) return std::min(wake, start_ns_);
  if (course_ == Course::over) return wake;
  const std::int64_t second_ends_ns =
      start_ns_ == kNever ? kNever : start_ns_ + (std::int64_t{second_} + 1) * kSecond_ns;
  wake = std::min(wake, second_ends_ns > now_ns_ ? second_ends_ns : now_ns_ + kRetry_ns);
  if (course_ == Course::running && keep_alive_.is_on()) wake = std::min(wake, keep_alive_.next_look_ns());
  if (course_ == Course::running) return std::min({wake, stages_.next_due_ns(), stage_ends_ns_[stage_]});
  if (slab_.used() == 0) return std::min(wake, now_ns_ + kRetry_ns);
  return std::min(wake, next_close_ns());
}

void Worker::hand_over() {
  if (course_ == Course::before || course_ == Course::over) return;
  const bool finished = course_ == Course::closing && slab_.used() == 0;
  const auto current =
      static_cast<std::uint32_t>(start_ns_ < now_ns_ ? (now_ns_ - start_ns_) / kSecond_ns : 0);
  if (!finished && current <= second_) return;
  const std::int64_t cpu_ns = network_.thread_cpu_ns();
  const Network::CoreWait wait = network_.thread_wait();
  const WorkerState state{gauges(), turn_max_ns_, cpu_ns - cpu_ns_, wait.ns - wait_.ns,
                          wait.times - wait_.times};
  if (!recorder_.hand_over(finished ? current : current - 1, state)) return;
  cpu_ns_ = cpu_ns;
  wait_ = wait;
  turn_max_ns_ = 0;
  second_ = current;
  if (!finished) return;
  course_ = Course::over;
  recorder_.finish();
  done_.store(true, std::memory_order_release);
}

Gauges Worker::gauges() const noexcept {
  Gauges gauges;
  gauges.opening = opening_;
  gauges.open = open_;
  gauges.closing = closing_;
  for (const Broadcasts& broadcasts : broadcasts_) gauges.listening += broadcasts.listeners();
  gauges.wanted = course_ == Course::running ? stages_.wanted(now_ns_) : 0;
  return gauges;
}

Worker::Held Worker::held() const noexcept {
  return {.sessions = slab_.used(),
          .timers = timers_.armed(),
          .unsent = unsent_.borrowed(),
          .partial = partial_.borrowed(),
          .contexts = compression_.contexts(),
          .unsent_bytes = unsent_.bytes(),
          .tls = tls_ == nullptr ? 0 : tls_->held()};
}

void Worker::set_state(Session& session, State state) noexcept {
  const auto gauge = [this](State s) -> std::uint32_t* {
    if (s >= State::connecting && s <= State::acknowledging) return &opening_;
    if (s == State::closing) return &closing_;
    return is_open(s) ? &open_ : nullptr;
  };
  if (std::uint32_t* before = gauge(session.state)) --*before;
  if (std::uint32_t* after = gauge(state)) ++*after;
  session.state = state;
}

// Two clocks are read one after the other; being interrupted between them would shift a whole second's
// delivery times.
std::int64_t Worker::measured_wall_offset_us() noexcept {
  std::int64_t best = 0;
  std::int64_t shortest_ns = kNever;
  for (int i = 0; i < 5 && shortest_ns > 1000; ++i) {
    const std::int64_t before_ns = network_.now_ns();
    const std::int64_t wall = network_.wall_us();
    const std::int64_t after_ns = network_.now_ns();
    if (after_ns - before_ns >= shortest_ns) continue;
    shortest_ns = after_ns - before_ns;
    best = wall - (before_ns + shortest_ns / 2) / 1000;
  }
  return best + wall_correction_us_.load(std::memory_order_relaxed);
}

std::int64_t Worker::wall_us(std::int64_t at_ns) noexcept {
  const std::int64_t second = at_ns / kSecond_ns;
  const auto kept = static_cast<std::int64_t>(wall_offsets_us_.size());
  if (second > wall_second_) {
    const std::int64_t offset_us = measured_wall_offset_us();
    for (std::int64_t s = std::max(wall_second_ + 1, second - kept + 1); s <= second; ++s)
      wall_offsets_us_[static_cast<std::size_t>(s % kept)] = offset_us;
    wall_second_ = second;
  }
  const std::int64_t known = second > wall_second_ - kept ? second : wall_second_;
  return at_ns / 1000 + wall_offsets_us_[static_cast<std::size_t>(known % kept)];
}

}  // namespace onrush
