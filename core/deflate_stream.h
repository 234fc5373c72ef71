// Messages compressed and decompressed as RFC 7692 section 7.2 wants it; no I/O.
//
// Why: zlib knows streams, not messages. Here is what lies between them: the four bytes that a message
// leaves out, the empty message, the block that ends a stream in the midst of a message, contexts that go on
// from message to message or do not; and what must not come out: more bytes than a message may have, and
// text that is not UTF-8. Owner: one worker. Always: a message's limit is held while it is inflated, so that
// 64 KiB which would become 64 MiB cost no more than the limit (P019); the same verdict however the bytes
// are cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/deflate.h"
#include "core/frame.h"

struct z_stream_s;

namespace onrush {

/// Takes the place of a context from one connection to the next: it costs some 7 KB, and its window
/// (2^bits bytes) from the first message that fills it.
class Inflater {
 public:
  Inflater();
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// Forgets all messages before. `window_bits` is the least that the peer keeps to.
  void reset(std::uint8_t window_bits) noexcept;

  /// A message begins.
  void begin(Opcode opcode, std::uint32_t max_message_bytes) noexcept;
  /// More of its compressed payload, which must stay until next() wants more; `ends`: the last of it.
  void give(std::span<const std::uint8_t> payload, bool ends) noexcept;

  /// What comes out of it.
  struct Part {
    std::size_t written = 0;  ///< bytes at the begin of `room`; maybe none
    bool ends = false;        ///< the message does
    bool more = false;        ///< call again; otherwise it wants to be given more, or has ended or failed
    FrameError error{};       ///< after which the connection must be failed
  };
  [[nodiscard]] Part next(std::span<std::uint8_t> room) noexcept;

 private:
  enum class Progress : std::uint8_t { full, drained, ended, broken };
  [[nodiscard]] Progress advance() noexcept;
  void restart() noexcept;

  std::unique_ptr<z_stream_s> stream_;
  std::uint32_t left_ = 0;  ///< bytes that the message may still have
  Utf8State utf8_ = kBetweenCharacters;
  bool text_ = false;
  bool payload_ends_ = false;
  bool tail_given_ = false;
  bool nothing_open_ = true;  ///< no block is open, because no byte has come since the stream's begin
  bool empty_ = true;         ///< no byte of the message has come
};

/// Compresses whole messages with a window of 2^bits bytes. It costs 2^(bits + 2) bytes and 16 KB.
class Deflater {
 public:
  /// 9 to 15: zlib has no window of 256 bytes. For 8 messages are sent as they are.
  explicit Deflater(std::uint8_t window_bits);
  ~Deflater();
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  /// Forgets all messages before.
  void reset() noexcept;
  /// The payload of a message, without the four bytes 00 00 FF FF at its end. Valid until the next call with
  /// the same `room`, which grows to what the longest message needs.
  [[nodiscard]] std::span<const std::uint8_t> compress(std::span<const std::uint8_t> payload,
                                                       std::vector<std::uint8_t>& room);
  [[nodiscard]] std::uint8_t window_bits() const noexcept { return window_bits_; }

 private:
  std::unique_ptr<z_stream_s> stream_;
  std::uint8_t window_bits_;
};

}  // namespace onrush
