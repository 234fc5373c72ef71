#include "core/aggregate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace onrush {
namespace {

// Longer runs than a month are not foreseen; a second beyond it is a broken message.
constexpr std::uint32_t kMostSeconds = 31 * 24 * 3600;
// A silent agent is given up after seconds, so a larger leap is a broken message too. A coordinator that was
// itself stopped forgives silence: an hour of it.
constexpr std::uint32_t kMostSkipped = 3600;

std::uint64_t less(std::uint64_t from, std::uint64_t by) noexcept { return from > by ? from - by : 0; }

bool numbers_broadcasts(const Steps& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const Step& step) {
    if (const auto* listen = std::get_if<ListenStep>(&step.what)) return !listen->sequence.empty();
    if (const auto* repeat = std::get_if<RepeatStep>(&step.what)) return numbers_broadcasts(repeat->body);
    return false;
  });
}

std::uint32_t listening_scenarios(const Plan& plan) {
  return static_cast<std::uint32_t>(
      std::count_if(plan.scenarios.begin(), plan.scenarios.end(),
                    [](const Scenario& s) { return numbers_broadcasts(s.script); }));
}

}  // namespace

const char* name(AgentState state) noexcept {
  switch (state) {
    case AgentState::running: return "running";
    case AgentState::finished: return "finished";
    case AgentState::lost: return "lost";
  }
  return "unknown";
}

Aggregate::Aggregate(const Plan& plan, std::vector<StageTimeline> stages, std::vector<std::string> agents)
    : plan_{plan},
      stages_{std::move(stages)},
      spans_(stages_.size()),
      agents_(agents.size()),
      next_number_(agents.size(), 1),
      reported_(agents.size()),
      books_(agents.size(), std::vector<Counters>(plan.scenarios.size())),
      cells_(stages_.size() * plan.scenarios.size()),
      deliveries_{static_cast<std::uint32_t>(agents.size()),
                  static_cast<std::uint32_t>(plan.scenarios.size()), listening_scenarios(plan)},
      observed_(plan.observe.size()),
      watches_(plan.abort.size()),
      promises_(plan.thresholds.size()) {
  for (std::size_t i = 0; i < agents.size(); ++i) agents_[i].name = std::move(agents[i]);
  for (std::size_t i = 0; i < stages_.size(); ++i)
    for (const UserChange& change : stages_[i].users) spans_[i].change += less(change.to, change.from);
}

Expected<bool, std::string> Aggregate::apply(std::uint32_t agent, const Snapshot& snapshot) {
  if (agent >= agents_.size()) return Unexpected{fmt::format("there is no agent {}", agent)};
  if (agents_[agent].state == AgentState::lost || snapshot.number < next_number_[agent]) return false;
  if (std::string why = why_impossible(agent, snapshot); !why.empty()) return Unexpected{std::move(why)};
  next_number_[agent] = snapshot.number + 1;
  for (const Cell& cell : snapshot.cells) apply_cell(agent, snapshot.second, cell);
  for (const FailureCount& failure : snapshot.failures) count_failure(agent, failure);
  for (const BroadcastCount& count : snapshot.broadcasts) deliveries_.add(agent, snapshot.second, count);
  apply_state(agent, snapshot);
  close_whole_seconds();
  return true;
}

/// What is wrong with a snapshot, or "".
std::string Aggregate::why_impossible(std::uint32_t agent, const Snapshot& snapshot) const {
  if (agents_[agent].state == AgentState::finished) return "a snapshot after its last one";
  if (snapshot.number != next_number_[agent])
    return fmt::format("snapshot {} came where {} was due", snapshot.number, next_number_[agent]);
  const std::uint32_t before = reported_[agent].value_or(0);
  if (snapshot.second > kMostSeconds || snapshot.second < before || snapshot.second - before > kMostSkipped)
    return fmt::format("second {} after second {}", snapshot.second, before);
  const auto known = [&](std::uint32_t stage, std::uint32_t scenario) {
    return stage < stages_.size() && scenario < plan_.scenarios.size();
  };
  for (const Cell& cell : snapshot.cells) {
    if (!known(cell.stage, cell.scenario)) return "a cell of a stage or scenario that the plan does not have";
    if (std::string why = why_impossible(cell); !why.empty()) return why;
  }
  for (const FailureCount& failure : snapshot.failures)
    if (!known(failure.stage, failure.scenario) || failure.failure.cause > Cause::other ||
        failure.failure.phase > kLastPhase)
      return "a failure of a stage, scenario or kind that does not exist";
  for (const BroadcastCount& count : snapshot.broadcasts)
    if (!known(count.stage, count.scenario))
      return "a broadcast in a stage or scenario that the plan does not have";
  return "";
}

std::string Aggregate::why_impossible(const Cell& cell) const {
  std::uint32_t seen = 0;
  for (const TimeSamples& samples : cell.times) {
    const auto index = static_cast<std::size_t>(samples.time);
    if (index >= kTimes) return "samples of a time that does not exist";
    if ((seen >> index & 1) != 0)
      return fmt::format("samples of {} twice in one cell", describe(samples.time).name);
    seen |= 1U << index;
    if (const auto checked = Histogram::check_encoded(samples.v2, samples.exact); !checked)
      return fmt::format("{} of {}", checked.error(), describe(samples.time).name);
  }
  return "";
}

void Aggregate::apply_cell(std::uint32_t agent, std::uint32_t second, const Cell& cell) {
  Measured& whole = cells_[cell.stage * plan_.scenarios.size() + cell.scenario];
  Counters& book = books_[agent][cell.scenario];
  add(whole.counters, cell.counters);
  for (std::size_t i = 0; i < kTries; ++i) whole.tries[i] += cell.tries[i];
  add(book, cell.counters);
  add(agents_[agent].counters, cell.counters);
  const bool takes_samples = series_.count(second, cell.stage, cell.scenario, cell.counters);
  for (const TimeSamples& samples : cell.times) {
    scratch_.clear();
    const auto added = scratch_.add_encoded(samples.v2, samples.exact);
    ONRUSH_CHECK(added.has_value());  // checked before anything was applied
    whole.of(samples.time).add(scratch_);
    if (takes_samples) series_.sample(second, cell.stage, cell.scenario, samples.time, scratch_);
  }
}

void Aggregate::count_failure(std::uint32_t agent, const FailureCount& failure) {
  if (failure.count == 0) return;
  FailureKey key{failure.failure, agent, failure.stage, failure.scenario};
  if (failures_.size() >= kFailureKindsKept && failures_.count(key) == 0)
    key = {Failure{failure.failure.phase, Cause::other, 0}, agent, failure.stage, failure.scenario};
  const auto [place, is_new] = failures_.try_emplace(key);
  FailureTotal& total = place->second;
  if (is_new) {
    total = {std::get<0>(key), agent, failure.stage, failure.scenario, 0, failure.first_us,
             failure.last_us,  ""};
  }
  total.count += failure.count;
  total.first_us = std::min(total.first_us, failure.first_us);
  total.last_us = std::max(total.last_us, failure.last_us);
  show_more(total.sample, failure.sample);
}

void Aggregate::apply_state(std::uint32_t agent, const Snapshot& snapshot) {
  AgentRecord& record = agents_[agent];
  SeriesRow& row = series_.row(snapshot.second);
  const std::optional<std::uint32_t> before = std::exchange(reported_[agent], snapshot.second);
  const bool again = before == snapshot.second;  // what was left of its last second, in a snapshot of its own
  const Gauges taken_back = again ? record.gauges : Gauges{};
  const Gauges& now = snapshot.gauges;
  row.gauges.opening += now.opening - taken_back.opening;
  row.gauges.open += now.open - taken_back.open;
  row.gauges.closing += now.closing - taken_back.closing;
  row.gauges.listening += now.listening - taken_back.listening;
  row.gauges.wanted += now.wanted - taken_back.wanted;
  if (!again) ++row.agents;
  row.lag_p99_us = std::max(row.lag_p99_us, snapshot.health.lag_p99_us);
  if (snapshot.health.busiest_worker >= row.busiest_worker) {
    row.busiest_worker = snapshot.health.busiest_worker;
    row.busiest_agent = agent;
  }
  deliveries_.listening(agent, snapshot.second, now.listening);

  record.gauges = now;
  record.health = snapshot.health;
  record.open_max = std::max(record.open_max, now.open);
  record.memory_max_bytes = std::max(record.memory_max_bytes, snapshot.health.memory_bytes);
  record.busiest_worker_max = std::max(record.busiest_worker_max, snapshot.health.busiest_worker);
  if (snapshot.last) record.state = AgentState::finished;
  for (std::uint32_t second = before ? *before + 1 : snapshot.second; second < snapshot.second; ++second)
    grade(agent, second, {Grade::invalid, "nothing reported: the agent stood still"});
  Judgement judgement = judge(snapshot.health);
  if (!again || judgement.grade != Grade::valid) grade(agent, snapshot.second, std::move(judgement));
}

void Aggregate::grade(std::uint32_t agent, std::uint32_t second, Judgement judgement) {
  AgentRecord& record = agents_[agent];
  if (judgement.grade == Grade::valid) {
    ++record.valid_seconds;
    return;
  }
  ++(judgement.grade == Grade::suspect  ? record.suspect_seconds
     : record.state == AgentState::lost ? record.gap_seconds
                                        : record.invalid_seconds);
  suspect_seconds_.insert(second);
  SeriesRow& row = series_.row(second);
  row.worst = std::max(row.worst, judgement.grade);
  note_suspect({second, agent, std::move(judgement)});
}

// A hundred busy agents fill the list with SUSPECT seconds; the INVALID ones decide the verdict and must not
// miss their causes.
void Aggregate::note_suspect(SuspectSecond suspect) {
  if (suspects_.size() < kSuspectsKept) return suspects_.push_back(std::move(suspect));
  if (suspect.judgement.grade != Grade::invalid) return;
  while (replaced_ > 0 && suspects_[replaced_ - 1].judgement.grade == Grade::invalid) --replaced_;
  if (replaced_ > 0) suspects_[--replaced_] = std::move(suspect);
}

void Aggregate::agent_lost(std::uint32_t agent, std::int64_t at_us) {
  if (agent >= agents_.size() || agents_[agent].state != AgentState::running) return;
  AgentRecord& record = agents_[agent];
  record.state = AgentState::lost;
  record.lost_us = at_us;
  for (std::uint32_t s = 0; s < plan_.scenarios.size(); ++s) close_books(agent, s, at_us);
  record.gauges = {};
  const auto until = static_cast<std::uint32_t>(std::clamp<std::int64_t>(at_us / 1'000'000, 0, kMostSeconds));
  const std::uint32_t from = reported_[agent] ? *reported_[agent] + 1 : 0;
  for (std::uint32_t second = from; second <= until && second - from < kMostSkipped; ++second)
    grade(agent, second, {Grade::invalid, "gap: the agent was lost"});
  close_whole_seconds();
}

/// The users of a lost agent: what was open is closed and lost, what was under way has failed.
void Aggregate::close_books(std::uint32_t agent, std::uint32_t scenario, std::int64_t at_us) {
  const Counters& book = books_[agent][scenario];
  const auto of = [&](Counter counter) { return at(book, counter); };
  const std::uint64_t opening = less(of(Counter::attempted), of(Counter::opened) + of(Counter::failed));
  const std::uint64_t open = less(of(Counter::opened), of(Counter::closed));
  Cell closing{current_stage(), scenario, {}, {}, {}};
  at(closing.counters, Counter::failed) = opening;
  at(closing.counters, Counter::closed) = open;
  at(closing.counters, Counter::lost) = open;
  sessions_without_time_ += open;
  const auto second =
      static_cast<std::uint32_t>(std::clamp<std::int64_t>(at_us / 1'000'000, 0, kMostSeconds));
  if (opening + open > 0) apply_cell(agent, second, closing);
  const auto fail = [&](Phase phase, std::uint64_t count) {
    count_failure(agent, {{phase, Cause::agent_lost, 0}, closing.stage, scenario, count, at_us, at_us, ""});
  };
  fail(Phase::connect, opening);
  fail(Phase::open, open);
}

void Aggregate::stage_began(std::uint32_t stage, std::int64_t at_us) { spans_.at(stage).began_us = at_us; }

void Aggregate::stage_ended(std::uint32_t stage, std::int64_t at_us) { spans_.at(stage).ended_us = at_us; }

void Aggregate::observed(std::uint32_t index, std::uint32_t second, double cpu_s,
                         std::uint64_t memory_bytes) {
  observed_.at(index).push_back({second, cpu_s, memory_bytes});
}

/// A second is whole when every running agent has reported it; those that are over hold nothing up.
void Aggregate::close_whole_seconds() {
  std::optional<std::uint32_t> until;
  bool any_running = false;
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    if (agents_[i].state != AgentState::running) continue;
    if (!reported_[i]) return;
    until = any_running ? std::min(*until, *reported_[i]) : *reported_[i];
    any_running = true;
  }
  if (!any_running && !series_.rows().empty()) until = series_.rows().rbegin()->first;
  if (!until) return;
  series_.close_until(*until,
                      [this](const SeriesRow& row, const Series::ByCell& by_cell) { whole(row, by_cell); });
}

}  // namespace onrush
