// The books of broadcasts: who was entitled to each, who got it, and how long the fan-out took.
//
// Why: a listener that got nothing reports nothing, so what was not delivered must be reckoned from who
// listened. An agent that saw nothing of a broadcast counts its listeners as expected; so does a number
// missing between seen ones. Owner: the aggregate. Always: received <= expected; memory is bounded, the
// oldest broadcasts are folded into sums.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/histogram.h"
#include "core/snapshot.h"

namespace onrush {

struct DeliverySummary {
  std::uint64_t broadcasts = 0;  ///< that anybody saw
  std::uint64_t expected = 0;
  std::uint64_t received = 0;
  std::optional<std::int64_t> spread_p50_us;  ///< first to last first-copy of one broadcast, over all agents
  std::optional<std::int64_t> spread_max_us;

  /// received / expected; nothing if nothing was expected.
  [[nodiscard]] std::optional<double> reach() const noexcept;
};

class Deliveries {
 public:
  /// Broadcasts kept one by one; older ones are kept as sums by stage.
  static constexpr std::size_t kKept = 100'000;

  /// `listening_scenarios`: how many scenarios number broadcasts.
  Deliveries(std::uint32_t agents, std::uint32_t scenarios, std::uint32_t listening_scenarios);

  /// Listeners of an agent at the end of a second. Seconds come in order; those left out had as many as the
  /// last.
  void listening(std::uint32_t agent, std::uint32_t second, std::uint64_t listeners);
  void add(std::uint32_t agent, std::uint32_t second, const BroadcastCount& count);

  /// Of the broadcasts first seen in a stage, or of all.
  [[nodiscard]] DeliverySummary summary(std::optional<std::uint32_t> stage) const;

 private:
  struct Broadcast {
    std::uint32_t stage = 0;
    std::uint32_t second = 0;  ///< in which it was first seen
    std::uint64_t expected = 0;
    std::uint64_t received = 0;
    std::int64_t first_us = INT64_MAX;
    std::int64_t last_us = INT64_MIN;
    std::vector<bool> seen_by;
  };
  struct Folded {
    std::uint64_t broadcasts = 0;
    std::uint64_t expected = 0;
    std::uint64_t received = 0;
    Histogram spreads;
  };
  /// The broadcasts of one scenario's listeners.
  struct Stream {
    std::map<std::uint64_t, Broadcast> kept;
    std::optional<std::uint64_t> folded_until;  ///< sequence number
    std::uint32_t folded_second = 0;
    std::vector<std::uint64_t> last_expected;  ///< by agent
  };

  [[nodiscard]] std::uint64_t heard(std::uint32_t agent, std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] std::uint64_t unseen(const Stream& stream, const Broadcast& broadcast) const;
  [[nodiscard]] std::uint64_t missing(const Stream& stream, std::uint32_t from, std::uint32_t to,
                                      std::uint64_t numbers) const;
  void fold_oldest(Stream& stream);
  void account(const Stream& stream, const Broadcast& broadcast, Folded& into) const;

  std::uint32_t listening_scenarios_;
  std::vector<std::vector<std::uint32_t>> listeners_;  ///< by agent and second
  std::vector<Stream> streams_;                        ///< by scenario
  std::map<std::uint32_t, Folded> folded_;             ///< by stage
  std::size_t kept_ = 0;
};

}  // namespace onrush
