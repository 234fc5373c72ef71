#include "core/health.h"

#include <fmt/format.h>

#include <algorithm>
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
// What arrives while a turn lasts is stamped late by up to its length; a tenth of a second is a tenth of all.
constexpr std::int64_t kSuspectTurn_us = 100'000;
// A loop that stood still for a second has counted what happened in it in another.
constexpr std::int64_t kInvalidTurn_us = 1'000'000;
// A thread that is ready and has no core adds the wait to what it measures. Waits of microseconds are the
// rule on a machine at work; a mean of one millisecond means many of ten, the limit of lateness above.
constexpr std::int64_t kSuspectWait_us = 1000;
// A few long waits in a second that is otherwise quiet touch few samples.
constexpr double kSuspectWait = 0.10;
// Lost packets cost 200 ms or more each (TCP's least timeout; a lost SYN a second), so what they spoil is not
// the size but the number of samples: of one in a hundred the p99. The kernel counts them for the whole host,
// neighbours' and the target's included, and so is what they are a share of. A tenth of what spoils the p99
// is suspect, because all may have been ours.
constexpr double kSuspectShare = 0.001;
// Fewer a second than these are no share of anything: every host retransmits now and then.
constexpr std::uint64_t kFew = 10;

bool is_many(std::uint64_t count, std::uint64_t of) {
  return count > kFew && static_cast<double>(count) > kSuspectShare * static_cast<double>(of);
}

std::string share_text(std::uint64_t count, std::uint64_t of) {
  // Drops may be all that the counters saw.
  return fmt::format("{:.1f} %", 100 * static_cast<double>(count) / static_cast<double>(std::max(count, of)));
}

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

// Negated comparisons, so that a figure that is no number is suspect and not valid.
void judge_loop(const Health& health, Causes& causes) {
  if (health.lag_p99_us > kSuspectLag_us)
    causes.add(fmt::format("late by {:.1f} ms (p99)", static_cast<double>(health.lag_p99_us) / 1000));
  if (health.turn_max_us > kSuspectTurn_us)
    causes.add(fmt::format("a worker's loop stood still for {:.0f} ms",
                           static_cast<double>(health.turn_max_us) / 1000));
  if (!(health.busiest_worker <= kSuspectBusy))
    causes.add(fmt::format("a worker at {:.0f} % of its core", 100 * health.busiest_worker));
  if (!(health.cpu_wait <= kSuspectWait) && health.cpu_wait_mean_us > kSuspectWait_us)
    causes.add(fmt::format("a worker without a core for {:.0f} % of the time, {:.1f} ms at a time",
                           100 * health.cpu_wait, static_cast<double>(health.cpu_wait_mean_us) / 1000));
}

void judge_host(const Health& health, Causes& causes) {
  if (!(health.cpu_steal <= kSuspectSteal))
    causes.add(fmt::format("{:.0f} % of the CPU stolen", 100 * health.cpu_steal));
  if (is_many(health.softnet_drops, health.packets_in))
    causes.add(fmt::format("{} packets dropped by this host ({})", health.softnet_drops,
                           share_text(health.softnet_drops, health.packets_in)));
  if (is_many(health.retransmits, health.segments_out))
    causes.add(fmt::format("{} segments retransmitted by this host ({})", health.retransmits,
                           share_text(health.retransmits, health.segments_out)));
  if (is_many(health.listen_overflows, health.connects))
    causes.add(fmt::format("{} connections turned away by a full accept queue ({})", health.listen_overflows,
                           share_text(health.listen_overflows, health.connects)));
  // Rare and never small: TCP then trims the buffers of every socket of the host.
  if (health.memory_pressures > 0) causes.add("TCP of this host short of memory (tcp_mem)");
}

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
  judge_loop(health, causes);
  judge_host(health, causes);
  if (causes.text().empty()) return {};
  const bool is_invalid = health.lag_p99_us > kInvalidLag_us || health.turn_max_us > kInvalidTurn_us;
  return {is_invalid ? Grade::invalid : Grade::suspect, causes.text()};
}

bool nears_end_of_memory(const Health& health) noexcept {
  return health.memory_left_bytes < health.memory_reserve_bytes;
}

}  // namespace onrush
