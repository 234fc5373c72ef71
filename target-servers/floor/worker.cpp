#include "target-servers/floor/worker.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <system_error>

namespace target {
namespace {

constexpr int kAcceptsPerTurn = 64;
constexpr int kReadsPerEvent = 16;
constexpr std::int64_t kAcceptPause_ms = 50;

std::int64_t monotonic_ms() noexcept {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1000 + t.tv_nsec / 1'000'000;
}

int make_epoll() {
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0) throw std::system_error{errno, std::generic_category(), "epoll_create1"};
  return epoll;
}

}  // namespace

Worker::Worker(Shared& shared, unsigned index, int listener, int signals)
    : shared_{shared},
      counters_{shared.counters(index)},
      index_{index},
      listener_{listener},
      signals_{signals},
      epoll_{make_epoll()} {
  counters_.pid.store(getpid());
  watch(listener_, EPOLLIN);
  watch(signals_, EPOLLIN);
  watch(shared_.bell(index_), EPOLLIN | EPOLLET);
}

void Worker::run() {
  while (!stopped_) {
    const int count = epoll_wait(epoll_, events_.data(), static_cast<int>(events_.size()), wait_ms());
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events_[static_cast<std::size_t>(i)];
      if (event.data.fd == listener_)
        accept_waiting();
      else if (event.data.fd == signals_)
        stopped_ = true;
      else if (event.data.fd != shared_.bell(index_))
        ready(event.data.fd, event.events);
    }
    read_again();
    deliver_publications();
    fan_out();
    if (accept_again_ms_ != 0 && monotonic_ms() >= accept_again_ms_) {
      accept_again_ms_ = 0;
      watch(listener_, EPOLLIN, true);
    }
  }
}

int Worker::wait_ms() const noexcept {
  if (fan_out_.under_way() || !unread_.empty()) return 0;
  if (accept_again_ms_ == 0) return -1;
  return static_cast<int>(std::max<std::int64_t>(accept_again_ms_ - monotonic_ms(), 0));
}

void Worker::watch(int descriptor, std::uint32_t events, bool again) {
  epoll_event event{};
  event.events = events;
  event.data.fd = descriptor;
  if (epoll_ctl(epoll_, again ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, descriptor, &event) != 0)
    throw std::system_error{errno, std::generic_category(), "epoll_ctl"};
}

void Worker::accept_waiting() {
  for (int i = 0; i < kAcceptsPerTurn; ++i) {
    // TCP_NODELAY comes with the listener.
    const int descriptor = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor < 0) {
      if (errno == EAGAIN) return;
      if (errno == ECONNABORTED || errno == EINTR) continue;
      return pause_accepting();
    }
    if (connections_.size() <= static_cast<std::size_t>(descriptor))
      connections_.resize(static_cast<std::size_t>(descriptor) + 1);
    at(descriptor).path = Path::http;
    epoll_event event{};
    event.events = EPOLLIN | EPOLLRDHUP | EPOLLET;
    event.data.fd = descriptor;
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) != 0)
      drop(descriptor);  // fs.epoll.max_user_watches
  }
}

// Out of descriptors the queue stays full: to try again at once would burn a core until one is free.
void Worker::pause_accepting() {
  watch(listener_, 0, true);
  accept_again_ms_ = monotonic_ms() + kAcceptPause_ms;
}

// Events are hints: one that is late, for a descriptor that is another connection's by now, costs a recv.
void Worker::ready(int descriptor, std::uint32_t events) {
  if (at(descriptor).path == Path::none) return;
  if ((events & (EPOLLERR | EPOLLHUP)) != 0) return drop(descriptor);
  if (has_unsent(descriptor)) {
    if ((events & EPOLLOUT) == 0 || !send_unsent(descriptor) || has_unsent(descriptor)) return;
    return readable(descriptor, true);  // nothing was read meanwhile
  }
  if ((events & (EPOLLIN | EPOLLRDHUP)) != 0) readable(descriptor, (events & EPOLLRDHUP) != 0);
}

// By edge: a read that filled less than it was given has emptied the socket, unless the peer's end waits
// there.
void Worker::readable(int descriptor, bool to_the_end) {
  for (int i = 0; i < kReadsPerEvent; ++i) {
    const ssize_t got = recv(descriptor, receive_.data(), receive_.size(), 0);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return drop(descriptor);
    const auto bytes = static_cast<std::size_t>(got);
    received(descriptor, {receive_.data(), bytes});
    if (at(descriptor).path == Path::none || has_unsent(descriptor)) return;
    if (bytes < receive_.size() && !to_the_end) return;
  }
  unread_.push_back(descriptor);
}

void Worker::read_again() {
  reading_.swap(unread_);
  for (const int descriptor : reading_)
    if (at(descriptor).path != Path::none && !has_unsent(descriptor)) readable(descriptor, true);
  reading_.clear();
}

Borrowed& Worker::borrowed(int descriptor) {
  Connection& connection = at(descriptor);
  if (connection.borrowed == 0) connection.borrowed = buffers_.borrow();
  return buffers_[connection.borrowed];
}

void Worker::return_if_at_rest(int descriptor) {
  Connection& connection = at(descriptor);
  if (connection.borrowed == 0 || !buffers_[connection.borrowed].at_rest()) return;
  buffers_.give_back(connection.borrowed);
  connection.borrowed = 0;
}

bool Worker::send(int descriptor, std::string_view bytes) {
  if (has_unsent(descriptor)) {
    borrowed(descriptor).unsent.append(bytes);
    return true;
  }
  const ssize_t put = ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (put < 0 && errno != EAGAIN) return drop(descriptor), false;
  const auto taken = static_cast<std::size_t>(std::max<ssize_t>(put, 0));
  if (taken == bytes.size()) return sent_all(descriptor);
  borrowed(descriptor).unsent.assign(bytes.substr(taken));
  Connection& connection = at(descriptor);
  if (!connection.watches_room) {
    connection.watches_room = true;
    watch(descriptor, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, true);
  }
  return true;
}

bool Worker::send_unsent(int descriptor) {
  Borrowed& kept = borrowed(descriptor);
  while (kept.has_unsent()) {
    const ssize_t put =
        ::send(descriptor, kept.unsent.data() + kept.sent, kept.unsent.size() - kept.sent, MSG_NOSIGNAL);
    if (put < 0 && errno == EAGAIN) return true;
    if (put < 0) return drop(descriptor), false;
    kept.sent += static_cast<std::size_t>(put);
  }
  kept.unsent.clear();
  kept.sent = 0;
  return_if_at_rest(descriptor);
  if (!sent_all(descriptor)) return false;
  if (at(descriptor).path == Path::broadcast) catch_up(descriptor);
  return at(descriptor).path != Path::none;
}

bool Worker::sent_all(int descriptor) {
  switch (at(descriptor).after) {
    case After::stay: return true;
    case After::close: return drop(descriptor), false;
    // To close with bytes unread would reset the connection, and what was just sent with it.
    case After::linger: shutdown(descriptor, SHUT_WR); return true;
  }
  return true;
}

}  // namespace target
