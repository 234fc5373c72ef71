// The judging half of the aggregate: aborts second by second, thresholds, and the accounting identities.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/aggregate.h"

namespace onrush {
namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;

bool is_of_connecting(const Expression& expression) {
  const auto* figure = std::get_if<Figure>(&expression.subject);
  return figure != nullptr && (*figure == Figure::connect_pace || *figure == Figure::connect_rate);
}

bool is_rate_or_pace(const Expression& expression) {
  const auto* figure = std::get_if<Figure>(&expression.subject);
  return is_of_connecting(expression) ||
         (figure != nullptr && (*figure == Figure::send_rate || *figure == Figure::receive_rate));
}

/// Grows by events, so that one second of it says nothing by itself.
bool is_count(const Expression& expression) {
  if (const auto* statistic = std::get_if<TimeStatistic>(&expression.subject))
    return statistic->kind == TimeStatistic::Kind::count;
  const auto* figure = std::get_if<Figure>(&expression.subject);
  return std::holds_alternative<Counter>(expression.subject) ||
         (!expression.share && figure != nullptr &&
          (*figure == Figure::failed_connections || *figure == Figure::lost_connections ||
           *figure == Figure::failed_requests));
}

bool is_time(const Expression& expression) { return time_of(expression) && !is_count(expression); }

bool wants_less(const Expression& expression) {
  return expression.comparison == Comparison::less || expression.comparison == Comparison::less_equal;
}

double margin_of(const Expression& expression, double value) {
  switch (expression.comparison) {
    case Comparison::less:
    case Comparison::less_equal: return expression.value - value;
    case Comparison::greater:
    case Comparison::greater_equal: return value - expression.value;
    case Comparison::equal: return -std::fabs(value - expression.value);
    case Comparison::not_equal: return std::fabs(value - expression.value);
  }
  return 0;
}

}  // namespace

std::optional<std::uint32_t> Aggregate::scenario_of(const Expression& expression) const {
  for (std::uint32_t i = 0; i < plan_.scenarios.size(); ++i)
    if (plan_.scenarios[i].name == expression.scenario) return i;
  return std::nullopt;
}

std::optional<std::uint32_t> Aggregate::stage_of(const Expression& expression) const {
  for (std::uint32_t i = 0; i < stages_.size(); ++i)
    if (stages_[i].name == expression.stage) return i;
  return std::nullopt;
}

/// The second lies in the stage from its begin to its end, so that it is no stage's fault that little
/// happened.
bool Aggregate::is_whole_in(std::uint32_t stage, std::uint32_t second) const {
  const StageSpan& span = spans_[stage];
  const std::int64_t begin_us = std::int64_t{second} * 1'000'000;
  return span.began_us && begin_us >= *span.began_us &&
         (!span.ended_us || begin_us + 1'000'000 <= *span.ended_us);
}

/// Connections that the stage asked for in one second: its pace while users are to connect, else what
/// arrived.
double Aggregate::asked_in(std::uint32_t stage, const Counters& counters) const {
  if (spans_[stage].change > 0) return stages_[stage].asked_rate;
  return static_cast<double>(at(counters, Counter::arrivals));
}

/// Takes a whole second of a stage into its pace. True if the stage was connecting all through it: in its
/// last second, in which the change is done, less is connected than was asked for, and rightly.
bool Aggregate::note_pace(std::uint32_t stage, std::uint32_t second, const Counters& counters) {
  StageSpan& span = spans_[stage];
  // Whoever comes back was not asked for by the stage.
  span.settled +=
      at(counters, Counter::opened) + at(counters, Counter::failed) - at(counters, Counter::reconnects);
  const double asked = asked_in(stage, counters);
  if (!is_whole_in(stage, second) || !(asked > 0)) return false;
  if (span.change > 0 && span.settled >= span.change) return false;
  ++span.connecting_seconds;
  span.opened_of_asked += at(counters, Counter::opened) - at(counters, Counter::reconnected);
  span.asked += asked;
  return true;
}

void Aggregate::whole(const SeriesRow& row, const Series::ByCell& by_cell) {
  std::map<std::uint32_t, Counters> by_stage;
  for (const auto& [cell, measured] : by_cell) add(by_stage[cell.first], measured.counters);
  std::set<std::uint32_t> connecting;
  for (std::uint32_t stage = 0; stage < stages_.size(); ++stage) {
    const auto found = by_stage.find(stage);
    // A stage in which nothing at all happened for a second may still have been asked to connect.
    if (found == by_stage.end() && !is_whole_in(stage, row.second)) continue;
    if (note_pace(stage, row.second, found == by_stage.end() ? Counters{} : found->second))
      connecting.insert(stage);
  }
  for (std::size_t i = 0; i < promises_.size(); ++i) watch_promise(i, row, by_cell, connecting);
  for (std::size_t i = 0; i < watches_.size() && !aborted_; ++i) watch_abort(i, row, by_cell, connecting);
}

bool Aggregate::is_judged(const Expression& expression, bool by_second, std::uint32_t second,
                          const std::set<std::uint32_t>& connecting) const {
  const std::optional<std::uint32_t> stage = stage_of(expression);
  if (stage && !(by_second ? is_whole_in(*stage, second) : spans_[*stage].began_us.has_value())) return false;
  if (!is_of_connecting(expression)) return true;
  return stage ? connecting.count(*stage) > 0 : !connecting.empty();
}

/// With `for`, and for rates, each second is judged by itself; without, everything so far.
void Aggregate::watch_abort(std::size_t index, const SeriesRow& row, const Series::ByCell& by_cell,
                            const std::set<std::uint32_t>& connecting) {
  const Expression& expression = plan_.abort[index];
  const bool by_second = expression.for_ns > 0 || is_rate_or_pace(expression);
  AbortWatch& watch = watches_[index];
  std::optional<double> value;
  if (is_judged(expression, by_second, row.second, connecting))
    value = value_of(expression, by_second ? in_second(expression, by_cell, connecting) : so_far(expression));
  watch.held_s = holds(expression, value) ? watch.held_s + 1 : 0;
  const std::int64_t needed = std::max<std::int64_t>(1, (expression.for_ns + kSecond_ns - 1) / kSecond_ns);
  if (watch.held_s < needed) return;
  aborted_ =
      fmt::format("{} ({} in second {})", expression.text, describe_value(expression, value), row.second);
}

/// A count that may only be so large is broken when it is larger, so everything so far tells the second; one
/// that has to grow is broken by no single second. All else is judged by each second alone, and one without
/// samples says nothing.
void Aggregate::watch_promise(std::size_t index, const SeriesRow& row, const Series::ByCell& by_cell,
                              const std::set<std::uint32_t>& connecting) {
  const Expression& expression = plan_.thresholds[index];
  PromiseWatch& watch = promises_[index];
  if (watch.first_failed_s && expression.for_ns == 0) return;
  const bool by_second = expression.for_ns > 0 || !is_count(expression);
  const bool bounded = wants_less(expression) || expression.comparison == Comparison::equal;
  if (!by_second && !bounded) return;
  // Copies under way when a second ends are no gap.
  const auto* figure = std::get_if<Figure>(&expression.subject);
  if (expression.for_ns == 0 && figure != nullptr && *figure == Figure::reach) return;
  if (!is_judged(expression, by_second, row.second, connecting)) return;
  const std::optional<double> value =
      value_of(expression, by_second ? in_second(expression, by_cell, connecting) : so_far(expression));
  if (!value) return;
  watch.judged = true;
  if (!watch.worst || margin_of(expression, *value) < margin_of(expression, *watch.worst))
    watch.worst = value;
  const bool grows_to_it = !by_second && expression.comparison == Comparison::equal;
  if (holds(expression, value) || (grows_to_it && *value <= expression.value)) {
    watch.broken_s = 0;
    return;
  }
  if (watch.broken_s++ == 0) watch.since = row.second;
  const std::int64_t needed = std::max<std::int64_t>(1, (expression.for_ns + kSecond_ns - 1) / kSecond_ns);
  if (watch.broken_s >= needed && !watch.first_failed_s) watch.first_failed_s = watch.since;
}

Evidence Aggregate::in_second(const Expression& expression, const Series::ByCell& by_cell,
                              const std::set<std::uint32_t>& connecting) const {
  const std::optional<std::uint32_t> only = stage_of(expression);
  const std::optional<std::uint32_t> scenario = scenario_of(expression);
  const std::optional<Time> time = time_of(expression);
  Evidence evidence;
  evidence.seconds = 1;
  std::map<std::uint32_t, Counters> by_stage;
  for (const auto& [cell, measured] : by_cell) {
    if ((only && *only != cell.first) || (scenario && *scenario != cell.second)) continue;
    add(evidence.counters, measured.counters);
    add(by_stage[cell.first], measured.counters);
    if (time)
      if (const Histogram* samples = measured.find(*time)) evidence.samples.add(*samples);
  }
  for (const std::uint32_t stage : connecting) {
    if (only && *only != stage) continue;
    const Counters& counters = by_stage[stage];
    evidence.opened_of_asked += at(counters, Counter::opened) - at(counters, Counter::reconnected);
    evidence.asked += asked_in(stage, counters);
  }
  evidence.open = open_after(static_cast<std::uint32_t>(stages_.size() - 1), scenario);
  const DeliverySummary delivered = delivery(only);
  evidence.expected = delivered.expected;
  evidence.received = delivered.received;
  return evidence;
}

Evidence Aggregate::so_far(const Expression& expression) const {
  const std::optional<std::uint32_t> only = stage_of(expression);
  const std::optional<std::uint32_t> scenario = scenario_of(expression);
  const std::optional<Time> time = time_of(expression);
  Evidence evidence;
  for (std::uint32_t stage = 0; stage < stages_.size(); ++stage) {
    if (only && *only != stage) continue;
    evidence.asked += spans_[stage].asked;
    evidence.opened_of_asked += spans_[stage].opened_of_asked;
    for (std::uint32_t s = 0; s < plan_.scenarios.size(); ++s) {
      if (scenario && *scenario != s) continue;
      add(evidence.counters, cell(stage, s).counters);
      if (!time) continue;
      if (const Histogram* samples = cell(stage, s).find(*time)) evidence.samples.add(*samples);
    }
  }
  evidence.seconds = seconds_of(only);
  evidence.open = open_after(only.value_or(static_cast<std::uint32_t>(stages_.size() - 1)), scenario);
  const DeliverySummary delivered = delivery(only);
  evidence.expected = delivered.expected;
  evidence.received = delivered.received;
  return evidence;
}

double Aggregate::seconds_of(std::optional<std::uint32_t> stage) const {
  const std::int64_t last_us =
      series_.rows().empty() ? 0 : (std::int64_t{series_.rows().rbegin()->first} + 1) * 1'000'000;
  std::optional<std::int64_t> from;
  std::int64_t to = 0;
  for (std::uint32_t i = 0; i < spans_.size(); ++i) {
    if ((stage && *stage != i) || !spans_[i].began_us) continue;
    if (!from) from = spans_[i].began_us;
    to = std::max(to, spans_[i].ended_us.value_or(last_us));
  }
  return from && to > *from ? static_cast<double>(to - *from) / 1e6 : 0;
}

/// What was late or starved in the generator itself while the time was taken: it is in the samples, and no
/// fault of the target. Seconds that a lost agent left open have none.
std::string Aggregate::doubt_of(const Expression& expression) const {
  const std::optional<std::uint32_t> stage = stage_of(expression);
  std::set<std::uint32_t> suspect;
  std::set<std::uint32_t> invalid;
  const SuspectSecond* first = nullptr;
  for (const SuspectSecond& one : suspects_) {
    const std::int64_t begin_us = std::int64_t{one.second} * 1'000'000;
    const AgentRecord& agent = agents_[one.agent];
    if (agent.lost_us && begin_us + 1'000'000 > *agent.lost_us) continue;
    if (stage) {
      const StageSpan& span = spans_[*stage];
      if (!span.began_us || begin_us + 1'000'000 <= *span.began_us) continue;
      if (span.ended_us && begin_us >= *span.ended_us) continue;
    }
    (one.judgement.grade == Grade::invalid ? invalid : suspect).insert(one.second);
    if (first == nullptr || one.second < first->second) first = &one;
  }
  if (first == nullptr) return "";
  for (const std::uint32_t second : invalid) suspect.erase(second);
  const auto seconds = [](const std::set<std::uint32_t>& of, Grade grade) {
    return fmt::format("{} {} {}", of.size(), name(grade), of.size() == 1 ? "second" : "seconds");
  };
  std::string text;
  if (!invalid.empty()) text = seconds(invalid, Grade::invalid);
  if (!suspect.empty()) text += (text.empty() ? "" : " and ") + seconds(suspect, Grade::suspect);
  return fmt::format("{} of the generator within (second {}: {} {}), whose own lateness may be in it", text,
                     first->second, agents_[first->agent].name, first->judgement.cause);
}

std::vector<ThresholdResult> Aggregate::thresholds() const {
  std::vector<ThresholdResult> results;
  for (std::size_t i = 0; i < plan_.thresholds.size(); ++i) {
    const Expression& expression = plan_.thresholds[i];
    const PromiseWatch& watch = promises_[i];
    const bool by_second = expression.for_ns > 0;
    const std::optional<double> value = by_second ? watch.worst : value_of(expression, so_far(expression));
    ThresholdResult result{};
    result.expression = expression.text;
    result.held = by_second ? watch.judged && !watch.first_failed_s : holds(expression, value);
    result.value = value;
    result.value_text = describe_value(expression, value);
    // A break shorter than `for` is no miss, and by how much it was one says nothing.
    if (value && (!by_second || !result.held || margin_of(expression, *value) > 0)) {
      result.margin = margin_of(expression, *value);
      result.margin_text = describe_value(expression, std::fabs(*result.margin));
    }
    if (!result.held) {
      result.first_failed_s = watch.first_failed_s;
      if (value && is_time(expression)) result.doubt = doubt_of(expression);
    }
    results.push_back(std::move(result));
  }
  return results;
}

namespace {

/// Collects a sentence for each pair of figures that should be equal and is not.
class Identities {
 public:
  void equal(std::string_view left, std::uint64_t left_figure, std::string_view right,
             std::uint64_t right_figure) {
    if (left_figure != right_figure)
      broken_.push_back(fmt::format("{} ({}) is not {} ({})", left, left_figure, right, right_figure));
  }
  [[nodiscard]] std::vector<std::string> broken() && { return std::move(broken_); }

 private:
  std::vector<std::string> broken_;
};

}  // namespace

std::vector<std::string> Aggregate::broken_identities() const {
  const Measured all = total();
  const auto of = [&](Counter counter) { return at(all.counters, counter); };
  Counters by_agent{};
  Gauges gauges;
  for (const AgentRecord& agent : agents_) {
    add(by_agent, agent.counters);
    gauges.opening += agent.gauges.opening;
    gauges.open += agent.gauges.open;
    gauges.closing += agent.gauges.closing;
  }
  Counters by_second{};
  for (const auto& [second, row] : series_.rows()) add(by_second, row.counters);
  std::uint64_t attempts_failed = 0;
  for (const auto& [key, failure] : failures_)
    if (is_of_attempt(failure.failure.phase)) attempts_failed += failure.count;

  Identities hold;
  hold.equal("attempted", of(Counter::attempted), "opened + failed + opening",
             of(Counter::opened) + of(Counter::failed) + gauges.opening);
  hold.equal("opened", of(Counter::opened), "closed + open + closing",
             of(Counter::closed) + gauges.open + gauges.closing);
  for (std::size_t i = 0; i < kCounters; ++i) {
    const std::string_view name = describe(static_cast<Counter>(i)).name;
    hold.equal(name, all.counters[i], "its sum over agents", by_agent[i]);
    hold.equal(name, all.counters[i], "its sum over seconds", by_second[i]);
  }
  hold.equal("failed", of(Counter::failed), "failures while connecting", attempts_failed);
  hold.equal("opened", of(Counter::opened), "samples of handshake_time", all.samples(Time::handshake));
  hold.equal("closed", of(Counter::closed), "samples of session_time + sessions of lost agents",
             all.samples(Time::session) + sessions_without_time_);
  hold.equal("delivered", of(Counter::delivered), "copies of broadcasts received", delivery().received);
  hold.equal("requests", of(Counter::requests), "failed_requests + samples of round_trip_time",
             of(Counter::failed_requests) + all.samples(Time::round_trip));
  hold.equal("samples of recovery_time", all.samples(Time::recovery), "users who came back",
             std::accumulate(all.tries.begin(), all.tries.end(), std::uint64_t{0}));
  return std::move(hold).broken();
}

}  // namespace onrush
