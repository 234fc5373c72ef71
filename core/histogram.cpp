#include "core/histogram.h"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/check.h"

namespace onrush {

// Straight from the kernel and not by calloc: pages are zero without being written, and stay untouched until
// a sample falls into them, whereas calloc clears what it takes from memory that was freed before.
Histogram::Histogram()
    : counts_{
          static_cast<std::uint64_t*>(mmap(nullptr, kBuckets * sizeof(std::uint64_t), PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))} {
  ONRUSH_CHECK(counts_.get() != MAP_FAILED);
}

void Histogram::Unmap::operator()(std::uint64_t* counts) const noexcept {
  munmap(counts, kBuckets * sizeof(std::uint64_t));
}

void Histogram::add(const Histogram& other) noexcept {
  if (other.count_ == 0) return;
  const std::size_t last = other.last_used();
  for (std::size_t i = other.first_used(); i <= last; ++i)
    if (other.counts_[i] != 0) counts_[i] += other.counts_[i];  // reading alone makes no page resident
  count_ += other.count_;
  above_range_ += other.above_range_;
  sum_us_ += other.sum_us_;
  min_us_ = std::min(min_us_, other.min_us_);
  max_us_ = std::max(max_us_, other.max_us_);
}

void Histogram::clear() noexcept {
  if (count_ == 0) return;
  const std::size_t first = first_used();
  std::memset(&counts_[first], 0, (last_used() - first + 1) * sizeof counts_[0]);
  count_ = above_range_ = 0;
  sum_us_ = 0;
  min_us_ = INT64_MAX;
  max_us_ = 0;
}

double Histogram::mean_us() const noexcept {
  return count_ == 0 ? 0 : static_cast<double>(sum_us_) / static_cast<double>(count_);
}

std::int64_t Histogram::quantile_us(double quantile) const noexcept {
  if (count_ == 0) return 0;
  if (!(quantile > 0)) return min_us_;
  if (quantile >= 1) return max_us_;
  // 0.07 * 100 is a little more than 7 in floating point; the next number below 0.07 gives the rank that was
  // meant.
  const double rank = std::ceil(std::nextafter(quantile, 0.0) * static_cast<double>(count_));
  const auto wanted = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(rank));
  if (wanted > count_ - above_range_) return max_us_;  // of those above the range only the maximum is known
  std::uint64_t seen = 0;
  const std::size_t last = last_used();
  for (std::size_t i = first_used(); i <= last; ++i) {
    seen += counts_[i];
    if (seen >= wanted) return std::clamp(highest_in(i), min_us_, max_us_);
  }
  return max_us_;
}

std::uint64_t Histogram::count_at_or_below(std::int64_t value_us) const noexcept {
  if (count_ == 0 || value_us < min_us_) return 0;
  if (value_us >= max_us_) return count_;
  if (value_us >= kHighest_us) return count_ - above_range_;
  std::uint64_t seen = 0;
  const std::size_t last = std::min(index_of(value_us), last_used());
  for (std::size_t i = first_used(); i <= last; ++i) seen += counts_[i];
  return seen;
}

}  // namespace onrush
