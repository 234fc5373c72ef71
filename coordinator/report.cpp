#include "coordinator/report.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/proxy.h"
#include "core/storm.h"

namespace onrush {
namespace {

using Json = nlohmann::ordered_json;

Json counts_json(const Counters& counters, std::uint64_t open) {
  Json json;
  for (std::size_t i = 0; i < kCounters; ++i) {
    json[std::string{describe(static_cast<Counter>(i)).name}] = counters[i];
    if (static_cast<Counter>(i) == Counter::closed) json["open"] = open;
  }
  return json;
}

Json time_json(const Histogram& samples) {
  Json json{{"count", samples.count()},
            {"min_us", samples.min_us()},
            {"mean_us", samples.mean_us()},
            {"p50_us", samples.quantile_us(0.5)},
            {"p90_us", samples.quantile_us(0.9)},
            {"p95_us", samples.quantile_us(0.95)},
            {"p99_us", samples.quantile_us(0.99)},
            {"p999_us", samples.quantile_us(0.999)},
            {"max_us", samples.max_us()}};
  if (samples.above_range() > 0) json["above_range"] = samples.above_range();
  return json;
}

template <class Make>
Json times_json(const Measured& measured, Make make) {
  Json json = Json::object();
  for (std::size_t i = 0; i < kTimes; ++i) {
    const auto time = static_cast<Time>(i);
    if (const Histogram* samples = measured.find(time))
      json[std::string{describe(time).name}] = make(*samples);
  }
  return json;
}

Json delivery_json(const DeliverySummary& summary, const Counters& counters) {
  Json json{{"expected", summary.expected}, {"received", summary.received}};
  if (const std::optional<double> reach = summary.reach()) json["reach"] = *reach;
  json["duplicates"] = at(counters, Counter::duplicates);
  json["gaps"] = at(counters, Counter::gaps);
  json["reordered"] = at(counters, Counter::reordered);
  if (summary.spread_p50_us) json["spread_p50_us"] = *summary.spread_p50_us;
  if (summary.spread_max_us) json["spread_max_us"] = *summary.spread_max_us;
  json["broadcasts"] = summary.broadcasts;
  return json;
}

double seconds(std::int64_t us) { return static_cast<double>(us) / 1e6; }

std::uint64_t open_of(const Counters& counters) {
  const std::uint64_t opened = at(counters, Counter::opened);
  return opened - std::min(opened, at(counters, Counter::closed));
}

const char* share_name(double share) {
  return share == 0.5 ? "p50_us" : share == 0.9 ? "p90_us" : share == 0.99 ? "p99_us" : "all_us";
}

Json storm_json(const Storm& storm) {
  Json json{{"asked", storm.asked}, {"disconnected", storm.disconnected}, {"lost", storm.lost},
            {"back", storm.back},   {"gave_up", storm.gave_up},           {"back_after", Json::object()}};
  for (std::size_t i = 0; i < kStormShares.size(); ++i)
    if (storm.back_us[i]) json["back_after"][share_name(kStormShares[i])] = *storm.back_us[i];
  if (storm.back == 0) return json;
  json["attempts_mean"] = storm.tries_mean;
  json["attempts_max"] = storm.tries_most;
  json["attempts"] = Json::array();
  for (std::uint32_t i = 0; i < storm.tries_most; ++i) json["attempts"].push_back(storm.tries[i]);
  return json;
}

Json stage_json(const Aggregate& aggregate, std::uint32_t index) {
  const StageTimeline& stage = aggregate.stages()[index];
  const StageSpan& span = aggregate.spans()[index];
  Json json{{"name", stage.name}};
  if (span.began_us) json["start_s"] = seconds(*span.began_us);
  if (span.ended_us) json["end_s"] = seconds(*span.ended_us);
  std::uint64_t users = 0;
  for (const std::uint64_t wanted : stage.users_at_end) users += wanted;
  json["users"] = users;
  if (span.connecting_seconds > 0)
    json["connect_rate"] = static_cast<double>(span.opened_of_asked) / span.connecting_seconds;
  if (stage.asked_rate > 0) json["asked_rate"] = stage.asked_rate;
  const Measured measured = aggregate.of_stage(index);
  json["counts"] = counts_json(measured.counters, aggregate.open_after(index));
  json["times"] = times_json(measured, time_json);
  json["delivery"] = delivery_json(aggregate.delivery(index), measured.counters);
  return json;
}

Json failures_json(const Aggregate& aggregate) {
  std::map<std::pair<Failure, std::uint32_t>, FailureTotal> rows;
  for (const FailureTotal& total : aggregate.failures()) {
    const auto [place, is_new] = rows.try_emplace({total.failure, total.agent}, total);
    if (is_new) continue;
    FailureTotal& row = place->second;
    row.count += total.count;
    row.first_us = std::min(row.first_us, total.first_us);
    row.last_us = std::max(row.last_us, total.last_us);
    show_more(row.sample, total.sample);
  }
  const bool any_opened = at(aggregate.counters(), Counter::opened) > 0;
  std::vector<const FailureTotal*> sorted;
  for (const auto& [key, row] : rows) sorted.push_back(&row);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const FailureTotal* a, const FailureTotal* b) { return a->count > b->count; });
  Json json = Json::array();
  for (const FailureTotal* row : sorted)
    json.push_back({{"phase", name(row->failure.phase)},
                    {"cause", describe(row->failure)},
                    {"kind", name(row->failure.cause)},
                    {"detail", row->failure.detail},
                    {"ours", is_ours(row->failure)},
                    {"agent", aggregate.agents()[row->agent].name},
                    {"count", row->count},
                    {"sample", row->sample},
                    {"first_s", seconds(row->first_us)},
                    {"last_s", seconds(row->last_us)},
                    {"remedy", may_be_of_scheme(row->failure) && any_opened ? "" : remedy(row->failure)}});
  return json;
}

Json thresholds_json(const Aggregate& aggregate) {
  Json json = Json::array();
  for (const ThresholdResult& result : aggregate.thresholds()) {
    Json row{{"expression", result.expression}, {"held", result.held}};
    if (result.value) row["value"] = *result.value;
    row["value_text"] = result.value_text;
    if (result.margin) {
      row["margin"] = *result.margin;
      row["margin_text"] = result.margin_text;
    }
    if (result.first_failed_s) row["first_failed_s"] = *result.first_failed_s;
    if (!result.doubt.empty()) row["doubt"] = result.doubt;
    json.push_back(std::move(row));
  }
  return json;
}

Json agents_json(const Aggregate& aggregate) {
  Json json = Json::array();
  for (const AgentRecord& agent : aggregate.agents()) {
    Json row{{"name", agent.name},
             {"state", name(agent.state)},
             {"counts", counts_json(agent.counters, open_of(agent.counters))},
             {"open_max", agent.open_max},
             {"memory_max_bytes", agent.memory_max_bytes},
             {"busiest_worker_max", agent.busiest_worker_max},
             {"suspect_seconds", agent.suspect_seconds},
             {"invalid_seconds", agent.invalid_seconds},
             {"gap_seconds", agent.gap_seconds}};
    if (agent.lost_us) row["lost_s"] = seconds(*agent.lost_us);
    json.push_back(std::move(row));
  }
  return json;
}

Json suspect_seconds_json(const Aggregate& aggregate) {
  Json json = Json::array();
  for (const SuspectSecond& suspect : aggregate.suspects())
    json.push_back({{"second", suspect.second},
                    {"agent", aggregate.agents()[suspect.agent].name},
                    {"grade", name(suspect.judgement.grade)},
                    {"cause", suspect.judgement.cause}});
  return json;
}

/// Seconds of the run by their worst agent; memory is the agents' private bytes, all of them, shared out over
/// the most users that were open at once.
Json generator_json(const Aggregate& aggregate) {
  std::uint64_t by_grade[3] = {};
  std::uint64_t open_max = 0;
  for (const auto& [second, row] : aggregate.series().rows()) {
    ++by_grade[static_cast<std::size_t>(row.worst)];
    open_max = std::max(open_max, row.gauges.open);
  }
  std::uint64_t memory = 0;
  double cpu_peak = 0;
  for (const AgentRecord& agent : aggregate.agents()) {
    memory += agent.memory_max_bytes;
    cpu_peak = std::max(cpu_peak, agent.busiest_worker_max);
  }
  Json json{
      {"valid_seconds", by_grade[0]}, {"suspect_seconds", by_grade[1]}, {"invalid_seconds", by_grade[2]}};
  if (open_max > 0 && memory > 0) json["bytes_per_user"] = memory / open_max;
  json["cpu_peak_cores"] = cpu_peak;
  json["memory_max_bytes"] = memory;
  return json;
}

Json observed_json(const Aggregate& aggregate) {
  std::uint64_t open_max = 0;
  for (const auto& [second, row] : aggregate.series().rows()) open_max = std::max(open_max, row.gauges.open);
  Json json = Json::array();
  for (std::size_t i = 0; i < aggregate.observations().size(); ++i) {
    const std::vector<ObservedSample>& samples = aggregate.observations()[i];
    Json row{{"name", aggregate.plan().observe[i].name}, {"port", aggregate.plan().observe[i].port}};
    if (!samples.empty()) {
      double cpu_s = 0;
      std::uint64_t memory_max = 0;
      std::map<std::uint32_t, double> by_second;
      for (const ObservedSample& sample : samples) {
        cpu_s += sample.cpu_s;
        memory_max = std::max(memory_max, sample.memory_bytes);
        by_second[sample.second] += sample.cpu_s;
      }
      const auto [least, most] =
          std::minmax_element(by_second.begin(), by_second.end(),
                              [](const auto& a, const auto& b) { return a.second < b.second; });
      row["cpu_s"] = cpu_s;
      row["memory_max_bytes"] = memory_max;
      row["cpu_peak_cores"] = most->second;
      row["cpu_idle_cores"] = least->second;
      if (open_max > 0 && memory_max > samples.front().memory_bytes)
        row["bytes_per_connection"] = (memory_max - samples.front().memory_bytes) / open_max;
    }
    json.push_back(std::move(row));
  }
  return json;
}

// With what the plan was run; no password of the proxy among it, as in the copy of the plan.
Json parameters_json(const Plan& plan) {
  Json json = Json::object();
  for (const auto& [name, value] : plan.parameters)
    json[name] = plan.connection.proxy ? without_user_info(value, *plan.connection.proxy) : value;
  return json;
}

std::string dumped(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string summary_json(const RunFacts& facts, const Aggregate& aggregate) {
  const Measured total = aggregate.total();
  Json json{{"run", facts.run},
            {"plan", aggregate.plan().name},
            {"started", facts.started},
            {"duration_s", seconds(facts.duration_us)},
            {"verdict", name(facts.decision.verdict)},
            {"exit_code", exit_code(facts.decision.verdict)},
            {"reasons", facts.decision.reasons},
            {"warnings", facts.decision.warnings},
            {"target", describe(aggregate.plan().targets)},
            {"parameters", parameters_json(aggregate.plan())},
            {"hosts", facts.hosts}};
  if (facts.clock_error_us) json["clock_error_us"] = *facts.clock_error_us;
  json["counts"] = counts_json(total.counters, open_of(total.counters));
  json["times"] = times_json(total, time_json);
  json["delivery"] = delivery_json(aggregate.delivery(), total.counters);
  json["stages"] = Json::array();
  for (std::uint32_t i = 0; i < aggregate.stages().size(); ++i)
    json["stages"].push_back(stage_json(aggregate, i));
  for (const Storm& storm : storms(aggregate)) json["stages"][storm.stage]["storm"] = storm_json(storm);
  json["scenarios"] = Json::array();
  for (std::uint32_t i = 0; i < aggregate.plan().scenarios.size(); ++i) {
    const Measured measured = aggregate.of_scenario(i);
    json["scenarios"].push_back({{"name", aggregate.plan().scenarios[i].name},
                                 {"counts", counts_json(measured.counters, open_of(measured.counters))},
                                 {"times", times_json(measured, time_json)}});
  }
  json["failures"] = failures_json(aggregate);
  json["thresholds"] = thresholds_json(aggregate);
  json["agents"] = agents_json(aggregate);
  json["suspect_seconds"] = suspect_seconds_json(aggregate);
  json["generator"] = generator_json(aggregate);
  json["observed"] = observed_json(aggregate);
  return dumped(json);
}

std::string histograms_json(const std::string& run, const Aggregate& aggregate) {
  const auto encoded = [](const Histogram& samples) {
    return Json{{"v2", samples.encode_base64()},
                {"min_us", samples.min_us()},
                {"max_us", samples.max_us()},
                {"sum_us", samples.sum_us()},
                {"above_range", samples.above_range()}};
  };
  Json json{{"run", run}, {"times", times_json(aggregate.total(), encoded)}, {"stages", Json::array()}};
  for (std::uint32_t i = 0; i < aggregate.stages().size(); ++i)
    json["stages"].push_back(
        {{"name", aggregate.stages()[i].name}, {"times", times_json(aggregate.of_stage(i), encoded)}});
  return dumped(json);
}

}  // namespace onrush
