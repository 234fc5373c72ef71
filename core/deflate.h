// permessage-deflate (RFC 7692) as it is agreed on: what a client offers, and what it makes of the answer.
//
// Why: an answer that is not understood exactly shows up later as a corrupt message, far from its cause; so
// whatever the RFC does not allow fails the handshake (P077). Owner: pure functions and values. Always: an
// agreement asks nothing of us that was not offered, except what RFC 7692 lets a server ask for unasked
// (no context takeover on our side, less window on its own). core/deflate_stream.h does the compressing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/failure.h"

namespace onrush {

inline constexpr std::uint8_t kMinWindowBits = 8;   ///< RFC 7692 section 7.1.2
inline constexpr std::uint8_t kMaxWindowBits = 15;  ///< a window of 32 KiB

/// Level 5 of zlib's memory: a hash table of 4,096 entries, which is cleared quickly.
inline constexpr int kDeflateMemoryLevel = 5;

/// What is offered: `connection.deflate` of a plan. As it stands here it is what browsers offer.
struct DeflateOffer {
  bool client_window = true;                           ///< the server may set a limit to our window
  std::optional<std::uint8_t> client_max_window_bits;  ///< we use no larger one anyway; needs client_window
  std::optional<std::uint8_t> server_max_window_bits;  ///< the server must use no larger one
  bool client_no_context_takeover = false;             ///< we compress each message by itself
  bool server_no_context_takeover = false;             ///< the server must do so
};

/// Memory of the contexts that a connection may come to own if the server grants what it likes best, 0 if it
/// shares them with others.
[[nodiscard]] std::uint64_t context_bytes(const DeflateOffer& offer) noexcept;

/// "permessage-deflate; client_max_window_bits": the value of Sec-WebSocket-Extensions.
[[nodiscard]] std::string offer_text(const DeflateOffer& offer);

/// What holds for a connection.
struct DeflateAgreement {
  std::uint8_t client_window_bits = kMaxWindowBits;  ///< of what we send, 8 to 15
  std::uint8_t server_window_bits = kMaxWindowBits;  ///< of what comes
  bool client_takeover = true;                       ///< our messages refer to those before them
  bool server_takeover = true;                       ///< the server's do
  friend bool operator==(const DeflateAgreement&, const DeflateAgreement&) = default;
};

/// What the fields Sec-WebSocket-Extensions of an answer say, all of them in turn.
struct ExtensionAnswer {
  std::optional<DeflateAgreement> deflate;
  Cause fault = Cause::none;  ///< the first: unasked_extension or bad_extension
};

/// Reads the value of one more such field (RFC 6455 section 9.1, RFC 7692 section 7.1). `offer`: nullptr if
/// nothing was offered. An empty value names nothing.
void read_extensions(std::string_view value, const DeflateOffer* offer, ExtensionAnswer& answer) noexcept;

}  // namespace onrush
