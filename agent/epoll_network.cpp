#include "agent/epoll_network.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>

namespace onrush {
namespace {

// Slot 0 is never given out, so token 0 is free to mean the bell.
constexpr std::uint64_t kBell = 0;

std::uint64_t packed(SocketToken token) { return std::uint64_t{token.generation} << 32 | token.slot; }

std::int64_t read_clock(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

bool set_option(int descriptor, int level, int option, int value) {
  return setsockopt(descriptor, level, option, &value, sizeof value) == 0;
}

Network::Begun fail(int descriptor) {
  const int error = errno;
  ::close(descriptor);
  return {-error};
}

epoll_event interest(std::uint32_t events, SocketToken token) {
  epoll_event event{};
  event.events = events | EPOLLIN | EPOLLRDHUP | EPOLLET;
  event.data.u64 = packed(token);
  return event;
}

// An explicit bind with SO_REUSEADDR to a port that we own is O(1); the kernel's own search is linear in the
// ports in use. Without a port of ours, IP_BIND_ADDRESS_NO_PORT leaves the choice to connect(), which knows
// the whole 4-tuple.
bool bind_to(int descriptor, const Endpoint& local) {
  if (local.port() != 0) {
    if (!set_option(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)) return false;
  } else {
    if (local.is_unspecified()) return true;
    if (!set_option(descriptor, SOL_IP, IP_BIND_ADDRESS_NO_PORT, 1)) return false;
  }
  return bind(descriptor, local.address(), local.length()) == 0;
}

}  // namespace

Expected<std::unique_ptr<Network>, std::string> EpollNetwork::make() {
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0) return Unexpected{fmt::format("epoll_create1: {}", std::strerror(errno))};
  const int bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;
  event.data.u64 = kBell;
  if (bell < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, bell, &event) != 0) {
    const std::string reason = std::strerror(errno);
    if (bell >= 0) ::close(bell);
    ::close(epoll);
    return Unexpected{fmt::format("eventfd: {}", reason)};
  }
  return std::unique_ptr<Network>{new EpollNetwork{epoll, bell}};
}

EpollNetwork::EpollNetwork(int epoll, int bell) noexcept
    : epoll_{epoll}, bell_{bell}, ready_(kEvents), events_(kEvents) {}

EpollNetwork::~EpollNetwork() {
  if (schedstat_ >= 0) ::close(schedstat_);
  ::close(bell_);
  ::close(epoll_);
}

std::int64_t EpollNetwork::now_ns() noexcept { return read_clock(CLOCK_MONOTONIC); }
std::int64_t EpollNetwork::wall_us() noexcept { return read_clock(CLOCK_REALTIME) / 1000; }
std::int64_t EpollNetwork::thread_cpu_ns() noexcept { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

// The kernel's words: time on a core, time waiting for one, slices; in nanoseconds.
Network::CoreWait EpollNetwork::thread_wait() noexcept {
  if (schedstat_ < 0) schedstat_ = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  std::array<char, 64> text{};
  const ssize_t length = pread(schedstat_, text.data(), text.size(), 0);
  if (length <= 0) return {};
  const char* const end = text.data() + length;
  std::array<std::int64_t, 3> words{};
  const char* at = text.data();
  for (std::int64_t& word : words) {
    at = std::from_chars(at, end, word).ptr;
    if (at != end) ++at;
  }
  return {words[1], words[2]};
}

std::span<const NetworkEvent> EpollNetwork::wait(std::int64_t until_ns) noexcept {
  const std::int64_t left = std::max<std::int64_t>(until_ns - now_ns(), 0);
  const timespec timeout{left / 1'000'000'000, left % 1'000'000'000};
  const int count = epoll_pwait2(epoll_, ready_.data(), kEvents, &timeout, nullptr);
  std::size_t filled = 0;
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = ready_[static_cast<std::size_t>(i)];
    if (event.data.u64 == kBell) {
      std::uint64_t rings = 0;
      // Nothing to do about a failure: the counter is only there to be cleared.
      [[maybe_unused]] const auto got = ::read(bell_, &rings, sizeof rings);
      continue;
    }
    NetworkEvent& out = events_[filled++];
    out.token = {static_cast<std::uint32_t>(event.data.u64),
                 static_cast<std::uint32_t>(event.data.u64 >> 32)};
    out.readable = (event.events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    out.writable = (event.events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0;
    out.ended = (event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
  }
  return {events_.data(), filled};
}

void EpollNetwork::wake() noexcept {
  const std::uint64_t one = 1;
  // A full counter means that the bell has rung already.
  [[maybe_unused]] const auto put = ::write(bell_, &one, sizeof one);
}

// On loopback the peer's SYN+ACK has been dealt with when connect() returns, so the request can leave with
// it: one wake-up and one event less a connection. Elsewhere it takes a round trip, and nothing is tried.
Network::Begun EpollNetwork::connect(const Endpoint& local, const Endpoint& remote, SocketToken token,
                                     std::span<const std::uint8_t> first) noexcept {
  const int descriptor = socket(remote.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return {-errno};
  if (!bind_to(descriptor, local) || !set_option(descriptor, IPPROTO_TCP, TCP_NODELAY, 1))
    return fail(descriptor);
  if (::connect(descriptor, remote.address(), remote.length()) != 0 && errno != EINPROGRESS)
    return fail(descriptor);
  Begun begun{descriptor};
  // Which port the kernel chose has to be known first: it may have been the target's own.
  if (remote.is_loopback() && local.port() != 0 && !first.empty()) {
    begun.established_ns = now_ns();
    const std::ptrdiff_t put = write(descriptor, first);
    if (put < 0 && put != -EAGAIN) {
      ::close(descriptor);
      return {static_cast<int>(put)};
    }
    if (put > 0)
      begun.written = static_cast<std::size_t>(put);
    else
      begun.established_ns = 0;
  }
  epoll_event event = interest(begun.written == 0 ? EPOLLOUT : 0u, token);
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) != 0) return fail(descriptor);
  return begun;
}

void EpollNetwork::await_room(int descriptor, SocketToken token) noexcept {
  epoll_event event = interest(EPOLLOUT, token);
  // Changing what is registered needs no memory, so it cannot fail.
  [[maybe_unused]] const int changed = epoll_ctl(epoll_, EPOLL_CTL_MOD, descriptor, &event);
}

int EpollNetwork::finish_connect(int descriptor) noexcept {
  int error = 0;
  socklen_t length = sizeof error;
  if (getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) != 0) return -errno;
  if (error != 0) return -error;
  sockaddr_in6 here{};
  sockaddr_in6 there{};
  socklen_t here_length = sizeof here;
  socklen_t there_length = sizeof there;
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&here), &here_length) != 0) return -errno;
  if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&there), &there_length) != 0) return -errno;
  // A dead port of this host inside the kernel's range may connect to itself: TCP's simultaneous open.
  if (here_length == there_length && std::memcmp(&here, &there, here_length) == 0) return -ELOOP;
  return 0;
}

std::ptrdiff_t EpollNetwork::read(int descriptor, std::span<std::uint8_t> into) noexcept {
  const ssize_t got = recv(descriptor, into.data(), into.size(), 0);
  return got >= 0 ? got : -errno;
}

std::ptrdiff_t EpollNetwork::write(int descriptor, std::span<const std::uint8_t> bytes) noexcept {
  const ssize_t put = send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  return put >= 0 ? put : -errno;
}

void EpollNetwork::close(int descriptor, bool reset) noexcept {
  if (reset) {
    const linger at_once{1, 0};
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }
  ::close(descriptor);
}

}  // namespace onrush
