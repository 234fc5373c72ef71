// What the timeline wants of the worker: users begun and ended, sessions that arrive, and the closing at the
// end.
#include <algorithm>
#include <cmath>
#include <limits>

#include "agent/worker.h"

namespace onrush {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
// What was due in a stage but not started this long after its end never will be: arrivals are counted as
// dropped, users as cancelled. Shorter lateness (a long turn) is caught up.
constexpr std::int64_t kCatchUp_ns = 1'000'000'000;

}  // namespace

void Worker::follow_timeline() {
  if (course_ == Course::before) {
    if (stop_asked_) return begin_closing(now_ns_);
    if (now_ns_ < start_ns_) return;
    course_ = Course::running;
    cpu_ns_ = network_.thread_cpu_ns();
    wait_ = network_.thread_wait();
    turn_max_ns_ = 0;
    keep_alive_.begin(start_ns_);
    enter_stage(0, start_ns_);
  }
  while (course_ == Course::running) {
    // A stop is an end like any other: it may take turns to count what was due before it.
    std::int64_t& end = stage_ends_ns_[stage_];
    if (stop_asked_) end = std::min(now_ns_, end);
    const std::int64_t end_ns = end;
    const std::int64_t at_ns = now_ns_;  // to start what is due takes time, in which the stage may end
    if (!dropping_ && !start_due(std::min(at_ns + 1, end_ns))) {
      more_due_ = true;
      if (!stop_asked_ && (end_ns == kNever || now_ns_ < end_ns + kCatchUp_ns)) return;
    }
    if (at_ns < end_ns) return note_settled();
    dropping_ = !drop_due(end_ns);
    if (dropping_) {
      more_due_ = true;
      return;
    }
    leave_stage(end_ns);
    if (stop_asked_ || stage_ + 1 == program_.stages.size())
      begin_closing(end_ns);
    else
      enter_stage(stage_ + 1, end_ns);
  }
  if (course_ == Course::closing) close_due();
}

void Worker::enter_stage(std::uint32_t stage, std::int64_t begin_ns) {
  stage_ = stage;
  const StageTimeline& timeline = program_.stages[stage];
  if (timeline.end == StageEnd::after_length)
    stage_ends_ns_[stage] = begin_ns + std::llround(timeline.length_s * 1e9);
  recorder_.enter_stage(stage);
  stages_.begin(stage, begin_ns);
  unsettled_ = stages_.changes();
}

void Worker::leave_stage(std::int64_t end_ns) {
  stages_.end(end_ns);
  settled_.store(stage_ + 1, std::memory_order_release);
}

// Starts what is due before `limit_ns`, within the turn's budget. False if there may be more.
bool Worker::start_due(std::int64_t limit_ns) {
  stages_.release();
  for (std::uint32_t started = 0; started < kStartsPerTurn; ++started) {
    const std::optional<DueItem> item = stages_.next(limit_ns);
    if (!item) return true;
    if (start_item(*item))
      stages_.taken(*item);
    else
      stages_.hold(*item);
  }
  return !stages_.next(limit_ns);
}

// False if there is no room for it yet: sessions that are being closed still hold theirs.
bool Worker::start_item(const DueItem& item) {
  switch (item.kind) {
    case DueItem::Kind::start_user: return start_session(item.scenario, item.number, item.due_ns, false);
    case DueItem::Kind::end_user: end_user(item.scenario, item.number); return true;
    case DueItem::Kind::cut_user: cut_user(item.scenario, item.number); return true;
    case DueItem::Kind::arrival:
      recorder_.count(item.scenario, Counter::arrivals);
      if (arrivals_ >= settings_.arrival_capacity ||
          !start_session(item.scenario, item.number, item.due_ns, true))
        recorder_.count(item.scenario, Counter::dropped_arrivals);
      return true;
  }
  return true;
}

// Too late to start, but not to be counted, within the turn's budget. False if there may be more.
bool Worker::drop_due(std::int64_t limit_ns) {
  stages_.release();
  for (std::uint32_t dropped = 0; dropped < kDropsPerTurn; ++dropped) {
    const std::optional<DueItem> item = stages_.next(limit_ns);
    if (!item) return true;
    stages_.taken(*item);
    if (item->kind == DueItem::Kind::end_user) {
      end_user(item->scenario, item->number);
    } else if (item->kind == DueItem::Kind::cut_user) {
      cut_user(item->scenario, item->number);
    } else if (item->kind == DueItem::Kind::arrival) {
      recorder_.count(item->scenario, Counter::arrivals);
      recorder_.count(item->scenario, Counter::dropped_arrivals);
    } else {
      recorder_.count(item->scenario, Counter::attempted);
      recorder_.count(item->scenario, Counter::failed);
      recorder_.count(item->scenario, Counter::cancelled);
      recorder_.time(item->scenario, Time::failed_handshake, 0);
      recorder_.failure(item->scenario, {Phase::connect, Cause::cancelled, 0}, run_us(now_ns_), {});
    }
  }
  return !stages_.next(limit_ns);
}

SlotIndex& Worker::user_slot(std::uint32_t scenario, std::uint64_t user) noexcept {
  const std::uint64_t first = share_of_users(program_, scenario, settings_.share).first;
  return users_[scenario][(user - first) / settings_.share.count];
}

void Worker::end_user(std::uint32_t scenario, std::uint64_t user) {
  const SlotIndex slot = user_slot(scenario, user);
  if (slot == 0) {  // away already: its session has failed or was lost
    if (unsettled_ > 0) --unsettled_;
    return;
  }
  Session& session = slab_.at(slot);
  session.set(kUnsettled);
  session.settling_stage = static_cast<std::uint16_t>(stage_);
  end_session(session);
}

// Whoever has no connection has none to lose.
void Worker::cut_user(std::uint32_t scenario, std::uint64_t user) {
  const SlotIndex slot = user_slot(scenario, user);
  if (slot == 0) return;
  Session& session = slab_.at(slot);
  if (is_open(session.state)) cut(session);
}

void Worker::settle(Session& session) noexcept {
  if (!session.has(kUnsettled)) return;
  session.clear(kUnsettled);
  if (session.settling_stage == stage_ && unsettled_ > 0) --unsettled_;
}

void Worker::note_settled() noexcept {
  const StageEnd end = program_.stages[stage_].end;
  if (end == StageEnd::after_length || unsettled_ != 0) return;
  if (end == StageEnd::when_drained && (arrivals_ != 0 || !stages_.arrivals_over())) return;
  settled_.store(stage_ + 1, std::memory_order_release);
}

void Worker::begin_closing(std::int64_t at_ns) {
  course_ = Course::closing;
  closing_begin_ns_ = at_ns;
}

// Session k of this share is due at (k * count + index) / kClosesPerSecond after the end.
std::int64_t Worker::next_close_ns() const noexcept {
  if (close_cursor_ >= slab_.touched()) return kNever;
  const double place = static_cast<double>(closes_begun_) * settings_.share.count + settings_.share.index;
  return closing_begin_ns_ + std::llround(place / kClosesPerSecond * 1e9);
}

void Worker::close_due() {
  for (std::uint32_t closed = 0; next_close_ns() <= now_ns_;) {
    if (closed == kClosesPerTurn) {
      more_due_ = true;
      return;
    }
    Session& session = slab_.at(++close_cursor_);
    if (session.state == State::idle || session.has(kEnding)) continue;
    end_session(session);
    ++closed;
    ++closes_begun_;
  }
}

}  // namespace onrush
