#include "core/metrics.h"

namespace onrush {
namespace {

constexpr std::array<Metric, kTimes> kTimeTable{{
    {"tcp_connect_time", "onrush_tcp_connect_time_seconds", "us", Kind::histogram,
     "From SYN to established connection."},
    {"tls_time", "onrush_tls_time_seconds", "us", Kind::histogram,
     "From the established connection to the end of the TLS handshake, full or resumed."},
    {"tls_resumed_time", "onrush_tls_resumed_time_seconds", "us", Kind::histogram,
     "The TLS handshakes among them that resumed an earlier session."},
    {"upgrade_time", "onrush_upgrade_time_seconds", "us", Kind::histogram,
     "From the upgrade request sent to the verified 101."},
    {"ack_time", "onrush_ack_time_seconds", "us", Kind::histogram,
     "From a GraphQL connection_init sent to its connection_ack."},
    {"handshake_time", "onrush_handshake_time_seconds", "us", Kind::histogram,
     "From the start of an attempt to the open connection; successes only."},
    {"failed_handshake_time", "onrush_failed_handshake_time_seconds", "us", Kind::histogram,
     "From the start of an attempt to its failure."},
    {"start_lag", "onrush_start_lag_seconds", "us", Kind::histogram,
     "From when a session was due to its start: lateness of the generator."},
    {"send_lag", "onrush_send_lag_seconds", "us", Kind::histogram,
     "From when a message was due and could be sent to its sending: lateness of the generator."},
    {"round_trip_time", "onrush_round_trip_time_seconds", "us", Kind::histogram,
     "From a request sent to its reply."},
    {"response_time", "onrush_response_time_seconds", "us", Kind::histogram,
     "From when a paced request was due to its reply."},
    {"sending_time", "onrush_sending_time_seconds", "us", Kind::histogram,
     "From when a paced message that waits for no reply was due to its handing to the socket."},
    {"delivery_time", "onrush_delivery_time_seconds", "us", Kind::histogram,
     "From a copy of a broadcast handed to its socket to its receipt."},
    {"batch_delivery_time", "onrush_batch_delivery_time_seconds", "us", Kind::histogram,
     "From the begin of a broadcast to the receipt of a copy."},
    {"first_event_time", "onrush_first_event_time_seconds", "us", Kind::histogram,
     "From a GraphQL subscription sent to its first event."},
    {"session_time", "onrush_session_time_seconds", "us", Kind::histogram,
     "From an open connection to its close."},
    {"recovery_time", "onrush_recovery_time_seconds", "us", Kind::histogram,
     "From a lost or cut connection to the next one of the same user."},
    {"expect_time", "onrush_expect_time_seconds", "us", Kind::histogram,
     "From the begin of an expect step to the message that it waits for."},
    {"ping_time", "onrush_ping_time_seconds", "us", Kind::histogram,
     "From a ping of the script sent to its pong."},
}};

constexpr std::array<Metric, kCounters> kCounterTable{{
    {"attempted", "onrush_connections_attempted_total", "connections", Kind::counter, "Connections begun."},
    {"opened", "onrush_connections_opened_total", "connections", Kind::counter,
     "Connections with a verified 101."},
    {"failed", "onrush_connections_failed_total", "connections", Kind::counter,
     "Attempts that did not open."},
    {"closed", "onrush_connections_closed_total", "connections", Kind::counter,
     "Opened connections that ended, for whatever reason."},
    {"lost", "onrush_connections_lost_total", "connections", Kind::counter,
     "Closed connections that neither the script nor the plan had ended."},
    {"arrivals", "onrush_arrivals_total", "sessions", Kind::counter, "Sessions due in the open model."},
    {"dropped_arrivals", "onrush_dropped_arrivals_total", "sessions", Kind::counter,
     "Arrivals for which no user was free."},
    {"messages_sent", "onrush_messages_sent_total", "messages", Kind::counter, "Data messages sent."},
    {"messages_received", "onrush_messages_received_total", "messages", Kind::counter,
     "Data messages received."},
    {"bytes_sent", "onrush_bytes_sent_total", "bytes", Kind::counter,
     "Bytes sent above TCP, with handshakes and frame headers."},
    {"bytes_received", "onrush_bytes_received_total", "bytes", Kind::counter,
     "Bytes received above TCP, with handshakes and frame headers."},
    {"requests", "onrush_requests_total", "messages", Kind::counter,
     "Messages that waited for a reply, counted at its end."},
    {"failed_requests", "onrush_failed_requests_total", "messages", Kind::counter,
     "Requests without a reply in time or whose connection ended."},
    {"delivered", "onrush_broadcasts_delivered_total", "messages", Kind::counter,
     "First copies of broadcasts received by listening users."},
    {"duplicates", "onrush_broadcast_duplicates_total", "messages", Kind::counter,
     "Further copies of broadcasts."},
    {"gaps", "onrush_broadcast_gaps_total", "messages", Kind::counter,
     "Broadcasts that a listener skipped and has not received since."},
    {"reordered", "onrush_broadcasts_reordered_total", "messages", Kind::counter,
     "Copies of broadcasts that came after a later one."},
    {"own_failed", "onrush_connections_own_failed_total", "connections", Kind::counter,
     "Failed attempts for a limit of the generator's own machine."},
    {"own_lost", "onrush_connections_own_lost_total", "connections", Kind::counter,
     "Lost connections for a limit of the generator's own machine."},
    {"port_retries", "onrush_port_retries_total", "ports", Kind::counter,
     "Local ports that others held, so that the next was tried."},
    {"without_row", "onrush_sessions_without_row_total", "sessions", Kind::counter,
     "Sessions that found no row left in a data feed."},
    {"reconnects", "onrush_reconnects_total", "connections", Kind::counter,
     "Attempts after a back-off, counted when they have opened or failed."},
    {"reconnected", "onrush_reconnected_total", "connections", Kind::counter,
     "Attempts after a back-off that opened."},
    {"gave_up", "onrush_users_gave_up_total", "users", Kind::counter,
     "Users who stay away because they had no attempt left."},
    {"disconnected", "onrush_connections_disconnected_total", "connections", Kind::counter,
     "Closed connections that a stage's disconnect had ended."},
    {"keepalive_pings", "onrush_keepalive_pings_total", "messages", Kind::counter,
     "Pings that keep connections alive."},
    {"keepalive_pongs", "onrush_keepalive_pongs_total", "messages", Kind::counter,
     "Pongs that answered them in time."},
    {"expectations", "onrush_expectations_total", "messages", Kind::counter,
     "Expect steps, counted at their end."},
    {"failed_expectations", "onrush_failed_expectations_total", "messages", Kind::counter,
     "Expect steps without their message in time or whose connection ended."},
    {"pings", "onrush_pings_total", "messages", Kind::counter, "Pings of scripts, counted at their end."},
    {"failed_pings", "onrush_failed_pings_total", "messages", Kind::counter,
     "Pings of scripts without a pong in time or whose connection ended."},
    {"subscriptions", "onrush_graphql_subscriptions_total", "subscriptions", Kind::counter,
     "GraphQL subscriptions begun."},
    {"events", "onrush_graphql_events_total", "messages", Kind::counter,
     "Results received by GraphQL subscriptions."},
    {"graphql_errors", "onrush_graphql_errors_total", "messages", Kind::counter,
     "GraphQL results with errors, and operations that the server refused."},
    {"late_messages", "onrush_graphql_late_messages_total", "messages", Kind::counter,
     "GraphQL messages for operations that had ended."},
    {"payload_bytes_sent", "onrush_payload_bytes_sent_total", "bytes", Kind::counter,
     "Bytes of the data messages sent, before compression and without frame headers."},
    {"payload_bytes_received", "onrush_payload_bytes_received_total", "bytes", Kind::counter,
     "Bytes of the data messages received, after decompression and without frame headers."},
    {"cancelled", "onrush_connections_cancelled_total", "connections", Kind::counter,
     "Failed attempts that the plan ended before they were done."},
    {"early_stamps", "onrush_broadcast_early_stamps_total", "stamps", Kind::counter,
     "Time stamps of broadcasts later than their receipt, of which no delivery time is taken."},
}};

static_assert(static_cast<std::size_t>(Counter::early_stamps) + 1 == kCounters);
static_assert(static_cast<std::size_t>(Time::ping) + 1 == kTimes);

template <class Enum, std::size_t N>
std::optional<Enum> named(const std::array<Metric, N>& table, std::string_view name) noexcept {
  for (std::size_t i = 0; i < N; ++i)
    if (table[i].name == name) return static_cast<Enum>(i);
  return std::nullopt;
}

}  // namespace

const Metric& describe(Time time) noexcept { return kTimeTable[static_cast<std::size_t>(time)]; }
const Metric& describe(Counter counter) noexcept { return kCounterTable[static_cast<std::size_t>(counter)]; }

std::optional<Time> time_named(std::string_view name) noexcept { return named<Time>(kTimeTable, name); }
std::optional<Counter> counter_named(std::string_view name) noexcept {
  return named<Counter>(kCounterTable, name);
}

}  // namespace onrush
