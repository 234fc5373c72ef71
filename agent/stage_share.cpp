#include "agent/stage_share.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "core/permutation.h"

namespace onrush {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

std::int64_t nanoseconds(double s) { return std::llround(s * 1e9); }

std::uint64_t size_of(const UserChange& change) {
  return std::max(change.from, change.to) - std::min(change.from, change.to);
}

// Item k starts user from + k, or ends user from - 1 - k.
std::uint64_t user_of(const UserChange& change, std::uint64_t k) {
  return change.to > change.from ? change.from + k : change.from - 1 - k;
}

std::int64_t due_of(const UserChange& change, std::uint64_t k) {
  const double part = static_cast<double>(k) / static_cast<double>(size_of(change));
  return change.over_s > 0 ? nanoseconds(part * change.over_s) : 0;
}

// The first item of the share: (base + user) % count == index; then every count-th.
std::uint64_t first_item(const UserChange& change, std::uint64_t base, Share share) {
  const std::uint64_t at_first = (base + user_of(change, 0)) % share.count;
  return change.to > change.from ? (share.index + share.count - at_first) % share.count
                                 : (at_first + share.count - share.index) % share.count;
}

std::uint64_t items_of_share(std::uint64_t size, std::uint64_t first, Share share) {
  return size > first ? (size - first - 1) / share.count + 1 : 0;
}

}  // namespace

StageShare::StageShare(const Program& program, Share share)
    : program_{program}, share_{share}, streams_{program.plan.scenarios.size() + 1}, begun_(streams_) {
  cursors_.reserve(program.plan.scenarios.size() + 2 * streams_ + 1);
  for (std::uint32_t stage = 0; stage < program.stages.size(); ++stage) add_cuts(stage);
}

// Chosen before the run: every share goes through all that the stage cuts, and keeps its own.
void StageShare::add_cuts(std::uint32_t stage) {
  std::vector<Cut>& cuts = cuts_.emplace_back();
  for (const UserCut& cut : program_.stages[stage].cuts)
    for (std::uint64_t k = 0; k < cut.count; ++k) {
      const std::uint64_t user = permuted(k, cut.users, cut.key);
      if ((program_.user_bases[cut.scenario] + user) % share_.count != share_.index) continue;
      const double part = static_cast<double>(k) / static_cast<double>(cut.count);
      cuts.push_back({nanoseconds(part * cut.over_s), cut.scenario, static_cast<std::uint32_t>(user)});
    }
  std::sort(cuts.begin(), cuts.end(), [](const Cut& a, const Cut& b) {
    return std::tuple{a.due_ns, a.scenario, a.user} < std::tuple{b.due_ns, b.scenario, b.user};
  });
}

void StageShare::begin(std::uint32_t stage, std::int64_t begin_ns) {
  stage_ = stage;
  begin_ns_ = begin_ns;
  changes_ = 0;
  cursors_.clear();
  for (const UserChange& change : program_.stages[stage].users) add_users(change);
  for (const ArrivalChange& change : program_.stages[stage].arrivals) add_arrivals(change);
  if (cuts_[stage].empty()) return;
  Cursor cursor;
  cursor.kind = DueItem::Kind::cut_user;
  cursor.begin_ns = begin_ns;
  set_due(cursor);
  cursors_.push_back(cursor);
}

void StageShare::add_users(const UserChange& change) {
  Cursor cursor;
  cursor.kind = change.to > change.from ? DueItem::Kind::start_user : DueItem::Kind::end_user;
  cursor.scenario = change.scenario;
  cursor.users = change;
  cursor.item = first_item(change, program_.user_bases[change.scenario], share_);
  cursor.begin_ns = begin_ns_;
  changes_ += items_of_share(size_of(change), cursor.item, share_);
  set_due(cursor);
  cursors_.push_back(cursor);
}

void StageShare::add_arrivals(const ArrivalChange& change) {
  if (change.poisson) return add_poisson(change);
  const StageTimeline& stage = program_.stages[stage_];
  const double begun = begun_[change.stream];
  double after_ramp = begun;
  if (change.over_s > 0) {
    const Ramp ramp{change.from_per_s, change.to_per_s, change.over_s};
    add_phase(change.stream, ramp, begun, begin_ns_);
    after_ramp = Schedule{ramp, begun, share_}.ended();
  }
  const double rest_s = stage.end == StageEnd::after_length ? stage.length_s - change.over_s
                                                            : std::numeric_limits<double>::infinity();
  if (change.to_per_s > 0 && rest_s > 0)
    add_phase(change.stream, {change.to_per_s, change.to_per_s, rest_s}, after_ramp,
              begin_ns_ + nanoseconds(change.over_s));
}

void StageShare::add_poisson(const ArrivalChange& change) {
  const StageTimeline& stage = program_.stages[stage_];
  const double length_s =
      stage.end == StageEnd::after_length ? stage.length_s : std::numeric_limits<double>::infinity();
  Cursor cursor;
  cursor.kind = DueItem::Kind::arrival;
  cursor.stream = change.stream;
  cursor.at_random.emplace(Pace{change.from_per_s, change.to_per_s, change.over_s, length_s},
                           items_before(begun_[change.stream]), change.key, share_);
  cursor.begin_ns = begin_ns_;
  cursor.over = cursor.at_random->over();
  cursor.item = cursor.at_random->number();
  set_due(cursor);
  cursors_.push_back(cursor);
}

void StageShare::add_phase(std::uint32_t stream, Ramp ramp, double begun, std::int64_t begin_ns) {
  Cursor cursor;
  cursor.kind = DueItem::Kind::arrival;
  cursor.stream = stream;
  cursor.arrivals.emplace(ramp, begun, share_);
  cursor.begin_ns = begin_ns;
  const auto first = cursor.arrivals->first();
  cursor.over = !first;
  cursor.item = first.value_or(0);
  set_due(cursor);
  cursors_.push_back(cursor);
}

// A stage that ends by the coordinator's word may end within a ramp; the integral up to there is what counts.
void StageShare::end(std::int64_t end_ns) {
  const StageTimeline& stage = program_.stages[stage_];
  const double length_s =
      stage.end == StageEnd::after_length ? stage.length_s : static_cast<double>(end_ns - begin_ns_) / 1e9;
  for (const ArrivalChange& change : stage.arrivals) {
    double& begun = begun_[change.stream];
    if (change.poisson) {
      for (Cursor& cursor : cursors_)
        if (cursor.at_random && cursor.stream == change.stream)
          begun = static_cast<double>(cursor.at_random->number_at(length_s));
      continue;
    }
    if (change.over_s > 0)
      begun += arrivals_until({change.from_per_s, change.to_per_s, change.over_s},
                              std::min(length_s, change.over_s));
    if (length_s > change.over_s && change.to_per_s > 0)
      begun += change.to_per_s * (length_s - change.over_s);
  }
}

void StageShare::set_due(Cursor& cursor) noexcept {
  cursor.due_ns = kNever;
  if (cursor.kind == DueItem::Kind::cut_user) {
    cursor.over = cursor.item >= cuts_[stage_].size();
    if (!cursor.over) cursor.due_ns = cursor.begin_ns + cuts_[stage_][cursor.item].due_ns;
  } else if (cursor.kind != DueItem::Kind::arrival) {
    cursor.over = cursor.item >= size_of(cursor.users);
    if (!cursor.over) cursor.due_ns = cursor.begin_ns + due_of(cursor.users, cursor.item);
  } else if (!cursor.over) {
    const std::int64_t due =
        cursor.at_random ? cursor.at_random->due_ns() : cursor.arrivals->due_ns(cursor.item);
    cursor.due_ns = due < kNever - cursor.begin_ns ? cursor.begin_ns + due : kNever;
  }
}

std::optional<DueItem> StageShare::next(std::int64_t limit_ns) const noexcept {
  const Cursor* earliest = nullptr;
  for (const Cursor& cursor : cursors_)
    if (!cursor.held && cursor.due_ns < limit_ns && (earliest == nullptr || cursor.due_ns < earliest->due_ns))
      earliest = &cursor;
  if (earliest == nullptr) return std::nullopt;
  DueItem item{earliest->kind, static_cast<std::uint32_t>(earliest - cursors_.data()), earliest->scenario, 0,
               earliest->due_ns};
  if (earliest->kind == DueItem::Kind::cut_user) {
    item.scenario = cuts_[stage_][earliest->item].scenario;
    item.number = cuts_[stage_][earliest->item].user;
  } else if (earliest->kind != DueItem::Kind::arrival) {
    item.number = user_of(earliest->users, earliest->item);
  } else {
    item.scenario = earliest->stream == 0 ? program_.mix.scenario(earliest->item) : earliest->stream - 1;
    item.number = program_.all_users + 1 + earliest->item * streams_ + earliest->stream;
  }
  return item;
}

void StageShare::taken(const DueItem& item) noexcept {
  Cursor& cursor = cursors_[item.cursor];
  if (cursor.kind == DueItem::Kind::cut_user) {
    ++cursor.item;
  } else if (cursor.kind != DueItem::Kind::arrival) {
    cursor.item += share_.count;
  } else if (cursor.at_random) {
    cursor.at_random->next();
    cursor.over = cursor.at_random->over();
    cursor.item = cursor.at_random->number();
  } else {
    const auto after = cursor.arrivals->after(cursor.item);
    cursor.over = !after;
    cursor.item = after.value_or(0);
  }
  set_due(cursor);
}

void StageShare::release() noexcept {
  for (Cursor& cursor : cursors_) cursor.held = false;
}

std::int64_t StageShare::next_due_ns() const noexcept {
  std::int64_t due = kNever;
  for (const Cursor& cursor : cursors_)
    if (!cursor.held) due = std::min(due, cursor.due_ns);
  return due;
}

std::uint64_t StageShare::wanted(std::int64_t now_ns) const noexcept {
  const StageTimeline& stage = program_.stages[stage_];
  std::uint64_t wanted = 0;
  for (std::uint32_t s = 0; s < stage.users_at_end.size(); ++s) {
    std::uint64_t users = stage.users_at_end[s];
    for (const UserChange& change : stage.users) {
      if (change.scenario != s || change.over_s <= 0) continue;
      const double passed =
          std::clamp(static_cast<double>(now_ns - begin_ns_) / 1e9 / change.over_s, 0.0, 1.0);
      const auto done = static_cast<std::uint64_t>(std::ceil(passed * static_cast<double>(size_of(change))));
      users = change.to > change.from ? change.from + done : change.from - done;
    }
    const std::uint64_t first = share_of_users(program_, s, share_).first;
    wanted += items_of_share(users, first, share_);
  }
  return wanted;
}

bool StageShare::arrivals_over() const noexcept {
  return std::all_of(cursors_.begin(), cursors_.end(),
                     [](const Cursor& c) { return c.kind != DueItem::Kind::arrival || c.over; });
}

}  // namespace onrush
