#include "core/health.h"

#include <fmt/format.h>

#include <cmath>

namespace onrush {
namespace {

// Times of a few milliseconds are what is measured: ten of our own lateness would be seen in their p99.
constexpr std::int64_t kSuspectLag_us = 10'000;
// A second late, and the samples no longer belong to the second that they are counted in.
constexpr std::int64_t kInvalidLag_us = 1'000'000;
// A worker thread this busy has no reserve left, so its queueing time is in every sample.
constexpr double kSuspectBusy = 0.95;
// A tenth of the machine's time taken by its host shows as pauses of whole scheduling slices.
constexpr double kSuspectSteal = 0.10;
// Each retransmission adds 200 ms or more (TCP's least timeout) to one sample; ten spoil the p99 of 1,000 a
// second.
constexpr std::uint64_t kSuspectRetransmits = 10;

class Causes {
 public:
  void add(const std::string& cause) {
    if (!text_.empty()) text_ += ", ";
    text_ += cause;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

const char* name(Grade grade) noexcept {
  switch (grade) {
    case Grade::valid: return "VALID";
    case Grade::suspect: return "SUSPECT";
    case Grade::invalid: return "INVALID";
  }
  return "unknown";
}

Judgement judge(const Health& health) {
  Causes causes;
  if (health.lag_p99_us > kSuspectLag_us)
    causes.add(fmt::format("late by {:.1f} ms (p99)", static_cast<double>(health.lag_p99_us) / 1000));
  // Negated, so that a figure that is no number is suspect and not valid.
  if (!(health.busiest_worker <= kSuspectBusy))
    causes.add(fmt::format("a worker at {:.0f} % of its core", 100 * health.busiest_worker));
  if (!(health.cpu_steal <= kSuspectSteal))
    causes.add(fmt::format("{:.0f} % of the CPU stolen", 100 * health.cpu_steal));
  // A dropped packet is never the target's doing, and costs a retransmission: one is enough.
  if (health.softnet_drops > 0)
    causes.add(fmt::format("{} packets dropped by this host", health.softnet_drops));
  if (health.retransmits > kSuspectRetransmits)
    causes.add(fmt::format("{} segments retransmitted by this host", health.retransmits));
  // The handshake of each waits for a retransmitted SYN: one second or more.
  if (health.listen_overflows > 0)
    causes.add(fmt::format("{} connections turned away by a full accept queue", health.listen_overflows));
  if (causes.text().empty()) return {};
  return {health.lag_p99_us > kInvalidLag_us ? Grade::invalid : Grade::suspect, causes.text()};
}

}  // namespace onrush
