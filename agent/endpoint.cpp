#include "agent/endpoint.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <cstring>

namespace onrush {

std::optional<Endpoint> Endpoint::from_text(std::string_view address, std::uint16_t port, int family) {
  Endpoint endpoint;
  const std::string text{address};
  auto& v4 = reinterpret_cast<sockaddr_in&>(endpoint.v6_);
  if (text.empty()) {
    endpoint.v6_.sin6_family = static_cast<sa_family_t>(family);
  } else if (inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
  } else if (inet_pton(AF_INET6, text.c_str(), &endpoint.v6_.sin6_addr) == 1) {
    endpoint.v6_.sin6_family = AF_INET6;
  } else {
    return std::nullopt;
  }
  endpoint.set_port(port);
  return endpoint;
}

std::optional<Endpoint> Endpoint::from_sockaddr(const sockaddr* address, socklen_t length) {
  if (address->sa_family != AF_INET && address->sa_family != AF_INET6) return std::nullopt;
  if (length > sizeof(sockaddr_in6)) return std::nullopt;
  Endpoint endpoint;
  std::memcpy(&endpoint.v6_, address, length);
  return endpoint;
}

bool Endpoint::is_unspecified() const noexcept {
  if (family() == AF_INET) return v4().sin_addr.s_addr == htonl(INADDR_ANY);
  return IN6_IS_ADDR_UNSPECIFIED(&v6_.sin6_addr);
}

bool Endpoint::is_loopback() const noexcept {
  if (family() == AF_INET) return ntohl(v4().sin_addr.s_addr) >> 24 == 127;
  return family() == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6_.sin6_addr);
}

bool Endpoint::same_address(const Endpoint& other) const noexcept {
  if (family() != other.family()) return false;
  if (family() == AF_INET) return v4().sin_addr.s_addr == other.v4().sin_addr.s_addr;
  return std::memcmp(&v6_.sin6_addr, &other.v6_.sin6_addr, sizeof v6_.sin6_addr) == 0;
}

std::string Endpoint::text() const {
  char buffer[INET6_ADDRSTRLEN] = "";
  if (family() == AF_INET6) {
    inet_ntop(AF_INET6, &v6_.sin6_addr, buffer, sizeof buffer);
    return fmt::format("[{}]:{}", buffer, port());
  }
  if (family() == AF_INET) inet_ntop(AF_INET, &v4().sin_addr, buffer, sizeof buffer);
  return fmt::format("{}:{}", buffer, port());
}

}  // namespace onrush
