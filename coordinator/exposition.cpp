#include "coordinator/exposition.h"

#include <fmt/format.h>
#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "core/storm.h"

namespace onrush {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

constexpr double kQuantiles[] = {0.5, 0.9, 0.95, 0.99, 0.999, 1};
constexpr std::int64_t kBuckets_us[] = {100,       250,       500,       1'000,      2'500,      5'000,
                                        10'000,    25'000,    50'000,    100'000,    250'000,    500'000,
                                        1'000'000, 2'500'000, 5'000'000, 10'000'000, 30'000'000, 60'000'000};

double seconds(std::int64_t us) { return static_cast<double>(us) / 1e6; }

MetricFamily family(std::string name, std::string help, MetricType type) {
  return {std::move(name), std::move(help), type, {}};
}

void add_counter(MetricFamily& to, Labels labels, double value) {
  ClientMetric metric;
  metric.label = std::move(labels);
  metric.counter.value = value;
  to.metric.push_back(std::move(metric));
}

void add_gauge(MetricFamily& to, Labels labels, double value) {
  ClientMetric metric;
  metric.label = std::move(labels);
  metric.gauge.value = value;
  to.metric.push_back(std::move(metric));
}

void add_histogram(MetricFamily& to, Labels labels, const Histogram& samples) {
  ClientMetric metric;
  metric.label = std::move(labels);
  metric.histogram.sample_count = samples.count();
  metric.histogram.sample_sum = samples.sum_us() / 1e6;
  for (const std::int64_t bound_us : kBuckets_us)
    metric.histogram.bucket.push_back({samples.count_at_or_below(bound_us), seconds(bound_us)});
  to.metric.push_back(std::move(metric));
}

/// One (stage, scenario), or what is left when there are too many.
struct NamedCell {
  std::string stage;
  std::string scenario;
  const Measured* measured;
};

class Collector {
 public:
  Collector(const Aggregate& aggregate, const Live& live) : aggregate_{aggregate}, live_{live} {
    for (std::uint32_t stage = 0; stage < aggregate.stages().size(); ++stage) {
      if (!aggregate.spans()[stage].began_us) continue;
      for (std::uint32_t s = 0; s < aggregate.plan().scenarios.size(); ++s) {
        const Measured& measured = aggregate.cell(stage, s);
        if (cells_.size() < ExpositionLimits::kCells)
          cells_.push_back({aggregate.stages()[stage].name, aggregate.plan().scenarios[s].name, &measured});
        else
          (other_.add(measured), has_other_ = true);
      }
    }
    if (has_other_) cells_.push_back({"(other)", "(other)", &other_});
  }

  void run(const std::string& verdict) {
    MetricFamily& info = gauge("onrush_run_info", "The run under way or the last one: always 1.");
    add_gauge(info, with({{"plan", aggregate_.plan().name}, {"target", describe(aggregate_.plan().targets)}}),
              1);
    MetricFamily& state = gauge("onrush_run_state", "1 for the state that the run is in.");
    for (const char* known : {"preparing", "running", "stopping", "finished"})
      add_gauge(state, with({{"state", known}}), live_.state == known ? 1 : 0);
    if (!verdict.empty())
      add_gauge(gauge("onrush_run_verdict", "1 for the verdict."), with({{"verdict", verdict}}), 1);
    MetricFamily& stage = gauge("onrush_run_stage", "1 for the stage under way or the last one.");
    for (std::size_t i = 0; i < std::min(live_.stages.size(), ExpositionLimits::kCells); ++i)
      add_gauge(stage, with({{"stage", live_.stages[i]}}), i == live_.stage ? 1 : 0);
    simple("onrush_run_elapsed_seconds", "Since the run began.", seconds(live_.elapsed_us));
    simple("onrush_connections_open", "Connections open now.", static_cast<double>(live_.open));
    simple("onrush_connections_opening", "Attempts under way.", static_cast<double>(live_.opening));
    simple("onrush_users_wanted", "Users that the stage wants when its change is done.",
           static_cast<double>(live_.wanted));
    simple("onrush_suspect_seconds", "Seconds in which an agent was not VALID.", live_.suspect_seconds);
    simple("onrush_agents", "Agents that take part.", live_.agents);
    simple("onrush_agents_alive", "Agents that are not lost.", live_.agents_alive);
    deliveries();
    recoveries();
  }

  void recoveries() {
    MetricFamily users =
        family("onrush_storm_users", "Users who were cut off, and what became of them.", MetricType::Gauge);
    MetricFamily back = family("onrush_storm_back_seconds",
                               "Time until this share of all who were cut off was back.", MetricType::Gauge);
    for (const Storm& storm : storms(aggregate_)) {
      if (storm.away() == 0 || users.metric.size() >= ExpositionLimits::kCells) continue;
      const std::string& stage = aggregate_.stages()[storm.stage].name;
      for (const auto& [state, count] : {std::pair{"disconnected", storm.disconnected},
                                         {"lost", storm.lost},
                                         {"back", storm.back},
                                         {"gave_up", storm.gave_up}})
        add_gauge(users, with({{"stage", stage}, {"state", state}}), static_cast<double>(count));
      for (std::size_t i = 0; i < kStormShares.size(); ++i)
        if (storm.back_us[i])
          add_gauge(back, with({{"stage", stage}, {"share", fmt::format("{}", kStormShares[i])}}),
                    seconds(*storm.back_us[i]));
    }
    if (!users.metric.empty()) families_.push_back(std::move(users));
    if (!back.metric.empty()) families_.push_back(std::move(back));
  }

  void deliveries() {
    MetricFamily expected =
        family("onrush_broadcast_copies_expected", "Copies of broadcasts that listeners were entitled to.",
               MetricType::Gauge);
    MetricFamily received =
        family("onrush_broadcast_copies_received", "First copies of broadcasts received.", MetricType::Gauge);
    for (std::uint32_t i = 0; i < std::min(aggregate_.stages().size(), ExpositionLimits::kCells); ++i) {
      const DeliverySummary summary = aggregate_.delivery(i);
      if (summary.expected == 0) continue;
      add_gauge(expected, with({{"stage", aggregate_.stages()[i].name}}),
                static_cast<double>(summary.expected));
      add_gauge(received, with({{"stage", aggregate_.stages()[i].name}}),
                static_cast<double>(summary.received));
    }
    if (expected.metric.empty()) return;
    families_.push_back(std::move(expected));
    families_.push_back(std::move(received));
  }

  void counters() {
    for (std::size_t i = 0; i < kCounters; ++i) {
      const Metric& metric = describe(static_cast<Counter>(i));
      MetricFamily& to =
          add(family(std::string{metric.prometheus}, std::string{metric.help}, MetricType::Counter));
      for (const NamedCell& cell : cells_)
        add_counter(to, with({{"stage", cell.stage}, {"scenario", cell.scenario}}),
                    static_cast<double>(cell.measured->counters[i]));
    }
  }

  void times() {
    for (std::size_t i = 0; i < kTimes; ++i) {
      const auto time = static_cast<Time>(i);
      const Metric& metric = describe(time);
      MetricFamily histograms =
          family(std::string{metric.prometheus}, std::string{metric.help}, MetricType::Histogram);
      for (const NamedCell& cell : cells_)
        if (const Histogram* samples = cell.measured->find(time))
          add_histogram(histograms, with({{"stage", cell.stage}, {"scenario", cell.scenario}}), *samples);
      if (histograms.metric.empty()) continue;
      families_.push_back(std::move(histograms));
      quantiles(time, metric);
    }
  }

  // Of type summary and not gauge, since the label `quantile` belongs to summaries (promtool holds to it).
  void quantiles(Time time, const Metric& metric) {
    std::string name{metric.prometheus};
    name.insert(name.rfind("_seconds"), "_quantile");
    MetricFamily& to =
        add(family(std::move(name), std::string{metric.help} + " Exact quantiles of the whole run.",
                   MetricType::Summary));
    const std::size_t scenarios = std::min(aggregate_.plan().scenarios.size(), ExpositionLimits::kCells);
    for (std::uint32_t s = 0; s < scenarios; ++s) {
      Histogram samples;
      for (std::uint32_t stage = 0; stage < aggregate_.stages().size(); ++stage)
        if (const Histogram* part = aggregate_.cell(stage, s).find(time)) samples.add(*part);
      if (samples.count() == 0) continue;
      ClientMetric metric_of_scenario;
      metric_of_scenario.label = with({{"scenario", aggregate_.plan().scenarios[s].name}});
      metric_of_scenario.summary.sample_count = samples.count();
      metric_of_scenario.summary.sample_sum = samples.sum_us() / 1e6;
      for (const double quantile : kQuantiles)
        metric_of_scenario.summary.quantile.push_back({quantile, seconds(samples.quantile_us(quantile))});
      to.metric.push_back(std::move(metric_of_scenario));
    }
  }

  void failures() {
    struct Kind {
      Failure failure;
      std::uint64_t count;
      std::int64_t first_us;
    };
    std::map<Failure, Kind> kinds;
    for (const FailureTotal& total : aggregate_.failures()) {
      Kind& kind = kinds.try_emplace(total.failure, Kind{total.failure, 0, total.first_us}).first->second;
      kind.count += total.count;
      kind.first_us = std::min(kind.first_us, total.first_us);
    }
    std::vector<Kind> by_time;
    for (const auto& [failure, kind] : kinds) by_time.push_back(kind);
    std::stable_sort(by_time.begin(), by_time.end(),
                     [](const Kind& a, const Kind& b) { return a.first_us < b.first_us; });
    // Two kinds may read alike (no port left, by errno or by our own block), and a series must be there once.
    std::map<std::tuple<std::string, std::string, bool>, std::uint64_t> series;
    for (std::size_t i = 0; i < by_time.size(); ++i) {
      const Kind& kind = by_time[i];
      const Failure shown =
          i < ExpositionLimits::kFailureKinds ? kind.failure : Failure{kind.failure.phase, Cause::other, 0};
      series[{name(shown.phase), describe(shown), is_ours(shown)}] += kind.count;
    }
    if (series.empty()) return;
    MetricFamily& to = add(family(
        "onrush_failures_total", "What failed, by phase, cause and whose fault it is.", MetricType::Counter));
    for (const auto& [key, count] : series) {
      const auto& [phase, cause, ours] = key;
      add_counter(to, with({{"phase", phase}, {"cause", cause}, {"whose", ours ? "ours" : "target"}}),
                  static_cast<double>(count));
    }
  }

  void agents() {
    const std::size_t shown = std::min(aggregate_.agents().size(), ExpositionLimits::kAgents);
    const auto each = [&](const char* name, const char* help, auto figure) {
      MetricFamily& to = gauge(name, help);
      for (std::size_t i = 0; i < shown; ++i)
        add_gauge(to, with({{"agent", aggregate_.agents()[i].name}}),
                  static_cast<double>(figure(aggregate_.agents()[i])));
    };
    each("onrush_agent_up", "1 unless the agent is lost.",
         [](const AgentRecord& a) { return a.state == AgentState::lost ? 0 : 1; });
    each("onrush_agent_connections_open", "Connections open now.",
         [](const AgentRecord& a) { return a.gauges.open; });
    each("onrush_agent_lag_p99_seconds", "Lateness of the last second.",
         [](const AgentRecord& a) { return seconds(a.health.lag_p99_us); });
    each("onrush_agent_busiest_worker_ratio", "CPU share of the busiest worker thread.",
         [](const AgentRecord& a) { return a.health.busiest_worker; });
    each("onrush_agent_memory_bytes", "Private bytes of the process.",
         [](const AgentRecord& a) { return a.health.memory_bytes; });
    each("onrush_agent_suspect_seconds", "Seconds that were not VALID.",
         [](const AgentRecord& a) { return a.suspect_seconds + a.invalid_seconds + a.gap_seconds; });
  }

  void observed() {
    MetricFamily cpu = family("onrush_observed_cpu_seconds_total",
                              "CPU time of an observed process since the run began.", MetricType::Counter);
    MetricFamily memory =
        family("onrush_observed_memory_bytes", "Resident memory of an observed process.", MetricType::Gauge);
    for (std::size_t i = 0; i < aggregate_.observations().size(); ++i) {
      const std::vector<ObservedSample>& samples = aggregate_.observations()[i];
      if (samples.empty()) continue;
      double cpu_s = 0;
      for (const ObservedSample& sample : samples) cpu_s += sample.cpu_s;
      const Labels labels = with({{"name", aggregate_.plan().observe[i].name}});
      add_counter(cpu, labels, cpu_s);
      add_gauge(memory, labels, static_cast<double>(samples.back().memory_bytes));
    }
    if (cpu.metric.empty()) return;
    families_.push_back(std::move(cpu));
    families_.push_back(std::move(memory));
  }

  [[nodiscard]] std::vector<MetricFamily> take() && { return std::move(families_); }

 private:
  MetricFamily& add(MetricFamily made) { return families_.emplace_back(std::move(made)); }
  MetricFamily& gauge(const char* name, const char* help) {
    return add(family(name, help, MetricType::Gauge));
  }
  void simple(const char* name, const char* help, double value) {
    add_gauge(gauge(name, help), with({}), value);
  }
  [[nodiscard]] Labels with(Labels labels) const {
    labels.insert(labels.begin(), {"run", live_.run});
    return labels;
  }

  const Aggregate& aggregate_;
  const Live& live_;
  std::vector<NamedCell> cells_;
  Measured other_;
  bool has_other_ = false;
  std::vector<MetricFamily> families_;
};

MetricFamily build_info() {
  MetricFamily info = family("onrush_build_info", "Version of the coordinator: always 1.", MetricType::Gauge);
  add_gauge(info, {{"version", ONRUSH_VERSION}}, 1);
  return info;
}

class Exposition : public prometheus::Collectable {
 public:
  Exposition(const Aggregate& aggregate, const Live& live, const std::string& verdict)
      : aggregate_{aggregate}, live_{live}, verdict_{verdict} {}

  [[nodiscard]] std::vector<MetricFamily> Collect() const override {
    Collector collector{aggregate_, live_};
    collector.run(verdict_);
    collector.counters();
    collector.times();
    collector.failures();
    collector.agents();
    collector.observed();
    std::vector<MetricFamily> families = std::move(collector).take();
    families.insert(families.begin(), build_info());
    return families;
  }

 private:
  const Aggregate& aggregate_;
  const Live& live_;
  const std::string& verdict_;
};

}  // namespace

std::string exposition_text(const Aggregate& aggregate, const Live& live, const std::string& verdict) {
  std::ostringstream out;
  prometheus::TextSerializer{}.Serialize(out, Exposition{aggregate, live, verdict}.Collect());
  return out.str();
}

std::string exposition_text_idle() {
  std::ostringstream out;
  prometheus::TextSerializer{}.Serialize(out, {build_info()});
  return out.str();
}

}  // namespace onrush
