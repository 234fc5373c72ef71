// An HDR histogram: every sample counted, three significant digits, 1 us to 1 h, mergeable without loss.
//
// Why: percentiles of many agents can be merged exactly only if every sample's bucket travels. The layout and the
// encoding are HdrHistogram's (V2), so that any HdrHistogram library reads our files.
// Owner: one thread at a time. Counts live in lazily touched memory: an idle histogram costs no resident page, and
// clear, add and encode look only at the range in use. Recording allocates nothing.
// Always: count() = sum of all buckets; minimum and maximum are exact; no quantile lies outside them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/expected.h"

namespace onrush {

class Histogram {
 public:
  static constexpr std::int64_t kLowest_us = 1;
  static constexpr std::int64_t kHighest_us = 3'600'000'000;
  static constexpr int kSignificantDigits = 3;

  Histogram();

  /// Counts a sample. Negative is taken as 0; above an hour it is counted in the top bucket and in above_range(),
  /// while sum and maximum stay exact.
  void record(std::int64_t value_us) noexcept { record_many(value_us, 1); }
  void record_many(std::int64_t value_us, std::uint64_t count) noexcept;

  /// Adds all samples of another.
  void add(const Histogram& other) noexcept;

  /// Back to no samples.
  void clear() noexcept;

  [[nodiscard]] std::uint64_t count() const noexcept;
  [[nodiscard]] std::uint64_t above_range() const noexcept;
  [[nodiscard]] double sum_us() const noexcept;
  [[nodiscard]] std::int64_t min_us() const noexcept;  ///< 0 without samples
  [[nodiscard]] std::int64_t max_us() const noexcept;  ///< 0 without samples
  [[nodiscard]] double mean_us() const noexcept;       ///< 0 without samples

  /// The smallest recorded value v (to three digits, clamped to the exact minimum and maximum) such that at least
  /// `quantile` of all samples are <= v. 0 without samples.
  [[nodiscard]] std::int64_t quantile_us(double quantile) const noexcept;

  /// Samples <= value, for Prometheus buckets (to three digits).
  [[nodiscard]] std::uint64_t count_at_or_below(std::int64_t value_us) const noexcept;

  /// HdrHistogram V2 (not compressed), followed by nothing. Sum, minimum, maximum and above_range travel apart.
  [[nodiscard]] std::string encode() const;
  /// V2 compressed (zlib) in base64: what HdrHistogram libraries and log files exchange.
  [[nodiscard]] std::string encode_base64() const;

  /// Exact figures that the encoding does not carry.
  struct Exact {
    double sum_us;
    std::int64_t min_us;
    std::int64_t max_us;
    std::uint64_t above_range;
  };
  [[nodiscard]] Exact exact() const noexcept;

  /// Adds all samples of an encoded one straight from its bytes. Errors (and then nothing is added): a cookie,
  /// length, precision or range other than ours, counts that overflow, bytes left over, or `exact` that cannot be.
  Expected<std::uint64_t, std::string> add_encoded(std::string_view v2, const Exact& exact);
  static Expected<Histogram, std::string> decode_base64(std::string_view text);

 private:
  // Layout is the implementer's.
};

}  // namespace onrush
