#include "target-servers/faulty/peer.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace target {
namespace {

constexpr std::size_t kMaxRequestBytes = std::size_t{64} << 10;
constexpr std::size_t kMaxFrameBytes = std::size_t{16} << 20;
constexpr std::size_t kTakenWhileSending = std::size_t{1} << 20;
constexpr std::size_t kCompactBytes = std::size_t{64} << 10;
constexpr int kLastWordsMs = 10'000;  // for a client that never ends its side

std::string value_of_header(const std::string& head, std::string_view name) {
  for (std::size_t line = head.find("\r\n"); line != std::string::npos; line = head.find("\r\n", line + 2)) {
    const std::size_t begin = line + 2;
    if (strncasecmp(head.c_str() + begin, name.data(), name.size()) != 0 || head[begin + name.size()] != ':')
      continue;
    const std::size_t value = head.find_first_not_of(" \t", begin + name.size() + 1);
    return head.substr(value, head.find_first_of(" \t\r", value) - value);
  }
  return "";
}

}  // namespace

Peer::Peer(int descriptor, Stats& stats) : descriptor_{descriptor}, stats_{stats} {
  fcntl(descriptor_, F_SETFL, fcntl(descriptor_, F_GETFL) | O_NONBLOCK);
  const int on = 1;
  setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Peer::~Peer() {
  ended(kEndWithoutClose);
  if (descriptor_ >= 0) close(descriptor_);
}

std::optional<Request> Peer::read_request() {
  std::size_t end;
  while ((end = in_.find("\r\n\r\n")) == std::string::npos) {
    if (in_.size() > kMaxRequestBytes) return std::nullopt;
    receive();
    if (gone_) return std::nullopt;
  }
  const std::string head = in_.substr(0, end + 2);
  take(end + 4);
  const std::size_t method_end = head.find(' ');
  if (method_end > head.find("\r\n")) return std::nullopt;
  const std::size_t path_end = head.find_first_of(" ?\r", method_end + 1);
  request_ = {head.substr(0, method_end), head.substr(method_end + 1, path_end - method_end - 1),
              value_of_header(head, "Sec-WebSocket-Key")};
  return request_;
}

void Peer::send(std::string_view bytes) {
  while (!bytes.empty() && !gone_) {
    const bool takes = waiting() < kTakenWhileSending;
    wait(static_cast<short>(takes ? POLLIN | POLLOUT : POLLOUT), -1);
    const std::size_t size = gap_.count() > 0 ? 1 : bytes.size();
    const ssize_t sent = ::send(descriptor_, bytes.data(), size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
    if (sent < 0 && errno != EAGAIN && errno != EINTR) gone_ = true;
    if (gap_.count() > 0 && !bytes.empty()) pause(gap_);
  }
}

void Peer::send_frame(bool final, std::uint8_t opcode, std::string_view payload) {
  std::string frame;
  const auto put = [&](std::size_t value, int bytes) {
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) frame += static_cast<char>(value >> shift);
  };
  put((final ? 0x80u : 0u) | opcode, 1);
  if (payload.size() < 126) {
    put(payload.size(), 1);
  } else if (payload.size() <= 0xFFFF) {
    put(126, 1);
    put(payload.size(), 2);
  } else {
    put(127, 1);
    put(payload.size(), 8);
  }
  frame += payload;
  if (final && opcode < 8) message_sent();
  send(frame);
}

std::optional<Frame> Peer::next_frame() {
  while (auto frame = read_frame()) {
    switch (frame->opcode) {
      case 8:
        count_close(*frame);
        if (!close_sent_) send_frame(true, 8, frame->payload);
        return std::nullopt;
      case 9: send_frame(true, 10, frame->payload); break;
      case 10: count([](PathStats& path) { ++path.pongs; }); break;
      default:
        if (frame->final) count([](PathStats& path) { ++path.messages_in; });
        return frame;
    }
  }
  return std::nullopt;
}

std::optional<Frame> Peer::read_frame() {
  if (!need(2)) return std::nullopt;
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(in_[taken_ + i]); };
  const bool masked = (byte(1) & 0x80) != 0;
  std::size_t size = byte(1) & 0x7F;
  std::size_t header = 2;
  if (size >= 126) {
    const std::size_t length_bytes = size == 126 ? 2 : 8;
    header += length_bytes;
    if (!need(header)) return std::nullopt;
    size = 0;
    for (std::size_t i = 2; i < header; ++i) size = size << 8 | byte(i);
  }
  const std::size_t mask = header;
  if (masked) header += 4;
  if (size > kMaxFrameBytes || !need(header + size)) {
    gone_ = true;
    return std::nullopt;
  }
  Frame frame{(byte(0) & 0x80) != 0, static_cast<std::uint8_t>(byte(0) & 0x0F),
              in_.substr(taken_ + header, size)};
  if (masked) {
    for (std::size_t i = 0; i < size; ++i)
      frame.payload[i] = static_cast<char>(frame.payload[i] ^ in_[taken_ + mask + i % 4]);
  } else {
    count([](PathStats& path) { ++path.unmasked_frames; });
  }
  take(header + size);
  return frame;
}

bool Peer::need(std::size_t bytes) {
  while (waiting() < bytes && !gone_) receive();
  return waiting() >= bytes;
}

void Peer::take(std::size_t bytes) {
  taken_ += bytes;
  if (taken_ < in_.size() && taken_ < kCompactBytes) return;
  in_.erase(0, taken_);
  taken_ = 0;
}

void Peer::receive() { wait(POLLIN, -1); }

void Peer::wait(short events, int timeout_ms) {
  if (gone_) return;
  pollfd polled{descriptor_, events, 0};
  if (poll(&polled, 1, timeout_ms) <= 0) return;
  if ((polled.revents & (POLLIN | POLLERR | POLLHUP | POLLRDHUP)) == 0) return;
  if ((events & POLLIN) == 0) {
    gone_ = gone_ || (polled.revents & (POLLERR | POLLHUP | POLLRDHUP)) != 0;
    return;
  }
  std::array<char, 65536> bytes;
  const ssize_t received = recv(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (received > 0) in_.append(bytes.data(), static_cast<std::size_t>(received));
  if (received == 0 || (received < 0 && errno != EAGAIN && errno != EINTR)) gone_ = true;
}

bool Peer::has_spoken() {
  if (waiting() == 0) wait(POLLIN, 0);
  return waiting() > 0 || gone_;
}

void Peer::opened() {
  open_ = true;
  stats_.connected(1);
  count([](PathStats& path) { ++path.opened; });
}

void Peer::close_sent() { close_sent_ = true; }

void Peer::message_sent() {
  count([](PathStats& path) { ++path.messages_out; });
}

void Peer::pause(std::chrono::milliseconds time) { wait(POLLRDHUP, static_cast<int>(time.count())); }

void Peer::wait_until_gone() {
  while (!gone_) wait(POLLRDHUP, -1);
}

void Peer::reset() {
  ended(kEndWithoutClose);
  const linger at_once{1, 0};
  setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close(descriptor_);
  descriptor_ = -1;
  gone_ = true;
}

void Peer::end() {
  if (descriptor_ < 0) return;
  shutdown(descriptor_, SHUT_WR);
  // What was not read would turn the close into an RST, which may overtake bytes the client has yet to read.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds{kLastWordsMs};
  while (!gone_ && std::chrono::steady_clock::now() < deadline) {
    take(waiting());
    wait(POLLIN, kLastWordsMs);
  }
}

void Peer::count_close(const Frame& frame) {
  if (frame.payload.size() < 2) return ended(kCloseWithoutCode);
  ended(static_cast<std::uint8_t>(frame.payload[0]) << 8 | static_cast<std::uint8_t>(frame.payload[1]));
}

void Peer::ended(int code) {
  if (!open_) return;
  open_ = false;
  stats_.connected(-1);
  count([code](PathStats& path) { ++path.closes[code]; });
}

}  // namespace target
