#include <fmt/format.h>

#include "coordinator/report.h"

namespace onrush {
namespace {

struct ObservedSecond {
  double cpu_s = 0;
  std::uint64_t memory_bytes = 0;
};
using ObservedSeconds = std::map<std::uint32_t, ObservedSecond>;

std::vector<ObservedSeconds> observed_by_second(const Aggregate& aggregate) {
  std::vector<ObservedSeconds> all;
  for (const std::vector<ObservedSample>& samples : aggregate.observations()) {
    ObservedSeconds& seconds = all.emplace_back();
    for (const ObservedSample& sample : samples) {
      seconds[sample.second].cpu_s += sample.cpu_s;
      seconds[sample.second].memory_bytes = sample.memory_bytes;
    }
  }
  return all;
}

/// RFC 4180: a cell with a comma, a quote or a line break is quoted.
std::string cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string{text};
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

std::string header(const Aggregate& aggregate) {
  std::string line = "second,stage,grade,agents";
  for (std::size_t i = 0; i < kCounters; ++i)
    fmt::format_to(std::back_inserter(line), ",{}", describe(static_cast<Counter>(i)).name);
  line += ",opening,open,closing,listening,wanted,lag_p99_us,busiest_worker";
  for (std::size_t i = 0; i < kTimes; ++i)
    fmt::format_to(std::back_inserter(line), ",{0}_count,{0}_p50_us,{0}_p99_us,{0}_max_us",
                   describe(static_cast<Time>(i)).name);
  for (const Observed& observed : aggregate.plan().observe)
    line += "," + cell(observed.name + "_cpu_s") + "," + cell(observed.name + "_memory_bytes");
  return line + "\n";
}

void append_times(std::string& line, const SeriesRow& row) {
  for (std::size_t i = 0; i < kTimes; ++i) {
    const SecondTime* found = nullptr;
    for (const SecondTime& time : row.times)
      if (static_cast<std::size_t>(time.time) == i) found = &time;
    if (found == nullptr)
      line += ",,,,";
    else
      fmt::format_to(std::back_inserter(line), ",{},{},{},{}", found->count, found->p50_us, found->p99_us,
                     found->max_us);
  }
}

// The last stage that anything happened in, or the one under way when an uneventful second began.
const std::string& stage_of(const Aggregate& aggregate, const SeriesRow& row) {
  std::size_t stage = row.stage;
  for (std::size_t later = stage + 1; later < aggregate.spans().size(); ++later) {
    const std::optional<std::int64_t> began_us = aggregate.spans()[later].began_us;
    if (began_us && *began_us <= std::int64_t{row.second} * 1'000'000) stage = later;
  }
  return aggregate.stages()[stage].name;
}

}  // namespace

std::string series_csv(const Aggregate& aggregate) {
  const std::vector<ObservedSeconds> observed = observed_by_second(aggregate);
  std::string text = header(aggregate);
  for (const auto& [second, row] : aggregate.series().rows()) {
    fmt::format_to(std::back_inserter(text), "{},{},{},{}", second, cell(stage_of(aggregate, row)),
                   name(row.worst), row.agents);
    for (const std::uint64_t counter : row.counters) fmt::format_to(std::back_inserter(text), ",{}", counter);
    fmt::format_to(std::back_inserter(text), ",{},{},{},{},{},{},{:.3f}", row.gauges.opening, row.gauges.open,
                   row.gauges.closing, row.gauges.listening, row.gauges.wanted, row.lag_p99_us,
                   row.busiest_worker);
    append_times(text, row);
    for (const ObservedSeconds& seconds : observed) {
      const auto found = seconds.find(second);
      if (found == seconds.end())
        text += ",,";
      else
        fmt::format_to(std::back_inserter(text), ",{:.3f},{}", found->second.cpu_s,
                       found->second.memory_bytes);
    }
    text += "\n";
  }
  return text;
}

}  // namespace onrush
