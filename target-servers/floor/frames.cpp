#include "target-servers/floor/frames.h"

#include <algorithm>
#include <cstring>

#include "target-servers/floor/shared.h"

namespace target {
namespace {

constexpr std::size_t kKeptBytes = 64 * 1024;

bool is_control(Opcode opcode) { return static_cast<std::uint8_t>(opcode) >= 8; }

bool is_known(unsigned opcode) { return opcode <= 2 || (opcode >= 8 && opcode <= 10); }

bool may_be_sent(unsigned code) {
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999);
}

std::uint64_t big_endian(const unsigned char* from, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | from[i];
  return value;
}

/// Unmasks, and returns the mask turned for the byte that follows.
std::uint32_t unmask(std::span<char> bytes, std::uint32_t mask) {
  const std::uint64_t wide = std::uint64_t{mask} << 32 | mask;
  char* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; left -= 8, at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    word ^= wide;
    std::memcpy(at, &word, 8);
  }
  for (; left > 0; --left, ++at) {
    *at = static_cast<char>(static_cast<unsigned char>(*at) ^ (mask & 0xff));
    mask = mask >> 8 | mask << 24;  // the mask is held as its bytes lie in memory, least first
  }
  return mask;
}

}  // namespace

bool Utf8::feed(std::string_view piece) noexcept {
  const char* at = piece.data();
  const char* const end = at + piece.size();
  while (at != end) {
    if (left_ == 0) {
      for (std::uint64_t word = 0; end - at >= 8; at += 8) {
        std::memcpy(&word, at, 8);
        if ((word & 0x8080808080808080U) != 0) break;
      }
      if (at == end) break;
    }
    const auto byte = static_cast<unsigned char>(*at++);
    if (left_ > 0) {
      if (byte < low_ || byte > high_) return false;
      --left_;
      low_ = 0x80, high_ = 0xbf;
    } else if (byte >= 0x80) {
      // RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
      if (byte < 0xc2 || byte > 0xf4) return false;
      left_ = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
      low_ = byte == 0xe0 ? 0xa0 : byte == 0xf0 ? 0x90 : 0x80;
      high_ = byte == 0xed ? 0x9f : byte == 0xf4 ? 0x8f : 0xbf;
    }
  }
  return true;
}

void append_header(std::string& out, Opcode opcode, std::size_t payload_bytes) {
  out.push_back(static_cast<char>(0x80 | static_cast<std::uint8_t>(opcode)));
  const int extended = payload_bytes < 126 ? 0 : payload_bytes < 65536 ? 2 : 8;
  out.push_back(static_cast<char>(extended == 0 ? payload_bytes : extended == 2 ? 126 : 127));
  for (int i = extended - 1; i >= 0; --i) out.push_back(static_cast<char>(payload_bytes >> (8 * i) & 0xff));
}

void append_frame(std::string& out, Opcode opcode, std::string_view payload) {
  append_header(out, opcode, payload.size());
  out.append(payload);
}

void append_close(std::string& out, std::uint16_t code) {
  if (code == kNoCode) return append_frame(out, Opcode::close, {});
  const char payload[] = {static_cast<char>(code >> 8), static_cast<char>(code & 0xff)};
  append_frame(out, Opcode::close, {payload, sizeof payload});
}

Incoming::Event Incoming::next(std::span<char>& bytes) {
  while (!bytes.empty() || (in_frame_ && left_ == 0)) {
    if (in_frame_) {
      const Event event = take_payload(bytes);
      if (event != Event::more) return event;
      continue;
    }
    const std::size_t taken = std::min(head_needs() - head_bytes_, bytes.size());
    std::memcpy(head_.data() + head_bytes_, bytes.data(), taken);
    head_bytes_ = static_cast<std::uint8_t>(head_bytes_ + taken);
    bytes = bytes.subspan(taken);
    if (head_bytes_ < head_needs()) continue;
    if (const std::uint16_t code = begin_frame(); code != 0) return broken(code);
  }
  return Event::more;
}

std::size_t Incoming::head_needs() const noexcept {
  if (head_bytes_ < 2) return 2;
  const unsigned length = head_[1] & 0x7f;
  return 2U + (length == 126 ? 2U : length == 127 ? 8U : 0U) + 4U;
}

/// 0, or what to close with.
std::uint16_t Incoming::begin_frame() {
  const unsigned opcode = head_[0] & 0x0f;
  const std::size_t extended = head_bytes_ - 6U;
  left_ = extended == 0 ? head_[1] & 0x7f : big_endian(head_.data() + 2, extended);
  std::memcpy(&mask_, head_.data() + 2 + extended, sizeof mask_);
  last_ = (head_[0] & 0x80) != 0;
  opcode_ = static_cast<Opcode>(opcode);
  const bool masked = (head_[1] & 0x80) != 0;
  head_bytes_ = 0;
  if ((head_[0] & 0x70) != 0 || !masked || !is_known(opcode)) return kProtocolError;
  if ((extended == 2 && left_ < 126) || (extended == 8 && (left_ < 65536 || left_ >> 63 != 0)))
    return kProtocolError;
  if (is_control(opcode_)) {
    if (!last_ || left_ > control_.size()) return kProtocolError;
    control_bytes_ = 0;
  } else {
    const bool begun = message_opcode_ != Opcode::continuation;
    if (begun != (opcode_ == Opcode::continuation)) return kProtocolError;
    if (!begun) message_opcode_ = opcode_;
    if (left_ > kMaxMessageBytes - message_.size()) return kTooBig;
  }
  in_frame_ = true;
  return 0;
}

Incoming::Event Incoming::take_payload(std::span<char>& bytes) {
  const std::span<char> piece =
      bytes.first(static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size())));
  bytes = bytes.subspan(piece.size());
  left_ -= piece.size();
  mask_ = unmask(piece, mask_);
  const std::string_view view{piece.data(), piece.size()};
  if (is_control(opcode_)) {
    std::copy(view.begin(), view.end(), control_.data() + control_bytes_);
    control_bytes_ = static_cast<std::uint8_t>(control_bytes_ + view.size());
  } else {
    if (text() && !utf8_.feed(view)) return broken(kBadText);
    message_.append(view);
  }
  return left_ == 0 ? frame_ended() : Event::more;
}

Incoming::Event Incoming::frame_ended() {
  in_frame_ = false;
  switch (opcode_) {
    case Opcode::ping: return Event::ping;
    case Opcode::pong: return Event::pong;
    case Opcode::close: return close_came();
    default: break;
  }
  if (!last_) return Event::more;
  return text() && !utf8_.complete() ? broken(kBadText) : Event::message;
}

Incoming::Event Incoming::close_came() noexcept {
  if (control_bytes_ == 0) return code_ = kNoCode, Event::close;
  if (control_bytes_ == 1) return broken(kProtocolError);
  const auto* payload = reinterpret_cast<const unsigned char*>(control_.data());
  code_ = static_cast<std::uint16_t>(big_endian(payload, 2));
  if (!may_be_sent(code_)) return broken(kProtocolError);
  Utf8 reason;
  if (!reason.feed(control().substr(2)) || !reason.complete()) return broken(kBadText);
  return Event::close;
}

void Incoming::taken() {
  message_opcode_ = Opcode::continuation;
  utf8_ = {};
  if (message_.capacity() > kKeptBytes) std::string{}.swap(message_);
  message_.clear();
}

}  // namespace target
