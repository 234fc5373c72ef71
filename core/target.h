// Where connections go: one server or several, by name or at addresses that the plan names.
//
// Owner: part of a Plan; immutable. Always: a plan has at least one target; `addresses` are numeric and the
// url's host is then a name; weights are 1 to kMostWeight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/url.h"

namespace onrush {

inline constexpr std::size_t kMostTargets = 64;
/// Of one target, named or found by its name.
inline constexpr std::size_t kMostTargetAddresses = 64;
inline constexpr std::uint32_t kMostWeight = 1000;

struct Target {
  Url url;
  std::uint32_t weight = 1;  ///< its share of the connections
  /// Connected to in turn in place of what the name has; empty: each agent looks the name up, once.
  std::vector<std::string> addresses = {};
};

/// What the agents connect to: the named addresses, or the host where there are none.
[[nodiscard]] std::vector<std::string> hosts_of(const std::vector<Target>& targets);
/// "ws://a.test/echo, ws://b.test/echo": as they were written.
[[nodiscard]] std::string describe(const std::vector<Target>& targets);
/// Some of them, or all, are on this host by their name or address.
[[nodiscard]] bool any_on_loopback(const std::vector<Target>& targets);
[[nodiscard]] bool all_on_loopback(const std::vector<Target>& targets);

/// Which target the next connection goes to: by weight, evenly mixed, the same sequence every time.
class TargetTurn {
 public:
  /// Begins as far into the sequence as `start` says, so that not all workers begin with the same one.
  TargetTurn(const std::vector<Target>& targets, std::uint32_t start);
  [[nodiscard]] std::size_t next() noexcept;

 private:
  std::vector<std::int64_t> weights_;
  std::vector<std::int64_t> credits_;
  std::int64_t sum_ = 0;
};

}  // namespace onrush
