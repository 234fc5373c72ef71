// Which TCP sockets listen on this host, asked of the kernel by netlink (sock_diag(7)).
//
// Why: /proc/net/tcp walks through every connection of the host to find them, which takes seconds beside a
// million. Where netlink is not to be had, /proc/net/tcp is read after all. Any thread.
#pragma once

#include <cstdint>
#include <vector>

namespace onrush {

struct ListeningSocket {
  std::uint16_t port = 0;
  std::uint64_t inode = 0;  ///< as in /proc/PID/fd: socket:[inode]
};
[[nodiscard]] std::vector<ListeningSocket> listening_sockets();

/// Ports that must not be bound on this host: those that listen and net.ipv4.ip_local_reserved_ports. Sorted.
[[nodiscard]] std::vector<std::uint16_t> occupied_ports();

}  // namespace onrush
