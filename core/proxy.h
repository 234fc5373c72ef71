// An HTTP proxy that connections go through, and how one is asked for a tunnel (RFC 9110 section 9.3.6).
//
// Why: many targets are reached through a proxy only, and its refusals must not be taken for the target's.
// Owner: part of a Plan, immutable; the functions are pure. Always: user and password are in `authorization`
// alone, which goes on the wire and nowhere else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/expected.h"
#include "core/handshake.h"
#include "core/url.h"

namespace onrush {

struct Proxy {
  Url url;                    ///< its host and port; the rest means nothing
  std::string authorization;  ///< "Basic cTpw", or "" if it wants none
  std::string user_info;      ///< "user:password" as it stands in the plan, to be hidden from copies of it
};

/// `http://[USER:PASSWORD@]HOST[:PORT]`, port 80 if it is not stated; %XX in user and password stands for a
/// byte. The error names what is wrong and never shows user or password.
[[nodiscard]] Expected<Proxy, UrlError> parse_proxy(std::string_view text);

/// The head that asks for a tunnel to the target.
void encode_connect(const Url& target, const Proxy& proxy, std::string& out);

/// Verdict on a complete head: Cause::none if the tunnel is there, which any status from 200 to 299 says,
/// HTTP/1.0 included. `sample`: the status line, or the line at fault.
[[nodiscard]] HandshakeVerdict check_tunnel(std::string_view head);

/// The text with the proxy's user and password hidden, wherever they stand before an '@'.
[[nodiscard]] std::string without_user_info(std::string text, const Proxy& proxy);

}  // namespace onrush
