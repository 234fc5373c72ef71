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

}  // namespace

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
bool Aggregate::note_pace(std::uint32_t stage, std::uint32_t second, const Measured& measured) {
  StageSpan& span = spans_[stage];
  // Whoever comes back was not asked for by the stage.
  span.settled += at(measured.counters, Counter::opened) + at(measured.counters, Counter::failed) -
                  at(measured.counters, Counter::reconnects);
  const double asked = asked_in(stage, measured.counters);
  if (!is_whole_in(stage, second) || !(asked > 0)) return false;
  if (span.change > 0 && span.settled >= span.change) return false;
  ++span.connecting_seconds;
  span.opened_of_asked +=
      at(measured.counters, Counter::opened) - at(measured.counters, Counter::reconnected);
  span.asked += asked;
  return true;
}

void Aggregate::whole(const SeriesRow& row, const Series::ByStage& by_stage) {
  static const Measured kNothing;
  std::set<std::uint32_t> connecting;
  for (std::uint32_t stage = 0; stage < stages_.size(); ++stage) {
    const auto found = by_stage.find(stage);
    // A stage in which nothing at all happened for a second may still have been asked to connect.
    if (found == by_stage.end() && !is_whole_in(stage, row.second)) continue;
    if (note_pace(stage, row.second, found == by_stage.end() ? kNothing : found->second))
      connecting.insert(stage);
  }
  for (std::size_t i = 0; i < watches_.size() && !aborted_; ++i) watch_abort(i, row, by_stage, connecting);
}

/// With `for`, and for rates, each second is judged by itself; without, everything so far.
void Aggregate::watch_abort(std::size_t index, const SeriesRow& row, const Series::ByStage& by_stage,
                            const std::set<std::uint32_t>& connecting) {
  const Expression& expression = plan_.abort[index];
  const std::optional<std::uint32_t> stage = stage_of(expression);
  const bool by_second = expression.for_ns > 0 || is_rate_or_pace(expression);
  bool judged = !stage || (by_second ? is_whole_in(*stage, row.second) : spans_[*stage].began_us.has_value());
  if (is_of_connecting(expression))
    judged = judged && (stage ? connecting.count(*stage) > 0 : !connecting.empty());
  AbortWatch& watch = watches_[index];
  std::optional<double> value;
  if (judged)
    value =
        value_of(expression, by_second ? in_second(expression, by_stage, connecting) : so_far(expression));
  watch.held_s = holds(expression, value) ? watch.held_s + 1 : 0;
  const std::int64_t needed = std::max<std::int64_t>(1, (expression.for_ns + kSecond_ns - 1) / kSecond_ns);
  if (watch.held_s < needed) return;
  aborted_ =
      fmt::format("{} ({} in second {})", expression.text, describe_value(expression, value), row.second);
}

Evidence Aggregate::in_second(const Expression& expression, const Series::ByStage& by_stage,
                              const std::set<std::uint32_t>& connecting) const {
  const std::optional<std::uint32_t> only = stage_of(expression);
  const std::optional<Time> time = time_of(expression);
  Evidence evidence;
  evidence.seconds = 1;
  for (const auto& [stage, measured] : by_stage) {
    if (only && *only != stage) continue;
    add(evidence.counters, measured.counters);
    if (time)
      if (const Histogram* samples = measured.find(*time)) evidence.samples.add(*samples);
    if (connecting.count(stage) > 0)
      evidence.opened_of_asked +=
          at(measured.counters, Counter::opened) - at(measured.counters, Counter::reconnected);
  }
  static constexpr Counters kNone{};
  for (const std::uint32_t stage : connecting) {
    if (only && *only != stage) continue;
    const auto found = by_stage.find(stage);
    evidence.asked += asked_in(stage, found == by_stage.end() ? kNone : found->second.counters);
  }
  evidence.open = open_after(static_cast<std::uint32_t>(stages_.size() - 1));
  const DeliverySummary delivered = delivery(only);
  evidence.expected = delivered.expected;
  evidence.received = delivered.received;
  return evidence;
}

Evidence Aggregate::so_far(const Expression& expression) const {
  const std::optional<std::uint32_t> only = stage_of(expression);
  const std::optional<Time> time = time_of(expression);
  Evidence evidence;
  for (std::uint32_t stage = 0; stage < stages_.size(); ++stage) {
    if (only && *only != stage) continue;
    add(evidence.counters, counters_of_stage(stage));
    evidence.asked += spans_[stage].asked;
    evidence.opened_of_asked += spans_[stage].opened_of_asked;
    if (!time) continue;
    for (std::uint32_t s = 0; s < plan_.scenarios.size(); ++s)
      if (const Histogram* samples = cell(stage, s).find(*time)) evidence.samples.add(*samples);
  }
  evidence.seconds = seconds_of(only);
  evidence.open = open_after(only.value_or(static_cast<std::uint32_t>(stages_.size() - 1)));
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

std::vector<ThresholdResult> Aggregate::thresholds() const {
  std::vector<ThresholdResult> results;
  for (const Expression& expression : plan_.thresholds) {
    const std::optional<double> value = value_of(expression, so_far(expression));
    results.push_back({expression.text, holds(expression, value), value, describe_value(expression, value)});
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
    if (failure.failure.phase == Phase::connect || failure.failure.phase == Phase::upgrade)
      attempts_failed += failure.count;

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
