// A socket that listens on a free port of 127.0.0.1, for the peers of tests.
//
// Owner: whoever asked for it closes it.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <stdexcept>

namespace onrush {

struct ListeningSocket {
  int descriptor;
  std::uint16_t port;
};

/// Throws if there is none.
inline ListeningSocket listen_on_loopback() {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (listener < 0 || bind(listener, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
      listen(listener, 1024) != 0 ||
      getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) != 0)
    throw std::runtime_error{"no listening socket"};
  return {listener, ntohs(address.sin_port)};
}

}  // namespace onrush
