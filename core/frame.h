// The WebSocket frame codec (RFC 6455 section 5), the client's side: bytes in, frames out; no I/O, no
// allocation.
//
// Why: an idle connection must not own a buffer, so the decoder's whole state is a few bytes that live in the
// session; payload is handed on in pieces, straight from the worker's receive buffer. Owner: the worker whose
// session it is. Always: the same frames and the same verdict however the bytes are cut.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/failure.h"
#include "core/utf8.h"

namespace onrush {

enum class Opcode : std::uint8_t { continuation = 0, text = 1, binary = 2, close = 8, ping = 9, pong = 10 };

/// State between two reads; 24 bytes at most, trivially copyable, all zero at a connection's begin. Control
/// frames between fragments touch only the members of the frame under way.
struct FrameState {
  std::uint32_t payload_left = 0;         ///< of the frame under way
  std::uint32_t message_bytes = 0;        ///< of the message under way, all fragments
  std::array<std::uint8_t, 10> header{};  ///< of a frame header that arrived split
  std::uint8_t header_bytes : 7 = 0;      ///< of it that are there
  bool deflates : 1 =
      false;                 ///< permessage-deflate was agreed on: RSV1 may begin a message. Set by its owner
  std::uint8_t opcode = 0;   ///< of the frame under way, as on the wire
  std::uint8_t message = 0;  ///< opcode of the message under way, with RSV1 if it is compressed; 0 = none
  Utf8State utf8 = kBetweenCharacters;  ///< where the check of the message under way stands
  bool final = false;                   ///< the frame under way has FIN
  bool begun = false;                   ///< a piece of the frame under way was handed on
};
static_assert(sizeof(FrameState) <= 24 && std::is_trivially_copyable_v<FrameState>);

/// A piece of a frame's payload.
struct FramePiece {
  Opcode opcode;    ///< text or binary also for continuations; or the control opcode
  bool begins;      ///< first piece of the message (or control frame)
  bool ends;        ///< last piece of the message (or control frame)
  bool compressed;  ///< of a message to be inflated, whose text has not been checked
  std::span<const std::uint8_t> payload;
};

/// What decoding stopped at: a violation (cause != none) after which the connection must be failed with
/// `close_code`.
struct FrameError {
  Cause cause = Cause::none;
  std::uint16_t close_code = 0;
};

/// Decodes from the front of `bytes`. Returns how many bytes it took; `piece` is set if `has_piece`. Takes
/// nothing and sets no piece only when `bytes` is empty or `error.cause != none`. Control payloads come in
/// pieces too. What is valid before a wrong byte is handed on first, and the error comes with the next call;
/// a message that fails never `ends`. A compressed message may have a little more than `max_message_bytes`,
/// because what cannot be compressed becomes longer; who inflates it holds the limit.
struct Decoded {
  std::size_t taken = 0;
  bool has_piece = false;
  FramePiece piece{};
  FrameError error{};
};
[[nodiscard]] Decoded decode(FrameState& state, std::span<const std::uint8_t> bytes,
                             std::uint32_t max_message_bytes) noexcept;

/// Appends one masked frame (FIN set) to `out` (RFC 6455 sections 5.2, 5.3). `mask_key` is random for each
/// frame; its most significant byte travels first. `payload` is not part of `out`.
void encode_frame(Opcode opcode, std::span<const std::uint8_t> payload, std::uint32_t mask_key,
                  std::string& out);
/// The same of a compressed message: RSV1 set (RFC 7692 section 6.1).
void encode_compressed_frame(Opcode opcode, std::span<const std::uint8_t> payload, std::uint32_t mask_key,
                             std::string& out);

/// Appends a close frame: code and reason (cut to 123 bytes at a character), or neither if code is 0.
void encode_close(std::uint16_t code, std::string_view reason, std::uint32_t mask_key, std::string& out);

/// Of a complete close payload: its code, or 1005 if empty; an error for one byte, a forbidden code or bad
/// UTF-8. `reason` points into `payload`.
struct ClosePayload {
  std::uint16_t code;
  std::string_view reason;
  FrameError error;
};
[[nodiscard]] ClosePayload parse_close(std::span<const std::uint8_t> payload) noexcept;

}  // namespace onrush
