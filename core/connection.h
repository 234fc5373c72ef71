// How connections are made: what `connection:` of a plan says, checked.
//
// Owner: part of a Plan; immutable. Always: a member that the plan does not state has the default given here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/deflate.h"
#include "core/graphql.h"
#include "core/json_template.h"
#include "core/proxy.h"
#include "core/tls.h"
#include "core/upgrade_head.h"

namespace onrush {

/// Pings that keep a connection alive and tell a dead peer from an idle one.
struct KeepAlive {
  std::int64_t interval_ns = 0;  ///< each connection is pinged once in it
  std::int64_t timeout_ns = 0;   ///< without its pong by then the peer is dead; at most the interval
};

/// The GraphQL protocol that is spoken over each connection. What is offered stands among the subprotocols.
struct GraphqlConnection {
  std::vector<Subprotocol> offered;  ///< in the order of preference; not empty, none twice
  JsonTemplate init;                 ///< payload of connection_init; none if empty
  std::int64_t ack_timeout_ns = 10'000'000'000;
  bool closes_on_error = false;  ///< a server that breaks the protocol is closed with 4400; else only counted
};

struct Connection {
  std::optional<KeepAlive> ping;
  std::int64_t timeout_ns = 30'000'000'000;  ///< of a `connect` step that states none
  UpgradeFields upgrade;
  Tls tls;
  std::optional<GraphqlConnection> graphql;
  std::optional<DeflateOffer> deflate;  ///< nothing: compression is not offered
  std::optional<Proxy> proxy;           ///< that connections go through
};

/// What is likely not meant by it, for the author; or "".
[[nodiscard]] std::string doubt_of(const Connection& connection);

}  // namespace onrush
