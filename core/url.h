// A WebSocket address (RFC 6455 section 3), taken apart and ready for a request line.
//
// Owner: any thread; a value. Always: `path` begins with '/', holds only printable ASCII, and keeps escapes
// it had.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/expected.h"

namespace onrush {

struct Url {
  bool secure = false;      ///< wss
  std::string host;         ///< without brackets, lower case, a trailing dot kept
  std::uint16_t port = 80;  ///< stated or the scheme's default (80, 443)
  std::string path = "/";   ///< path and query, non-ASCII bytes escaped
  std::string host_header;  ///< RFC 6455 section 4.1: IPv6 in brackets, port only if it is not the default
  std::string text;         ///< as it was written
};

/// Where in the address something is wrong (byte offset from 0), and what.
struct UrlError {
  std::size_t offset;
  std::string message;
};
Expected<Url, UrlError> parse_url_at(std::string_view text);

/// Takes `text` apart. The error says what is wrong and what to write instead.
Expected<Url, std::string> parse_url(std::string_view text);

}  // namespace onrush
