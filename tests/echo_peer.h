// A small WebSocket echo server on loopback, in a thread: the peer of tests that need real sockets and no
// processes.
//
// It shares no frame code with the engine. Always: stops and joins when it goes out of scope; counts what it
// saw.
#pragma once

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <thread>

#include "core/handshake.h"
#include "tests/listening_socket.h"

namespace onrush {

class EchoPeer {
 public:
  /// `greeting`: frames that it sends with each 101.
  explicit EchoPeer(std::string greeting = {}) : greeting_{std::move(greeting)} {
    const ListeningSocket listening = listen_on_loopback();
    listener_ = listening.descriptor;
    port_ = listening.port;
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
    watch(listener_);
    thread_ = std::thread{[this] { serve(); }};
  }
  ~EchoPeer() {
    end_ = true;
    thread_.join();
    for (const auto& [descriptor, bytes] : connections_) close(descriptor);
    close(epoll_);
    close(listener_);
  }
  EchoPeer(const EchoPeer&) = delete;
  EchoPeer& operator=(const EchoPeer&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }
  [[nodiscard]] std::uint64_t handshakes() const noexcept { return handshakes_; }
  [[nodiscard]] std::uint64_t pongs() const noexcept { return pongs_; }

 private:
  void watch(int descriptor) const {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = descriptor;
    epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event);
  }

  void serve() {
    epoll_event events[64];
    while (!end_) {
      const int count = epoll_wait(epoll_, events, 64, 20);
      for (int i = 0; i < count; ++i) {
        const int descriptor = events[i].data.fd;
        if (descriptor != listener_) {
          readable(descriptor);
        } else if (const int accepted = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC); accepted >= 0) {
          connections_[accepted];
          watch(accepted);
        }
      }
    }
  }

  void readable(int descriptor) {
    char bytes[16'384];
    const ssize_t got = recv(descriptor, bytes, sizeof bytes, 0);
    if (got <= 0) return drop(descriptor);
    std::string& held = connections_[descriptor];
    held.append(bytes, static_cast<std::size_t>(got));
    if (held.starts_with("GET ")) {
      const std::size_t end = held.find("\r\n\r\n");
      if (end == std::string::npos) return;
      const std::size_t key = held.find("Sec-WebSocket-Key: ") + 19;
      say(descriptor,
          "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
          "Sec-WebSocket-Accept: " +
              accept_of(held.substr(key, 24)) + "\r\n\r\n" + greeting_);
      held.erase(0, end + 4);
      ++handshakes_;
    }
    while (held.size() >= 6 && answer_frame(descriptor, held)) {
    }
  }

  // Frames of less than 126 bytes only: the tests send no others.
  bool answer_frame(int descriptor, std::string& held) {
    const std::size_t length = static_cast<std::size_t>(held[1] & 127);
    if (held.size() < 6 + length) return false;
    std::string reply{held[0], static_cast<char>(length)};
    for (std::size_t i = 0; i < length; ++i) reply += static_cast<char>(held[6 + i] ^ held[2 + i % 4]);
    const int opcode = held[0] & 15;
    held.erase(0, 6 + length);
    if (opcode < 8) ++messages_;
    if (opcode == 10) ++pongs_;
    say(descriptor, reply);
    return true;
  }

  static void say(int descriptor, const std::string& bytes) {
    // A peer that is gone is found out by the next read.
    [[maybe_unused]] const ssize_t put = send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }

  void drop(int descriptor) {
    close(descriptor);
    connections_.erase(descriptor);
  }

  const std::string greeting_;
  int listener_;
  int epoll_;
  std::uint16_t port_;
  std::atomic<bool> end_{false};
  std::atomic<std::uint64_t> messages_{0};
  std::atomic<std::uint64_t> handshakes_{0};
  std::atomic<std::uint64_t> pongs_{0};
  std::map<int, std::string> connections_;
  std::thread thread_;
};

}  // namespace onrush
