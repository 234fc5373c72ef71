// RFC 6455 as a server reads and writes it: frames from pieces of a stream, messages from frames.
//
// Why: an independent witness of the generator's codec, and no buffer for a connection at rest. Owner: the
// worker; a connection borrows an Incoming only while a frame or a message of it is incomplete. Always: after
// at_rest() nothing of it matters, so the next connection may use it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace target {

enum class Opcode : std::uint8_t { continuation = 0, text = 1, binary = 2, close = 8, ping = 9, pong = 10 };

enum CloseCode : std::uint16_t {
  kNormal = 1000,
  kProtocolError = 1002,
  kNoCode = 1005,  ///< never sent
  kBadText = 1007,
  kTooBig = 1009,
};

/// UTF-8 that comes in pieces.
class Utf8 {
 public:
  /// False as soon as what has come can no longer become valid.
  [[nodiscard]] bool feed(std::string_view piece) noexcept;
  [[nodiscard]] bool complete() const noexcept { return left_ == 0; }

 private:
  std::uint8_t left_ = 0;  ///< continuation bytes still to come
  std::uint8_t low_ = 0;   ///< bounds of the next one
  std::uint8_t high_ = 0;
};

/// Appends an unmasked frame's header, with FIN.
void append_header(std::string& out, Opcode opcode, std::size_t payload_bytes);
void append_frame(std::string& out, Opcode opcode, std::string_view payload);
void append_close(std::string& out, std::uint16_t code);

/// One connection's stream.
class Incoming {
 public:
  enum class Event : std::uint8_t { more, message, ping, pong, close, broken };

  /// Takes bytes from the front until something has happened; `more`: they are used up. They are unmasked in
  /// place.
  [[nodiscard]] Event next(std::span<char>& bytes);

  [[nodiscard]] bool text() const noexcept { return message_opcode_ == Opcode::text; }
  /// Of a message, until taken().
  [[nodiscard]] std::string_view message() const noexcept { return message_; }
  void taken();
  /// Of a ping, pong or close.
  [[nodiscard]] std::string_view control() const noexcept { return {control_.data(), control_bytes_}; }
  /// Of a stream that is broken: the code to close with. Of a close: the code to answer with.
  [[nodiscard]] std::uint16_t code() const noexcept { return code_; }

  [[nodiscard]] bool at_rest() const noexcept {
    return head_bytes_ == 0 && !in_frame_ && message_opcode_ == Opcode::continuation;
  }

 private:
  [[nodiscard]] Event broken(std::uint16_t code) noexcept { return code_ = code, Event::broken; }
  [[nodiscard]] std::size_t head_needs() const noexcept;
  [[nodiscard]] std::uint16_t begin_frame();
  [[nodiscard]] Event take_payload(std::span<char>& bytes);
  [[nodiscard]] Event frame_ended();
  [[nodiscard]] Event close_came() noexcept;

  std::array<unsigned char, 14> head_;
  std::uint8_t head_bytes_ = 0;
  std::uint8_t control_bytes_ = 0;
  bool in_frame_ = false;
  bool last_ = false;  ///< FIN
  Opcode opcode_ = Opcode::continuation;
  Opcode message_opcode_ = Opcode::continuation;  ///< continuation: no message has begun
  Utf8 utf8_;
  std::uint16_t code_ = 0;
  std::uint32_t mask_ = 0;  ///< turned so that its first byte is for the next byte
  std::uint64_t left_ = 0;
  std::string message_;
  std::array<char, 125> control_;
};

}  // namespace target
