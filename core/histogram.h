// An HDR histogram: every sample counted, three significant digits, 1 us to 1 h, mergeable without loss.
//
// Why: percentiles of many agents can be merged exactly only if every sample's bucket travels. The layout and
// the encoding are HdrHistogram's (V2), so that any HdrHistogram library reads our files. Owner: one thread
// at a time. Counts live in lazily touched memory: an idle histogram costs no resident page, and clear, add
// and encode look only at the range in use. Recording allocates nothing. Always: count() = sum of all
// buckets; minimum and maximum are exact; no quantile lies outside them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
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

  /// Counts a sample. Negative is taken as 0; above an hour it is counted in the top bucket and in
  /// above_range(), while sum and maximum stay exact.
  void record(std::int64_t value_us) noexcept { record_many(value_us, 1); }
  void record_many(std::int64_t value_us, std::uint64_t count) noexcept;

  /// Adds all samples of another.
  void add(const Histogram& other) noexcept;

  /// Back to no samples.
  void clear() noexcept;

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::uint64_t above_range() const noexcept { return above_range_; }
  [[nodiscard]] double sum_us() const noexcept { return static_cast<double>(sum_us_); }
  [[nodiscard]] std::int64_t min_us() const noexcept {
    return count_ == 0 ? 0 : min_us_;
  }                                                                       ///< 0 without samples
  [[nodiscard]] std::int64_t max_us() const noexcept { return max_us_; }  ///< 0 without samples
  [[nodiscard]] double mean_us() const noexcept;                          ///< 0 without samples

  /// The smallest recorded value v (to three digits, clamped to the exact minimum and maximum) such that at
  /// least `quantile` of all samples are <= v. 0 without samples.
  [[nodiscard]] std::int64_t quantile_us(double quantile) const noexcept;

  /// Samples <= value, for Prometheus buckets (to three digits).
  [[nodiscard]] std::uint64_t count_at_or_below(std::int64_t value_us) const noexcept;

  /// HdrHistogram V2 (not compressed), followed by nothing. Sum, minimum, maximum and above_range travel
  /// apart.
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
  [[nodiscard]] Exact exact() const noexcept { return {sum_us(), min_us(), max_us(), above_range()}; }

  /// Adds all samples of an encoded one straight from its bytes; the value is how many they were. Errors (and
  /// then nothing is added): a cookie, length, precision or range other than ours, counts that overflow,
  /// bytes left over, or `exact` that cannot be.
  Expected<std::uint64_t, std::string> add_encoded(std::string_view v2, const Exact& exact);

  /// The same check, adding nothing.
  static Expected<std::uint64_t, std::string> check_encoded(std::string_view v2, const Exact& exact);

  /// Minimum, maximum and sum are then only as exact as the buckets are.
  static Expected<Histogram, std::string> decode_base64(std::string_view text);

 private:
  // HdrHistogram's layout for three digits: 2048 linear buckets of 1 us, then for each doubling of the value
  // 1024 buckets twice as wide as those before. 2^32 > kHighest_us, so 21 doublings follow the first 2^11.
  static constexpr int kHalfBits = 10;
  static constexpr std::uint64_t kHalf = std::uint64_t{1} << kHalfBits;
  static constexpr std::size_t kBuckets =
      (std::bit_width(static_cast<std::uint64_t>(kHighest_us)) - kHalfBits + 1) * kHalf;

  // With b doublings beyond the linear part a value has the index (b + 1) * kHalf + (v >> b) - kHalf.
  static constexpr std::size_t index_of(std::int64_t value_us) noexcept {
    const auto v = static_cast<std::uint64_t>(value_us);
    const auto doublings = static_cast<int>(std::bit_width(v | (2 * kHalf - 1))) - (kHalfBits + 1);
    return (static_cast<std::size_t>(doublings) << kHalfBits) + (v >> doublings);
  }
  static constexpr std::int64_t lowest_in(std::size_t index) noexcept {
    if (index < 2 * kHalf) return static_cast<std::int64_t>(index);
    const std::size_t doublings = (index >> kHalfBits) - 1;
    return static_cast<std::int64_t>(((index & (kHalf - 1)) + kHalf) << doublings);
  }
  static constexpr std::int64_t highest_in(std::size_t index) noexcept { return lowest_in(index + 1) - 1; }

  // The range in use follows from the exact extremes, so that recording need not keep it.
  [[nodiscard]] std::size_t first_used() const noexcept { return index_of(within_range(min_us_)); }
  [[nodiscard]] std::size_t last_used() const noexcept { return index_of(within_range(max_us_)); }
  static constexpr std::int64_t within_range(std::int64_t value_us) noexcept {
    return value_us < kHighest_us ? value_us : kHighest_us;
  }

  /// What a walk over an encoding's buckets has found.
  struct Walked {
    std::uint64_t count = 0;
    std::size_t first = 0;
    std::size_t last = 0;
    std::uint64_t in_top = 0;
  };
  template <class Bucket>
  static Expected<Walked, std::string> walk(std::string_view v2, Bucket&& bucket);
  static std::string why_impossible(const Walked& walked, const Exact& exact);

  struct Unmap {
    void operator()(std::uint64_t* counts) const noexcept;
  };
  std::unique_ptr<std::uint64_t[], Unmap> counts_;
  std::uint64_t count_ = 0;
  std::uint64_t above_range_ = 0;
  unsigned __int128 sum_us_ = 0;  ///< 64 bits would overflow by samples far above the range
  std::int64_t min_us_ = INT64_MAX;
  std::int64_t max_us_ = 0;
};

inline void Histogram::record_many(std::int64_t value_us, std::uint64_t count) noexcept {
  if (count == 0) return;
  const std::int64_t v = value_us < 0 ? 0 : value_us;
  if (v > kHighest_us) [[unlikely]]
    above_range_ += count;
  counts_[index_of(within_range(v))] += count;
  count_ += count;
  sum_us_ += static_cast<unsigned __int128>(v) * count;
  if (v < min_us_) min_us_ = v;
  if (v > max_us_) max_us_ = v;
}

}  // namespace onrush
