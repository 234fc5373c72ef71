// The opening handshake (RFC 6455 section 4), the client's side: the request, and the check of what comes
// back.
//
// Owner: the worker; pure. The response head is collected by the caller in a borrowed buffer only if it
// arrives split; find_head_end is linear over all calls if `searched` is passed back in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/deflate.h"
#include "core/failure.h"
#include "core/url.h"

namespace onrush {

/// Response heads longer than this fail (docs/decisions): bytes from the status line to the empty line.
inline constexpr std::size_t kMaxHeadBytes = 16 * 1024;

/// A Sec-WebSocket-Key and the Sec-WebSocket-Accept that answers it, as they travel.
using KeyText = std::array<char, 24>;
using AcceptText = std::array<char, 28>;

/// 16 random bytes in base64.
[[nodiscard]] KeyText key_text(std::uint64_t random_high, std::uint64_t random_low) noexcept;
[[nodiscard]] std::string make_key(std::uint64_t random_high, std::uint64_t random_low);

/// base64(SHA-1(key + GUID)), RFC 6455 section 4.2.2.
[[nodiscard]] AcceptText accept_text(std::string_view key) noexcept;
[[nodiscard]] std::string accept_of(std::string_view key);

/// What a plan wants in the request head beside what every one has.
struct RequestExtras {
  std::string_view path = {};        ///< instead of the target's, unless empty
  std::string_view lines = {};       ///< whole lines, each with its CRLF
  bool has_host = false;             ///< among them is a Host
  std::string_view extensions = {};  ///< the value of Sec-WebSocket-Extensions, "" for none
};

/// The whole request head.
void encode_request(const Url& url, std::string_view key, std::string& out, const RequestExtras& extras = {});

/// What the request has offered, of which the server may choose.
struct RequestOffers {
  std::span<const std::string> subprotocols = {};
  /// A server that chooses none is taken at its word: those of GraphQL say why by a close frame (4406) behind
  /// their 101.
  bool may_choose_none = false;
  const DeflateOffer* deflate = nullptr;  ///< permessage-deflate, if it was
};

/// Length of the head including the empty line that ends it, or nothing yet. `searched` = bytes looked at
/// before. The caller's rule of size: no end within the first kMaxHeadBytes means head_too_large, however the
/// bytes are cut.
[[nodiscard]] std::optional<std::size_t> find_head_end(std::string_view bytes, std::size_t searched) noexcept;

/// Could these first bytes of an answer still become an HTTP/1.x status line? False: fail at once as
/// not_http.
[[nodiscard]] bool may_be_http(std::string_view bytes) noexcept;

/// Verdict on a complete head: Cause::none if the connection is open. `sample` shows what was refused (status
/// line, Location of a 3xx, the header at fault), at most 200 bytes of printable ASCII. What is taken and
/// what is refused beyond the RFCs' letter is decided in docs/decisions/0010-upgrade-response.md.
struct HandshakeVerdict {
  Failure failure;
  std::string sample;
  std::size_t subprotocol = 0;  ///< place of the server's choice in the offers, if there were any
  std::optional<DeflateAgreement> deflate{};  ///< of an open connection: what was agreed on
};
[[nodiscard]] HandshakeVerdict check_response(std::string_view head, std::string_view key,
                                              const RequestOffers& offers = {});

}  // namespace onrush
