#include "core/address.h"

#include <fmt/format.h>

#include <charconv>

namespace onrush {

Expected<HostPort, std::string> parse_host_port(std::string_view text) {
  const auto wrong = [&](std::string_view what) {
    return Unexpected{
        fmt::format("'{}' {}; write HOST:PORT, for example 127.0.0.1:7070 or [::1]:7070", text, what)};
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong("has no port");
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  else if (host.find(':') != std::string_view::npos)
    return wrong("has an IPv6 address without brackets");
  if (host.empty()) return wrong("has no host");
  unsigned port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size() || port > 65'535)
    return wrong("has no port from 0 to 65535");
  return HostPort{std::string{host}, static_cast<std::uint16_t>(port)};
}

std::string join_host_port(const HostPort& address) {
  const bool is_ipv6 = address.host.find(':') != std::string::npos;
  return is_ipv6 ? fmt::format("[{}]:{}", address.host, address.port)
                 : fmt::format("{}:{}", address.host, address.port);
}

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "::1" || host.substr(0, 4) == "127.";
}

}  // namespace onrush
