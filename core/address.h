// HOST:PORT as people write it: 127.0.0.1:7070, [::1]:7070, coordinator.example:7070.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/expected.h"

namespace onrush {

struct HostPort {
  std::string host;  ///< without brackets
  std::uint16_t port;
};

/// Error: what is missing or wrong, with the form wanted. Port 0 is allowed: to listen on any.
[[nodiscard]] Expected<HostPort, std::string> parse_host_port(std::string_view text);
[[nodiscard]] std::string join_host_port(const HostPort& address);

/// localhost, 127.0.0.0/8 or ::1.
[[nodiscard]] bool is_loopback(std::string_view host);

}  // namespace onrush
