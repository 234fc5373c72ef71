#include "core/failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "core/graphql.h"

namespace onrush {
namespace {

struct Named {
  std::uint32_t number;
  const char* words;
};

// Said in the words of a load test, where the C library's own ("Cannot assign requested address") would
// mislead.
constexpr std::array kSystem = {
    Named{ECONNREFUSED, "refused"},
    Named{ECONNRESET, "reset by peer"},
    Named{ECONNABORTED, "connection aborted"},
    Named{EPIPE, "written to a connection that the peer had ended"},
    Named{ETIMEDOUT, "given up by TCP"},
    Named{EHOSTUNREACH, "no route to host"},
    Named{ENETUNREACH, "network unreachable"},
    Named{EADDRNOTAVAIL, "no port left"},
    Named{EADDRINUSE, "port in use"},
    Named{EMFILE, "no descriptor left"},
    Named{ENFILE, "no descriptor left on this host"},
    Named{ENOBUFS, "no buffer left"},
    Named{ENOMEM, "no memory left"},
    Named{ENOSPC, "no epoll watch left"},
};

// IANA's HTTP status codes that servers and proxies answer handshakes with.
constexpr std::array kStatus = {
    Named{200, "OK"},
    Named{204, "No Content"},
    Named{301, "Moved Permanently"},
    Named{302, "Found"},
    Named{303, "See Other"},
    Named{304, "Not Modified"},
    Named{307, "Temporary Redirect"},
    Named{308, "Permanent Redirect"},
    Named{400, "Bad Request"},
    Named{401, "Unauthorized"},
    Named{403, "Forbidden"},
    Named{404, "Not Found"},
    Named{405, "Method Not Allowed"},
    Named{407, "Proxy Authentication Required"},
    Named{408, "Request Timeout"},
    Named{410, "Gone"},
    Named{411, "Length Required"},
    Named{413, "Content Too Large"},
    Named{414, "URI Too Long"},
    Named{421, "Misdirected Request"},
    Named{426, "Upgrade Required"},
    Named{429, "Too Many Requests"},
    Named{431, "Request Header Fields Too Large"},
    Named{500, "Internal Server Error"},
    Named{501, "Not Implemented"},
    Named{502, "Bad Gateway"},
    Named{503, "Service Unavailable"},
    Named{504, "Gateway Timeout"},
    Named{505, "HTTP Version Not Supported"},
};

// IANA's TLS alerts.
constexpr std::array kAlert = {
    Named{0, "close notify"},
    Named{10, "unexpected message"},
    Named{20, "bad record MAC"},
    Named{22, "record overflow"},
    Named{40, "handshake failure"},
    Named{42, "bad certificate"},
    Named{43, "unsupported certificate"},
    Named{44, "certificate revoked"},
    Named{45, "certificate expired"},
    Named{46, "certificate unknown"},
    Named{47, "illegal parameter"},
    Named{48, "unknown CA"},
    Named{49, "access denied"},
    Named{50, "decode error"},
    Named{51, "decrypt error"},
    Named{70, "protocol version"},
    Named{71, "insufficient security"},
    Named{80, "internal error"},
    Named{86, "inappropriate fallback"},
    Named{90, "user canceled"},
    Named{109, "missing extension"},
    Named{110, "unsupported extension"},
    Named{112, "unrecognized name"},
    Named{113, "bad certificate status response"},
    Named{115, "unknown PSK identity"},
    Named{116, "certificate required"},
    Named{120, "no application protocol"},
};

// OpenSSL's X509_V_ERR_* that one cause has several of.
constexpr std::uint32_t kNotYetValid = 9;
constexpr std::uint32_t kSelfSignedInChain = 19;

// IANA's WebSocket close codes.
constexpr std::array kClose = {
    Named{1000, "normal closure"},   Named{1001, "going away"},         Named{1002, "protocol error"},
    Named{1003, "unsupported data"}, Named{1007, "invalid payload"},    Named{1008, "policy violation"},
    Named{1009, "message too big"},  Named{1010, "extension required"}, Named{1011, "internal error"},
    Named{1012, "service restart"},  Named{1013, "try again later"},    Named{1014, "bad gateway"},
};

template <std::size_t N>
const char* words_of(const std::array<Named, N>& table, std::uint32_t number) {
  const auto* found =
      std::find_if(table.begin(), table.end(), [&](const Named& n) { return n.number == number; });
  return found == table.end() ? nullptr : found->words;
}

std::string describe_system(std::uint32_t number) {
  const char* symbol = strerrorname_np(static_cast<int>(number));
  if (symbol == nullptr) return fmt::format("system error {}", number);
  if (const char* words = words_of(kSystem, number)) return fmt::format("{} ({})", words, symbol);
  return fmt::format("{} ({})", strerrordesc_np(static_cast<int>(number)), symbol);
}

std::string describe_timeout(const Failure& failure) {
  const char* awaited = failure.phase == Phase::request ? "reply"
                        : failure.phase == Phase::ack   ? "connection_ack"
                        : failure.phase == Phase::close ? "close frame"
                        : failure.phase == Phase::open  ? "pong"
                                                        : "answer";
  if (failure.detail % 1000 == 0) return fmt::format("no {} in {} s", awaited, failure.detail / 1000);
  return fmt::format("no {} in {} ms", awaited, failure.detail);
}

std::string describe_no_pong(std::uint32_t ms) {
  return ms % 1000 == 0 ? fmt::format("dead peer, no pong in {} s", ms / 1000)
                        : fmt::format("dead peer, no pong in {} ms", ms);
}

std::string describe_status(std::uint32_t status) {
  const char* words = words_of(kStatus, status);
  return words == nullptr ? fmt::format("status {}", status) : fmt::format("{} {}", status, words);
}

std::string describe_peer_close(std::uint32_t code) {
  if (code == 1005) return "closed by peer, no code";
  const char* words = words_of(kClose, code);
  if (const char* graphql = graphql_close_words(code))
    return fmt::format("closed by peer, {} {} (GraphQL)", code, graphql);
  return words == nullptr ? fmt::format("closed by peer, {}", code)
                          : fmt::format("closed by peer, {} {}", code, words);
}

std::string describe_alert(std::uint32_t alert) {
  const char* words = words_of(kAlert, alert);
  return words == nullptr ? fmt::format("TLS alert {} from peer", alert)
                          : fmt::format("TLS alert {} from peer: {}", alert, words);
}

std::string describe_unexpected(std::uint32_t type) {
  const bool known = type > 0 && type < kGraphqlTypes;
  return fmt::format("GraphQL message '{}' out of place",
                     known ? name(static_cast<GraphqlType>(type)) : std::string_view{"unknown"});
}

const char* describe_end_of_stream(Phase phase) {
  switch (phase) {
    case Phase::connect:
    case Phase::proxy:
    case Phase::tls:
    case Phase::upgrade: return "ended by peer before its answer was complete";
    case Phase::ack: return "ended by peer before connection_ack";
    case Phase::request: return "ended by peer before the reply";
    case Phase::open:
    case Phase::close: break;
  }
  return "ended by peer without a close frame (1006)";
}

const char* remedy_of_alert(std::uint32_t alert) {
  switch (alert) {
    case 40:
    case 71: return "does it take our connection.tls.ciphers and min_version?";
    case 42:
    case 43:
    case 44:
    case 45:
    case 46:
    case 48:
    case 49:
    case 116: return "does it want a client certificate? connection.tls.certificate and key";
    case 70: return "does it speak TLS 1.2 or 1.3?";
    case 112: return "is connection.tls.server_name right?";
    default: return "";
  }
}

bool is_limit_errno(std::uint32_t number) {
  return number == EADDRNOTAVAIL || number == EADDRINUSE || number == EMFILE || number == ENFILE ||
         number == ENOBUFS || number == ENOMEM || number == ENOSPC;
}

}  // namespace

std::string describe(const Failure& failure) {
  switch (failure.cause) {
    case Cause::none: return "none";
    case Cause::system: return describe_system(failure.detail);
    case Cause::timeout: return describe_timeout(failure);
    case Cause::refused_status: return describe_status(failure.detail);
    case Cause::not_http:
      return failure.detail == 1 ? "answer is a TLS alert, not HTTP" : "answer is not HTTP";
    case Cause::head_too_large: return "response head over 16 KiB";
    case Cause::bad_header: return "malformed response header";
    case Cause::missing_upgrade: return "101 without 'Upgrade: websocket'";
    case Cause::missing_connection: return "101 without 'Connection: Upgrade'";
    case Cause::missing_accept: return "101 without Sec-WebSocket-Accept";
    case Cause::wrong_accept: return "wrong Sec-WebSocket-Accept";
    case Cause::unasked_protocol: return "subprotocol that was not offered";
    case Cause::missing_protocol: return "101 without one of the subprotocols offered";
    case Cause::unasked_extension: return "extension that was not offered";
    case Cause::bad_extension: return "answer to permessage-deflate that is not allowed";
    case Cause::end_of_stream: return describe_end_of_stream(failure.phase);
    case Cause::self_connect: return "refused (connected to its own port)";
    case Cause::cancelled: return "ended by the plan before it was done";
    case Cause::no_port: return "no port left (own block used up)";
    case Cause::broken_header: return "header value with a line break in it";
    case Cause::no_row: return "no row left in a data feed";
    case Cause::peer_close: return describe_peer_close(failure.detail);
    case Cause::masked_frame: return "masked frame from the server (1002)";
    case Cause::reserved_bits: return "reserved bits set (1002)";
    case Cause::reserved_opcode: return "reserved opcode (1002)";
    case Cause::bad_control_frame: return "control frame fragmented or too long (1002)";
    case Cause::bad_fragment: return "fragment out of order (1002)";
    case Cause::bad_length: return "malformed frame length (1002)";
    case Cause::bad_close_frame: return "malformed close frame (1002)";
    case Cause::invalid_utf8: return "text that is not UTF-8 (1007)";
    case Cause::bad_deflate: return "compressed message that cannot be inflated (1007)";
    case Cause::message_too_large: return "message too large (1009)";
    case Cause::self_signed:
      return failure.detail == kSelfSignedInChain ? "certificate's root is self-signed and not trusted"
                                                  : "certificate is self-signed";
    case Cause::expired_certificate:
      return failure.detail == kNotYetValid ? "certificate is not valid yet" : "certificate has expired";
    case Cause::wrong_host: return "certificate is for another host";
    case Cause::incomplete_chain:
      return "certificate's issuer is not known: chain incomplete or CA not trusted";
    case Cause::bad_certificate: return fmt::format("certificate is bad (X.509 code {})", failure.detail);
    case Cause::tls_alert: return describe_alert(failure.detail);
    case Cause::not_tls: return "answer is not TLS";
    case Cause::tls_error: return fmt::format("TLS broken by peer (OpenSSL reason {})", failure.detail);
    case Cause::truncated: return "TCP ended by peer without TLS close_notify (1006)";
    case Cause::no_pong: return describe_no_pong(failure.detail);
    case Cause::no_value: return "reply without the value to keep";
    case Cause::value_too_long: return "value to keep is too long";
    case Cause::ack_refused: return "refused by connection_error";
    case Cause::bad_message: return "not a message of the GraphQL protocol";
    case Cause::unexpected_message: return describe_unexpected(failure.detail);
    case Cause::complete_with_payload: return "GraphQL complete with a payload";
    case Cause::operation_refused: return "GraphQL operation refused";
    case Cause::result_errors: return "GraphQL errors in a result";
    case Cause::no_result: return "GraphQL complete before a result";
    case Cause::unknown_operation: return "GraphQL message for no operation of ours";
    case Cause::bad_result: return "GraphQL result whose payload is no object";
    case Cause::agent_lost: return "agent lost";
    case Cause::other: return "other kinds";
  }
  return "unknown";  // a number off the wire that names no cause
}

void show_more(std::string& sample, std::string_view other) {
  other = other.substr(0, kSampleBytes);
  if (other.size() > sample.size()) sample.assign(other);
}

const char* name(Cause cause) noexcept {
  switch (cause) {
    case Cause::none: return "none";
    case Cause::system: return "system";
    case Cause::timeout: return "timeout";
    case Cause::refused_status: return "refused_status";
    case Cause::not_http: return "not_http";
    case Cause::head_too_large: return "head_too_large";
    case Cause::bad_header: return "bad_header";
    case Cause::missing_upgrade: return "missing_upgrade";
    case Cause::missing_connection: return "missing_connection";
    case Cause::missing_accept: return "missing_accept";
    case Cause::wrong_accept: return "wrong_accept";
    case Cause::unasked_protocol: return "unasked_protocol";
    case Cause::missing_protocol: return "missing_protocol";
    case Cause::unasked_extension: return "unasked_extension";
    case Cause::bad_extension: return "bad_extension";
    case Cause::end_of_stream: return "end_of_stream";
    case Cause::self_connect: return "self_connect";
    case Cause::cancelled: return "cancelled";
    case Cause::no_port: return "no_port";
    case Cause::broken_header: return "broken_header";
    case Cause::no_row: return "no_row";
    case Cause::peer_close: return "peer_close";
    case Cause::masked_frame: return "masked_frame";
    case Cause::reserved_bits: return "reserved_bits";
    case Cause::reserved_opcode: return "reserved_opcode";
    case Cause::bad_control_frame: return "bad_control_frame";
    case Cause::bad_fragment: return "bad_fragment";
    case Cause::bad_length: return "bad_length";
    case Cause::bad_close_frame: return "bad_close_frame";
    case Cause::invalid_utf8: return "invalid_utf8";
    case Cause::bad_deflate: return "bad_deflate";
    case Cause::message_too_large: return "message_too_large";
    case Cause::self_signed: return "self_signed";
    case Cause::expired_certificate: return "expired_certificate";
    case Cause::wrong_host: return "wrong_host";
    case Cause::incomplete_chain: return "incomplete_chain";
    case Cause::bad_certificate: return "bad_certificate";
    case Cause::tls_alert: return "tls_alert";
    case Cause::not_tls: return "not_tls";
    case Cause::tls_error: return "tls_error";
    case Cause::truncated: return "truncated";
    case Cause::no_pong: return "no_pong";
    case Cause::no_value: return "no_value";
    case Cause::value_too_long: return "value_too_long";
    case Cause::ack_refused: return "ack_refused";
    case Cause::bad_message: return "bad_message";
    case Cause::unexpected_message: return "unexpected_message";
    case Cause::complete_with_payload: return "complete_with_payload";
    case Cause::operation_refused: return "operation_refused";
    case Cause::result_errors: return "result_errors";
    case Cause::no_result: return "no_result";
    case Cause::unknown_operation: return "unknown_operation";
    case Cause::bad_result: return "bad_result";
    case Cause::agent_lost: return "agent_lost";
    case Cause::other: return "other";
  }
  return "unknown";
}

const char* name(Phase phase) noexcept {
  switch (phase) {
    case Phase::connect: return "connect";
    case Phase::proxy: return "proxy";
    case Phase::tls: return "tls";
    case Phase::upgrade: return "upgrade";
    case Phase::request: return "request";
    case Phase::open: return "open";
    case Phase::close: return "close";
    case Phase::ack: return "ack";
  }
  return "unknown";
}

bool is_of_data(const Failure& failure) noexcept {
  return failure.cause == Cause::broken_header || failure.cause == Cause::no_row;
}

bool is_own_limit(const Failure& failure) noexcept {
  return failure.cause == Cause::no_port || is_of_data(failure) ||
         (failure.cause == Cause::system && is_limit_errno(failure.detail));
}

bool is_ours(const Failure& failure) noexcept {
  return is_own_limit(failure) || failure.cause == Cause::cancelled || failure.cause == Cause::agent_lost;
}

bool may_be_of_scheme(const Failure& failure) noexcept {
  return (failure.phase == Phase::tls || failure.phase == Phase::upgrade) &&
         (failure.cause == Cause::end_of_stream ||
          (failure.cause == Cause::system && failure.detail == ECONNRESET));
}

const char* remedy(const Failure& failure) noexcept {
  if (failure.cause == Cause::no_port) return "add --source-addresses";
  if (failure.cause == Cause::no_row) return "give the feed more rows, or take: cycle, or on_end: stop";
  if (failure.cause == Cause::broken_header) return "look for line breaks in the rows of the data feed";
  if (failure.cause == Cause::value_too_long) return "give it a larger at_most";
  if (failure.cause == Cause::peer_close && failure.phase == Phase::ack) {
    // Of the protocols' crossed names the wrong one is the likeliest mistake.
    if (failure.detail == 4406 || failure.detail == 1002) return "is 'protocol' the one that it speaks?";
    if (failure.detail == 4401 || failure.detail == 4403) return "does 'init' hold what it asks for?";
  }
  if (failure.cause == Cause::unexpected_message) return "is 'protocol' the one that it speaks?";
  if (failure.phase == Phase::proxy && failure.cause != Cause::system) {
    if (failure.cause == Cause::not_http) return "is this an HTTP proxy?";
    if (failure.cause != Cause::refused_status) return "";
    return failure.detail == 407 ? "are user and password right?" : "the proxy does not reach the target";
  }
  if (failure.cause == Cause::not_http)
    return failure.detail == 1 ? "this port speaks TLS: write wss://" : "is this a plain WebSocket port?";
  if (may_be_of_scheme(failure))
    return failure.phase == Phase::tls ? "does this port speak TLS? ws:// goes without"
                                       : "does this port speak TLS? then write wss://";
  if (failure.cause == Cause::not_tls) return "is this a wss:// port? ws:// goes without TLS";
  if (failure.cause == Cause::self_signed || failure.cause == Cause::incomplete_chain)
    return "name its CA in connection.tls.ca";
  if (failure.cause == Cause::wrong_host) return "is connection.tls.server_name right?";
  if (failure.cause == Cause::tls_alert) return remedy_of_alert(failure.detail);
  if (failure.cause == Cause::refused_status) {
    if (failure.detail >= 300 && failure.detail < 400) return "use the address it points to";
    if (failure.detail == 404) return "is the path right?";
  }
  if (failure.cause != Cause::system) return "";
  switch (failure.detail) {
    case EADDRNOTAVAIL:
    case EADDRINUSE: return "add --source-addresses";
    case EMFILE: return "raise ulimit -n";
    case ENFILE: return "raise fs.file-max";
    case ENOBUFS:
    case ENOMEM: return "raise net.ipv4.tcp_mem, or spread over more hosts";
    case ENOSPC: return "raise fs.epoll.max_user_watches";
    case ECONNREFUSED: return "does the target listen there?";
    default: return "";
  }
}

}  // namespace onrush
