#include "proto/listening_sockets.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

namespace onrush {
namespace {

constexpr std::uint32_t kListen = 10;  // TCP_LISTEN of <netinet/tcp.h>, which does not go with <linux/*>

struct Request {
  nlmsghdr header;
  inet_diag_req_v2 body;
};

bool ask(int netlink, std::uint8_t family) {
  Request request{};
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request.body.sdiag_family = family;
  request.body.sdiag_protocol = IPPROTO_TCP;
  request.body.idiag_states = 1U << kListen;  // no other state: then the kernel leaves connections alone
  return send(netlink, &request, sizeof request, 0) == sizeof request;
}

// False if the kernel cannot tell.
bool take_answers(int netlink, std::vector<ListeningSocket>& found) {
  alignas(nlmsghdr) std::array<char, 32 * 1024> buffer{};
  for (;;) {
    const ssize_t got = recv(netlink, buffer.data(), buffer.size(), 0);
    if (got <= 0) return false;
    auto left = static_cast<unsigned>(got);
    for (auto* header = reinterpret_cast<nlmsghdr*>(buffer.data()); NLMSG_OK(header, left);
         header = NLMSG_NEXT(header, left)) {
      if (header->nlmsg_type == NLMSG_DONE) return true;
      if (header->nlmsg_type != SOCK_DIAG_BY_FAMILY) return false;
      const auto* socket = static_cast<const inet_diag_msg*>(NLMSG_DATA(header));
      found.push_back({ntohs(socket->id.idiag_sport), socket->idiag_inode});
    }
  }
}

bool ask_netlink(std::vector<ListeningSocket>& found) {
  const int netlink = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  if (netlink < 0) return false;
  const bool told = ask(netlink, AF_INET) && take_answers(netlink, found) && ask(netlink, AF_INET6) &&
                    take_answers(netlink, found);
  close(netlink);
  return told;
}

// Columns of /proc/net/tcp: sl, local, remote, state, queues, timer, retransmits, uid, timeout, inode
// (proc(5)).
void read_table(const char* table, std::vector<ListeningSocket>& found) {
  std::ifstream file{table};
  std::string line;
  std::getline(file, line);  // the heading
  while (std::getline(file, line)) {
    std::istringstream columns{line};
    std::string sl, local, remote, state, queues, timer, retransmits, uid, timeout;
    std::uint64_t inode = 0;
    columns >> sl >> local >> remote >> state >> queues >> timer >> retransmits >> uid >> timeout >> inode;
    const std::size_t colon = local.rfind(':');
    if (state != "0A" || colon == std::string::npos) continue;
    found.push_back({static_cast<std::uint16_t>(std::stoul(local.substr(colon + 1), nullptr, 16)), inode});
  }
}

// "8080,9000-9010"
void add_reserved(const char* file, std::vector<std::uint16_t>& ports) {
  std::ifstream list{file};
  std::string range;
  while (std::getline(list, range, ',')) {
    unsigned first = 0, last = 0;
    const int fields = std::sscanf(range.c_str(), "%u-%u", &first, &last);
    if (fields < 1) continue;
    if (fields == 1) last = first;
    for (unsigned port = first; port <= last && port <= 65'535; ++port)
      ports.push_back(static_cast<std::uint16_t>(port));
  }
}

}  // namespace

std::vector<ListeningSocket> listening_sockets() {
  std::vector<ListeningSocket> found;
  if (ask_netlink(found)) return found;
  found.clear();
  read_table("/proc/net/tcp", found);
  read_table("/proc/net/tcp6", found);
  return found;
}

std::vector<std::uint16_t> occupied_ports() {
  std::vector<std::uint16_t> ports;
  for (const ListeningSocket& socket : listening_sockets()) ports.push_back(socket.port);
  add_reserved("/proc/sys/net/ipv4/ip_local_reserved_ports", ports);
  std::sort(ports.begin(), ports.end());
  ports.erase(std::unique(ports.begin(), ports.end()), ports.end());
  return ports;
}

}  // namespace onrush
