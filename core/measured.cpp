#include "core/measured.h"

namespace onrush {

void add(Counters& to, const Counters& counters) noexcept {
  for (std::size_t i = 0; i < kCounters; ++i) to[i] += counters[i];
}

const Histogram* Measured::find(Time time) const noexcept {
  const Histogram* found = times_[static_cast<std::size_t>(time)].get();
  return found != nullptr && found->count() > 0 ? found : nullptr;
}

std::uint64_t Measured::samples(Time time) const noexcept {
  const Histogram* found = find(time);
  return found == nullptr ? 0 : found->count();
}

Histogram& Measured::of(Time time) {
  std::unique_ptr<Histogram>& slot = times_[static_cast<std::size_t>(time)];
  if (slot == nullptr) slot = std::make_unique<Histogram>();
  return *slot;
}

void Measured::add(const Measured& other) {
  onrush::add(counters, other.counters);
  for (std::size_t i = 0; i < kTries; ++i) tries[i] += other.tries[i];
  for (std::size_t i = 0; i < kTimes; ++i)
    if (const auto time = static_cast<Time>(i); const Histogram* samples = other.find(time))
      of(time).add(*samples);
}

}  // namespace onrush
