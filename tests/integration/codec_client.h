// A WebSocket client of nothing but core over a blocking socket: our side of the interoperation tests. It
// reads in odd sizes, so that the peer's frames arrive cut.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <random>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/frame.h"
#include "core/handshake.h"
#include "core/url.h"
#include "tests/frames.h"

namespace onrush {

class CodecClient {
 public:
  explicit CodecClient(int fd) : fd_{fd} {}
  CodecClient(const CodecClient&) = delete;
  CodecClient& operator=(const CodecClient&) = delete;
  ~CodecClient() { ::close(fd_); }

  HandshakeVerdict upgrade(const Url& url) {
    const std::string key = make_key(random_(), random_());
    std::string request;
    encode_request(url, key, request);
    write(request);
    std::size_t searched = 0;
    while (true) {
      read();
      if (!may_be_http(received_)) return {{Phase::upgrade, Cause::not_http, 0}, received_};
      if (const auto end = find_head_end(received_, searched)) {
        HandshakeVerdict verdict = check_response(std::string_view{received_}.substr(0, *end), key);
        received_.erase(0, *end);
        return verdict;
      }
      searched = received_.size();
    }
  }

  void send(Opcode opcode, std::string_view payload) {
    std::string frame;
    encode_frame(opcode, as_bytes(payload), mask_key(), frame);
    write(frame);
  }

  void send_close(std::uint16_t code, std::string_view reason) {
    std::string frame;
    encode_close(code, reason, mask_key(), frame);
    write(frame);
  }

  /// The next whole message or control frame. A violation throws.
  Event receive() {
    while (true) {
      if (received_.empty()) read();
      const Decoded decoded = decode(state_, as_bytes(received_), kMaxMessageBytes);
      if (decoded.error.cause != Cause::none)
        throw std::runtime_error{"the peer broke a rule: " + describe({Phase::open, decoded.error.cause, 0})};
      Event complete{};
      const bool is_complete = decoded.has_piece && take(decoded.piece, complete);
      received_.erase(0, decoded.taken);
      if (is_complete) return complete;
    }
  }

  /// The next message; pings before it are answered.
  Event receive_message() {
    while (true) {
      Event event = receive();
      if (event.opcode != Opcode::ping) return event;
      send(Opcode::pong, event.payload);
      ++pings_answered_;
    }
  }

  [[nodiscard]] int pings_answered() const { return pings_answered_; }

 private:
  static constexpr std::uint32_t kMaxMessageBytes = 16 << 20;

  bool take(const FramePiece& piece, Event& complete) {
    Event& event = static_cast<int>(piece.opcode) >= 8 ? control_ : message_;
    if (piece.begins) event = {piece.opcode, {}};
    event.payload.append(piece.payload.begin(), piece.payload.end());
    if (piece.ends) complete = std::move(event);
    return piece.ends;
  }

  std::uint32_t mask_key() { return static_cast<std::uint32_t>(random_()); }

  void read() {
    constexpr std::size_t kSizes[] = {1, 2, 3, 13, 4096, 100'000};
    std::string buffer(kSizes[reads_++ % std::size(kSizes)], '\0');
    const ssize_t size = ::recv(fd_, buffer.data(), buffer.size(), 0);
    if (size <= 0) throw std::runtime_error{"the peer ended the stream"};
    received_.append(buffer, 0, static_cast<std::size_t>(size));
  }

  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t size = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (size <= 0) throw std::runtime_error{"cannot write to the peer"};
      bytes.remove_prefix(static_cast<std::size_t>(size));
    }
  }

  int fd_;
  std::mt19937_64 random_{42};
  FrameState state_;
  Event message_{}, control_{};
  std::string received_;
  std::size_t reads_ = 0;
  int pings_answered_ = 0;
};

}  // namespace onrush
