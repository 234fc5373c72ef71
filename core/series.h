// What happened in each second of a run: one row a second, for series.csv, the live view and aborts.
//
// Why: histograms of every second would fill the memory of a long run; so a second keeps its samples only
// while it is open and shortly after, and leaves a row of figures. Owner: the aggregate. Always: counters of
// all rows add up to the run's; a second's times are quantiles of all samples that came before its samples
// were given up.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "core/health.h"
#include "core/measured.h"
#include "core/snapshot.h"

namespace onrush {

struct SecondTime {
  Time time;
  std::uint64_t count;
  std::int64_t p50_us;
  std::int64_t p99_us;
  std::int64_t max_us;
};

struct SeriesRow {
  std::uint32_t second = 0;
  std::uint32_t stage = 0;  ///< the last one that anything happened in
  Counters counters{};
  Gauges gauges;             ///< summed over agents
  std::uint32_t agents = 0;  ///< that reported this second
  Grade worst = Grade::valid;
  std::int64_t lag_p99_us = 0;  ///< of the latest agent
  double busiest_worker = 0;
  std::uint32_t busiest_agent = 0;
  std::vector<SecondTime> times;  ///< those with samples, once the second is whole
};

class Series {
 public:
  using ByCell = std::map<std::pair<std::uint32_t, std::uint32_t>, Measured>;  ///< stage and scenario

  /// A row to add gauges and health to; made on first use.
  [[nodiscard]] SeriesRow& row(std::uint32_t second);
  /// Adds counters. True if the second still takes samples.
  bool count(std::uint32_t second, std::uint32_t stage, std::uint32_t scenario, const Counters& counters);
  /// Only where count() said so.
  void sample(std::uint32_t second, std::uint32_t stage, std::uint32_t scenario, Time time,
              const Histogram& samples);

  /// Seconds up to this one are whole: calls `closed` for each that has just become so, in order.
  void close_until(std::uint32_t second, const std::function<void(const SeriesRow&, const ByCell&)>& closed);

  [[nodiscard]] const std::map<std::uint32_t, SeriesRow>& rows() const noexcept { return rows_; }
  /// The last whole second; nullptr before there is one.
  [[nodiscard]] const SeriesRow* last_whole() const noexcept;

 private:
  // Running agents hold a second open until each has reported it. One that has stopped flushes what is left
  // of its last second in a snapshot of its own, soon after.
  static constexpr std::uint32_t kSamplesKept = 3;

  void summarise(std::uint32_t second);

  std::map<std::uint32_t, SeriesRow> rows_;
  std::map<std::uint32_t, ByCell> open_;
  std::uint32_t next_ = 0;      ///< first second that is not whole
  std::uint32_t given_up_ = 0;  ///< seconds before this one take no more samples
};

}  // namespace onrush
