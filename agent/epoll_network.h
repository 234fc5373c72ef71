// The network of the kernel: edge-triggered epoll, one descriptor set a worker, no locks.
//
// Why epoll and not io_uring: Docker's default profile blocks io_uring. Owner: the worker's
// thread. Always: a socket is registered once, and again only if it once took less than was written; SIGPIPE
// cannot come (MSG_NOSIGNAL).
#pragma once

#include <sys/epoll.h>

#include <vector>

#include "agent/network.h"

namespace onrush {

class EpollNetwork final : public Network {
 public:
  /// Events taken from the kernel in one wait: as many as a turn may handle.
  static constexpr int kEvents = 512;

  static Expected<std::unique_ptr<Network>, std::string> make();
  ~EpollNetwork() override;
  EpollNetwork(const EpollNetwork&) = delete;
  EpollNetwork& operator=(const EpollNetwork&) = delete;

  [[nodiscard]] std::int64_t now_ns() noexcept override;
  [[nodiscard]] std::int64_t wall_us() noexcept override;
  [[nodiscard]] std::int64_t thread_cpu_ns() noexcept override;
  [[nodiscard]] CoreWait thread_wait() noexcept override;
  [[nodiscard]] std::span<const NetworkEvent> wait(std::int64_t until_ns) noexcept override;
  void wake() noexcept override;
  [[nodiscard]] Begun connect(const Endpoint& local, const Endpoint& remote, SocketToken token,
                              std::span<const std::uint8_t> first) noexcept override;
  [[nodiscard]] int finish_connect(int descriptor) noexcept override;
  [[nodiscard]] std::ptrdiff_t read(int descriptor, std::span<std::uint8_t> into) noexcept override;
  [[nodiscard]] std::ptrdiff_t write(int descriptor, std::span<const std::uint8_t> bytes) noexcept override;
  void await_room(int descriptor, SocketToken token) noexcept override;
  void close(int descriptor, bool reset) noexcept override;

 private:
  EpollNetwork(int epoll, int bell) noexcept;

  int epoll_;
  int bell_;            ///< eventfd that wake() rings
  int schedstat_ = -1;  ///< of the thread that asks for it
  std::vector<epoll_event> ready_;
  std::vector<NetworkEvent> events_;
};

}  // namespace onrush
