// An IP address and a port, v4 or v6: a value that converts to and from what the kernel wants.
//
// Owner: any thread. Always: unspecified address ("") means whatever the route gives; port 0 means none
// chosen.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace onrush {

class Endpoint {
 public:
  Endpoint() noexcept : v6_{} { v6_.sin6_family = AF_UNSPEC; }

  /// A numeric address ("127.0.0.2", "::1"), or the unspecified one of `family` for "". Nothing if it is not
  /// one.
  static std::optional<Endpoint> from_text(std::string_view address, std::uint16_t port,
                                           int family = AF_INET);
  /// As the resolver gives it; nothing for families other than IPv4 and IPv6.
  static std::optional<Endpoint> from_sockaddr(const sockaddr* address, socklen_t length);

  [[nodiscard]] int family() const noexcept { return v6_.sin6_family; }
  [[nodiscard]] std::uint16_t port() const noexcept { return ntohs(v6_.sin6_port); }
  void set_port(std::uint16_t port) noexcept { v6_.sin6_port = htons(port); }
  [[nodiscard]] bool is_unspecified() const noexcept;
  [[nodiscard]] bool is_loopback() const noexcept;
  [[nodiscard]] bool same_address(const Endpoint& other) const noexcept;

  [[nodiscard]] const sockaddr* address() const noexcept { return reinterpret_cast<const sockaddr*>(&v6_); }
  [[nodiscard]] socklen_t length() const noexcept {
    return family() == AF_INET6 ? socklen_t{sizeof(sockaddr_in6)} : socklen_t{sizeof(sockaddr_in)};
  }
  /// "127.0.0.1:8080", "[::1]:8080".
  [[nodiscard]] std::string text() const;

 private:
  const sockaddr_in& v4() const noexcept { return *reinterpret_cast<const sockaddr_in*>(&v6_); }
  // Family and port lie at the same place in sockaddr_in and sockaddr_in6, so the larger one holds either.
  sockaddr_in6 v6_;
};

}  // namespace onrush
