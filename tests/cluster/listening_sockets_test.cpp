#include "proto/listening_sockets.h"

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace onrush {
namespace {

using testing::Contains;
using testing::Field;
using testing::Not;

struct Listener {
  explicit Listener(int family) : descriptor{socket(family, SOCK_STREAM, 0)} {
    sockaddr_in6 address{};
    address.sin6_family = static_cast<sa_family_t>(family);
    socklen_t length = family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
    EXPECT_EQ(bind(descriptor, reinterpret_cast<sockaddr*>(&address), length), 0);
    EXPECT_EQ(listen(descriptor, 1), 0);
    EXPECT_EQ(getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length), 0);
    port = ntohs(address.sin6_port);  // at the same place in both families
    struct stat file {};
    EXPECT_EQ(fstat(descriptor, &file), 0);
    inode = file.st_ino;
  }
  ~Listener() { close(descriptor); }

  int descriptor;
  std::uint16_t port = 0;
  std::uint64_t inode = 0;
};

TEST(ListeningSockets, ListenersOfBothFamiliesAreFoundByPortAndInode) {
  for (const int family : {AF_INET, AF_INET6}) {
    std::uint16_t port = 0;
    {
      const Listener listener{family};
      port = listener.port;
      EXPECT_THAT(listening_sockets(), Contains(AllOf(Field(&ListeningSocket::port, port),
                                                      Field(&ListeningSocket::inode, listener.inode))));
      EXPECT_THAT(occupied_ports(), Contains(port));
    }
    EXPECT_THAT(listening_sockets(), Not(Contains(Field(&ListeningSocket::port, port))));
  }
}

}  // namespace
}  // namespace onrush
