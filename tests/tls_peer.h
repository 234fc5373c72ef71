// A TLS server on loopback that does what a test tells it: one blocking thread a connection, OpenSSL's own
// server side, and frames written by hand.
//
// Always: stops and joins when it goes out of scope.
#pragma once

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/handshake.h"
#include "tests/certificates.h"
#include "tests/listening_socket.h"

namespace onrush {

class TlsPeer {
 public:
  /// One connection, already secured if the peer does that.
  class Line {
   public:
    Line(SSL* ssl, int descriptor) : ssl_{ssl}, descriptor_{descriptor} {}
    [[nodiscard]] int descriptor() const { return descriptor_; }
    [[nodiscard]] SSL* ssl() const { return ssl_; }

    bool say(const std::string& bytes) {
      return SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size())) > 0;
    }
    /// Waits for what comes next; "" at the end.
    std::string hear() {
      char bytes[65'536];
      const int got = SSL_read(ssl_, bytes, sizeof bytes);
      return got <= 0 ? std::string{} : std::string{bytes, static_cast<std::size_t>(got)};
    }
    /// The request's head.
    std::string hear_request() {
      std::string head;
      while (head.find("\r\n\r\n") == std::string::npos) {
        const std::string more = hear();
        if (more.empty()) return {};
        head += more;
      }
      return head;
    }
    /// Answers an upgrade; the request.
    std::string upgrade() {
      std::string head = hear_request();
      if (head.empty()) return head;
      const std::size_t key = head.find("Sec-WebSocket-Key: ") + 19;
      say("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
          "Sec-WebSocket-Accept: " +
          accept_of(head.substr(key, 24)) + "\r\n\r\n");
      return head;
    }
    /// The payload of the next frame, with its opcode before it; "" at the end.
    std::string hear_frame() {
      const auto need = [this](std::size_t bytes) {
        while (held_.size() < bytes) {
          const std::string more = hear();
          if (more.empty()) return false;
          held_ += more;
        }
        return true;
      };
      if (!need(2)) return {};
      std::size_t length = static_cast<std::size_t>(held_[1] & 127);
      const std::size_t extra = length == 126 ? 2 : length == 127 ? 8 : 0;
      if (!need(2 + extra + 4)) return {};
      if (extra != 0) {
        length = 0;
        for (std::size_t i = 0; i < extra; ++i)
          length = length << 8 | static_cast<unsigned char>(held_[2 + i]);
      }
      if (!need(2 + extra + 4 + length)) return {};
      std::string frame{static_cast<char>(held_[0] & 15)};
      for (std::size_t i = 0; i < length; ++i)
        frame += static_cast<char>(held_[6 + extra + i] ^ held_[2 + extra + i % 4]);
      held_.erase(0, 6 + extra + length);
      return frame;
    }
    /// Every message comes back until the connection ends; a close frame too.
    std::uint64_t echo() {
      std::uint64_t messages = 0;
      for (std::string frame = hear_frame(); !frame.empty(); frame = hear_frame()) {
        if (!say(server_frame(frame.substr(1), frame[0])) || frame[0] == 8) break;
        ++messages;
      }
      return messages;
    }

   private:
    SSL* ssl_;
    int descriptor_;
    std::string held_;
  };

  static std::string server_frame(const std::string& payload, char opcode = 1) {
    std::string frame{static_cast<char>(0x80 | opcode)};
    const std::size_t length = payload.size();
    if (length < 126) return frame + static_cast<char>(length) + payload;
    const int bytes = length < 65'536 ? 2 : 8;
    frame += static_cast<char>(bytes == 2 ? 126 : 127);
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
      frame += static_cast<char>(length >> shift & 255);
    return frame + payload;
  }

  using Serve = std::function<void(Line&)>;
  struct Wish {
    std::vector<Certificate> chain;  ///< the server's own first; none: it speaks no TLS, `serve` has no SSL
    Serve serve;
    std::function<void(SSL_CTX*)> prepare = {};
  };

  explicit TlsPeer(Wish wish) : wish_{std::move(wish)} {
    signal(SIGPIPE, SIG_IGN);  // OpenSSL's socket BIO writes without MSG_NOSIGNAL
    if (!wish_.chain.empty()) {
      context_ = SSL_CTX_new(TLS_server_method());
      SSL_CTX_use_certificate(context_, wish_.chain[0].x509.get());
      SSL_CTX_use_PrivateKey(context_, wish_.chain[0].key.get());
      for (std::size_t i = 1; i < wish_.chain.size(); ++i)
        SSL_CTX_add1_chain_cert(context_, wish_.chain[i].x509.get());
      SSL_CTX_set_mode(context_, SSL_MODE_NO_AUTO_CHAIN);
      SSL_CTX_set_session_id_context(context_, reinterpret_cast<const unsigned char*>("t"), 1);
      if (wish_.prepare) wish_.prepare(context_);
    }
    const ListeningSocket listening = listen_on_loopback();
    listener_ = listening.descriptor;
    port_ = listening.port;
    acceptor_ = std::thread{[this] { accept_all(); }};
  }
  ~TlsPeer() {
    end_ = true;
    acceptor_.join();
    for (std::thread& thread : threads_) thread.join();
    close(listener_);
    SSL_CTX_free(context_);
  }
  TlsPeer(const TlsPeer&) = delete;
  TlsPeer& operator=(const TlsPeer&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// Handshakes that came to their end on this side, and those of them that resumed a session.
  [[nodiscard]] std::uint64_t secured() const noexcept { return secured_; }
  [[nodiscard]] std::uint64_t resumed() const noexcept { return resumed_; }

 private:
  void accept_all() {
    pollfd waiting{listener_, POLLIN, 0};
    while (!end_) {
      if (poll(&waiting, 1, 20) != 1) continue;
      const int accepted = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (accepted >= 0) threads_.emplace_back([this, accepted] { serve(accepted); });
    }
  }

  void serve(int descriptor) {
    const timeval patience{5, 0};  // no test may hang
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    SSL* ssl = nullptr;
    bool open = true;
    if (context_ != nullptr) {
      ssl = SSL_new(context_);
      SSL_set_fd(ssl, descriptor);
      open = SSL_accept(ssl) == 1;
      if (open) ++secured_;
      if (open && SSL_session_reused(ssl) == 1) ++resumed_;
    }
    Line line{ssl, descriptor};
    if (open) wish_.serve(line);
    SSL_free(ssl);
    close(descriptor);
  }

  Wish wish_;
  SSL_CTX* context_ = nullptr;
  int listener_;
  std::uint16_t port_;
  std::atomic<bool> end_{false};
  std::atomic<std::uint64_t> secured_{0};
  std::atomic<std::uint64_t> resumed_{0};
  std::list<std::thread> threads_;
  std::thread acceptor_;
};

}  // namespace onrush
