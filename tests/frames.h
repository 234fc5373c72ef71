// What tests of the frame codec share: a server's frames written by hand, a client's read by hand, and the
// outcome of decoding bytes that come in chunks. Independent of core/frame.cpp on purpose: plain loops after
// RFC 6455 section 5.2.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/frame.h"

namespace onrush {

inline std::span<const std::uint8_t> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// "81 05" -> two bytes.
inline std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 3)
    bytes += static_cast<char>(std::stoi(std::string{hex.substr(i, 2)}, nullptr, 16));
  return bytes;
}

/// A server's frame with that first byte.
inline std::string frame(int first_byte, std::string_view payload) {
  std::string bytes{static_cast<char>(first_byte)};
  const std::size_t size = payload.size();
  const int extra = size < 126 ? 0 : size < 65536 ? 2 : 8;
  bytes += static_cast<char>(extra == 0 ? size : extra == 2 ? 126u : 127u);
  for (int i = extra - 1; i >= 0; --i) bytes += static_cast<char>(size >> (8 * i));
  return bytes.append(payload);
}

/// A client's frame at the begin of `bytes`, unmasked.
struct ClientFrame {
  std::uint8_t first_byte;
  std::uint32_t mask_key;
  std::string payload;
  std::size_t size;
};
inline ClientFrame read_client_frame(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return std::uint64_t{static_cast<std::uint8_t>(bytes.at(i))}; };
  if ((byte(1) & 0x80) == 0) throw std::runtime_error{"a client's frame is not masked"};
  std::uint64_t size = byte(1) & 0x7F;
  std::size_t at = 2;
  if (size >= 126) {
    const std::size_t extra = size == 126 ? 2 : 8;
    size = 0;
    for (std::size_t i = 0; i < extra; ++i) size = size * 256 + byte(at++);
    if (size < (extra == 2 ? 126u : 65536u)) throw std::runtime_error{"a length is not in its shortest form"};
  }
  ClientFrame read{static_cast<std::uint8_t>(byte(0)), 0, {}, 0};
  const std::size_t mask_at = at;
  for (; at < mask_at + 4; ++at) read.mask_key = static_cast<std::uint32_t>(read.mask_key << 8 | byte(at));
  for (std::size_t i = 0; i < size; ++i)
    read.payload += static_cast<char>(byte(at + i) ^ byte(mask_at + i % 4));
  read.size = at + size;
  return read;
}

/// A whole message or control frame that arrived.
struct Event {
  Opcode opcode;
  std::string payload;
  friend bool operator==(const Event&, const Event&) = default;
};
inline std::ostream& operator<<(std::ostream& out, const Event& event) {
  return out << static_cast<int>(event.opcode) << ':' << event.payload.substr(0, 40) << '('
             << event.payload.size() << ')';
}

struct Outcome {
  std::vector<Event> events;
  std::string data_bytes;  ///< of all data messages, the unfinished one too
  FrameError error;
};

/// Decodes chunk after chunk. Each is copied to its own allocation, so that reading beyond it is caught by
/// the address sanitizer, and what the contract says of every single call is checked here.
inline Outcome outcome_of(const std::vector<std::string>& chunks, std::uint32_t max_message_bytes) {
  Outcome outcome;
  FrameState state;
  Event message{}, control{};
  const auto require = [](bool held, const char* what) {
    if (!held) throw std::logic_error{what};
  };
  for (const std::string& chunk : chunks) {
    const std::unique_ptr<std::uint8_t[]> copy{new std::uint8_t[chunk.size()]};
    if (!chunk.empty()) std::memcpy(copy.get(), chunk.data(), chunk.size());
    std::span<const std::uint8_t> bytes{copy.get(), chunk.size()};
    while (!bytes.empty()) {
      const Decoded decoded = decode(state, bytes, max_message_bytes);
      if (decoded.error.cause != Cause::none) {
        require(decoded.taken == 0 && !decoded.has_piece, "an error takes nothing");
        outcome.error = decoded.error;
        return outcome;
      }
      require(decoded.taken > 0 && decoded.taken <= bytes.size(), "decoding goes on");
      if (decoded.has_piece) {
        const bool is_control = static_cast<int>(decoded.piece.opcode) >= 8;
        Event& event = is_control ? control : message;
        const std::string payload(decoded.piece.payload.begin(), decoded.piece.payload.end());
        if (decoded.piece.begins) event = {decoded.piece.opcode, {}};
        require(event.opcode == decoded.piece.opcode, "a piece has its message's opcode");
        event.payload += payload;
        if (!is_control) outcome.data_bytes += payload;
        if (decoded.piece.ends) outcome.events.push_back(std::move(event));
        if (decoded.piece.ends) event = {};
      }
      bytes = bytes.subspan(decoded.taken);
    }
  }
  return outcome;
}

}  // namespace onrush
