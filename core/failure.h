// Why a connection, a request or a message failed: the key of the error table.
//
// Why: "bad handshake" for everything helps nobody. Phase x cause x detail names what happened; `ours`
// separates the generator's own limits from the target's faults. Owner: constant data and values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace onrush {

/// Of what shows one case of a failure: enough for a status line, where it points to, and the first 200 bytes
/// of a body. Whoever keeps one cuts it to this.
inline constexpr std::size_t kSampleBytes = 512;

/// What the connection was doing.
enum class Phase : std::uint8_t {
  connect,
  proxy,
  tls,
  upgrade,
  request,
  open,
  close,
  ack,  ///< GraphQL: upgraded, and not acknowledged yet
};
inline constexpr Phase kLastPhase = Phase::ack;

enum class Cause : std::uint8_t {
  none,
  system,              ///< a system call failed; detail = errno
  timeout,             ///< no answer within the step's time; detail = milliseconds
  refused_status,      ///< HTTP status other than 101; detail = status
  not_http,            ///< what came is not an HTTP/1.x response head; detail = 1 if it is a TLS alert
  head_too_large,      ///< response head over the limit
  bad_header,          ///< a header line that RFC 9112 forbids
  missing_upgrade,     ///< no `Upgrade: websocket`
  missing_connection,  ///< no `upgrade` token in Connection
  missing_accept,      ///< no Sec-WebSocket-Accept
  wrong_accept,        ///< it is not the hash of our key
  unasked_protocol,    ///< a subprotocol that was not offered
  missing_protocol,    ///< no subprotocol, though some were offered
  unasked_extension,   ///< an extension that was not offered
  bad_extension,       ///< an answer to permessage-deflate that RFC 7692 forbids
  end_of_stream,       ///< the peer ended TCP where more was due (1006)
  self_connect,        ///< TCP connected to its own port
  cancelled,           ///< the plan ended the attempt before it was done
  no_port,             ///< our own block of ports is used up
  broken_header,       ///< a header of the plan whose value would break its line
  no_row,              ///< a data feed is used up
  peer_close,       ///< a close frame that the plan had not asked for; detail = its code, 1005 if it had none
  masked_frame,     ///< 1002
  reserved_bits,    ///< 1002
  reserved_opcode,  ///< 1002
  bad_control_frame,  ///< fragmented or over 125 bytes; 1002
  bad_fragment,       ///< continuation without start, or start within a message; 1002
  bad_length,         ///< a length with its top bit set or not in its shortest form; 1002
  bad_close_frame,    ///< one-byte body or a code that may not be sent; 1002
  invalid_utf8,       ///< 1007
  bad_deflate,        ///< compressed bytes that cannot be inflated; 1007
  message_too_large,  ///< 1009
  self_signed,        ///< certificate or its root, and not trusted; detail = X.509 code, as of the next four
  expired_certificate,  ///< or not valid yet
  wrong_host,           ///< the certificate is another name's
  incomplete_chain,     ///< an issuer of the certificate is not known
  bad_certificate,      ///< another fault of a certificate
  tls_alert,            ///< the peer ended TLS with an alert; detail = its number (RFC 8446 section 6)
  not_tls,              ///< what came is no TLS
  tls_error,            ///< another fault of the peer's TLS; detail = OpenSSL's reason
  truncated,            ///< TCP ended without close_notify, so something may be missing (1006)
  no_pong,              ///< no answer to a keep-alive ping: a dead peer; detail = milliseconds
  no_value,             ///< a reply without what the script wanted to keep of it
  value_too_long,       ///< or with more than it allows
  ack_refused,          ///< GraphQL connection_error
  bad_message,          ///< no message of the GraphQL protocol
  unexpected_message,   ///< one that the protocol does not allow there; detail = its GraphqlType
  complete_with_payload,
  operation_refused,  ///< GraphQL error message: the operation was not executed
  result_errors,      ///< a GraphQL result with errors
  no_result,          ///< GraphQL complete before any result
  unknown_operation,  ///< a GraphQL message whose id was given to no operation of the connection
  bad_result,         ///< a GraphQL result whose payload is no object
  agent_lost,         ///< the agent that held the connection is gone
  other,              ///< kinds beyond the table's capacity
};

struct Failure {
  Phase phase = Phase::connect;
  Cause cause = Cause::none;
  std::uint32_t detail = 0;
  friend bool operator==(const Failure&, const Failure&) = default;
  friend auto operator<=>(const Failure&, const Failure&) = default;
};

/// "refused (ECONNREFUSED)", "503 Service Unavailable", "no answer in 30 s", "closed by peer, 1011 internal
/// error".
[[nodiscard]] std::string describe(const Failure& failure);

/// Before the connection is open: the failure is one of an attempt.
[[nodiscard]] constexpr bool is_of_attempt(Phase phase) noexcept {
  return phase <= Phase::upgrade || phase == Phase::ack;
}

/// Keeps of two samples of one kind the longer one, which shows more of what was said.
void show_more(std::string& sample, std::string_view other);

/// "connect", "upgrade", ...
[[nodiscard]] const char* name(Phase phase) noexcept;

/// "refused_status", "wrong_accept", ...: the enum's own word, for programs that read a report.
[[nodiscard]] const char* name(Cause cause) noexcept;

/// True if the generator or its machine is to blame (EADDRNOTAVAIL, EADDRINUSE, EMFILE, ENFILE, ENOBUFS,
/// ENOMEM, ENOSPC, no_port, cancelled, agent_lost); the target otherwise.
[[nodiscard]] bool is_ours(const Failure& failure) noexcept;

/// True if it is ours because the plan's data did not serve.
[[nodiscard]] bool is_of_data(const Failure& failure) noexcept;

/// True if it is ours and means that the measurement cannot be trusted: a limit of this machine was hit, or
/// the plan's data did not serve.
[[nodiscard]] bool is_own_limit(const Failure& failure) noexcept;

/// True of the silent end that a server makes of a connection with TLS where it expects none, or without
/// where it expects it. Servers in trouble end connections so too: it is no hint once any has opened.
[[nodiscard]] bool may_be_of_scheme(const Failure& failure) noexcept;

/// What to do about it in a few words, or "" ("add --source-addresses", "raise ulimit -n").
[[nodiscard]] const char* remedy(const Failure& failure) noexcept;

}  // namespace onrush
