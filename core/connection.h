// How connections are made: what `connection:` of a plan says, checked.
//
// Owner: part of a Plan; immutable. Always: a member that the plan does not state has the default given here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/proxy.h"
#include "core/tls.h"
#include "core/upgrade_head.h"

namespace onrush {

/// Pings that keep a connection alive and tell a dead peer from an idle one.
struct KeepAlive {
  std::int64_t interval_ns = 0;  ///< each connection is pinged once in it
  std::int64_t timeout_ns = 0;   ///< without its pong by then the peer is dead; at most the interval
};

struct Connection {
  std::optional<KeepAlive> ping;
  std::int64_t timeout_ns = 30'000'000'000;  ///< of a `connect` step that states none
  UpgradeFields upgrade;
  Tls tls;
  std::optional<Proxy> proxy;  ///< that connections go through
};

/// What is likely not meant by it, for the author; or "".
[[nodiscard]] std::string doubt_of(const Connection& connection);

}  // namespace onrush
