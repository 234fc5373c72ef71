// Every figure that Onrush takes: one table with name, unit, kind and help, and the enums that index it.
//
// Why: the exposition, the report, the plan's expressions and the docs must use the same words, so there is
// one list. Owner: constant data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace onrush {

/// Times, each a histogram in microseconds; docs/measurement.md says how each is taken.
enum class Time : std::uint8_t {
  tcp_connect,       ///< SYN -> established
  tls,               ///< TCP established -> TLS secured
  tls_resumed,       ///< of them, those that went on with an earlier session
  upgrade,           ///< request sent -> verified 101
  ack,               ///< GraphQL: connection_init sent -> connection_ack
  handshake,         ///< start -> open; successes only
  failed_handshake,  ///< start -> the failure
  start_lag,         ///< a session due -> started: our own lateness
  send_lag,          ///< a message due and sendable -> sent: our own lateness
  round_trip,        ///< sent -> reply
  response,          ///< due -> reply, for paced messages
  sending,           ///< due -> sent, for paced messages that wait for no reply
  delivery,          ///< a copy of a broadcast handed to its socket -> received
  batch_delivery,    ///< a broadcast begun -> this copy received
  first_event,       ///< GraphQL: a subscription begun -> its first event
  session,           ///< connection open -> closed
  recovery,          ///< cut off -> open again
  expect,            ///< an `expect` step begins -> the message that it waits for
  ping,              ///< a ping of the script sent -> its pong
};
inline constexpr std::size_t kTimes = 19;

/// Counters, since the run began.
enum class Counter : std::uint8_t {
  attempted,          ///< connections begun
  opened,             ///< verified 101
  failed,             ///< attempts that did not open
  closed,             ///< opened connections that ended, for whatever reason
  lost,               ///< closed ones that neither the script nor the plan had ended
  arrivals,           ///< sessions due in the open model
  dropped_arrivals,   ///< arrivals for which no user was free
  messages_sent,      ///< data messages
  messages_received,  ///< data messages
  bytes_sent,         ///< on the wire above TCP, handshake and frame headers included
  bytes_received,
  requests,             ///< messages that waited for a reply, counted when they have it or have failed
  failed_requests,      ///< of them, those without a reply in time or whose connection ended
  delivered,            ///< first copies of broadcasts received by listening users
  duplicates,           ///< further copies
  gaps,                 ///< broadcasts that a listener skipped and has not received since
  reordered,            ///< copies that came after a later one
  own_failed,           ///< failed ones for a limit of our own machine: no fault of the target
  own_lost,             ///< lost ones, likewise
  port_retries,         ///< local ports that others held, so that the next was tried
  without_row,          ///< sessions that found no row left in a data feed
  reconnects,           ///< attempts after a back-off, counted when they have opened or failed
  reconnected,          ///< of them, those that opened
  gave_up,              ///< users who had no attempt left
  disconnected,         ///< closed ones that a stage's `disconnect` had ended
  keepalive_pings,      ///< pings that keep connections alive
  keepalive_pongs,      ///< pongs that answered them in time
  expectations,         ///< `expect` steps, counted when their message has come or they have failed
  failed_expectations,  ///< of them, those without it in time or whose connection ended
  pings,                ///< of scripts, counted when the pong has come or they have failed
  failed_pings,         ///< of them, those without it in time or whose connection ended
  subscriptions,        ///< GraphQL subscriptions begun
  events,               ///< their results
  graphql_errors,  ///< results with errors, and operations that the server refused: it answered all the same
  late_messages,   ///< GraphQL messages for operations that had ended
  payload_bytes_sent,      ///< of data messages, before compression
  payload_bytes_received,  ///< of data messages, after decompression
  cancelled,               ///< failed ones that the plan ended before they were done: no fault of the target
  early_stamps,            ///< time stamps of broadcasts later than their receipt: no delivery time is taken
};
inline constexpr std::size_t kCounters = 39;

enum class Kind : std::uint8_t { counter, gauge, histogram };

/// One line of the table.
struct Metric {
  std::string_view name;        ///< in plans, summary.json, series.csv: `handshake_time`, `opened`
  std::string_view prometheus;  ///< `onrush_handshake_time_seconds`, `onrush_connections_opened_total`
  std::string_view unit;        ///< "us", "connections", "messages", "bytes", ...
  Kind kind;
  std::string_view help;
};

[[nodiscard]] const Metric& describe(Time time) noexcept;
[[nodiscard]] const Metric& describe(Counter counter) noexcept;

/// By the name used in plans; nothing if there is none.
[[nodiscard]] std::optional<Time> time_named(std::string_view name) noexcept;
[[nodiscard]] std::optional<Counter> counter_named(std::string_view name) noexcept;

/// Users who came back, by the attempts that it took: 1, 2, ..., 31, and 32 or more.
inline constexpr std::size_t kTries = 32;
using Tries = std::array<std::uint64_t, kTries>;

using Counters = std::array<std::uint64_t, kCounters>;

[[nodiscard]] constexpr std::uint64_t& at(Counters& counters, Counter c) noexcept {
  return counters[static_cast<std::size_t>(c)];
}
[[nodiscard]] constexpr std::uint64_t at(const Counters& counters, Counter c) noexcept {
  return counters[static_cast<std::size_t>(c)];
}

}  // namespace onrush
