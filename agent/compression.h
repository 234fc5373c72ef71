// The contexts of a worker's compressed connections: who has which, and who may borrow one.
//
// Why: a context costs up to 144 KB to compress and 40 KB to decompress, a user 128 bytes. So where no
// context takeover was agreed on, all connections of a worker share them, one message after another; where
// it was, a connection has its own from its first message on. Owner: one worker. Always: nothing is
// allocated unless the plan offers compression; after its connection's end nobody holds a context, and those
// given back are used again.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/deflate_stream.h"
#include "core/json_field.h"

namespace onrush {

class Compression {
 public:
  /// `capacity`: slots of the worker, 0 if the plan offers no compression.
  explicit Compression(std::uint32_t capacity);

  // `slot`: of the session, at most the capacity; between begin and end.
  void begin(std::uint32_t slot, const DeflateAgreement& agreed) noexcept;
  void end(std::uint32_t slot);

  /// The context of the message under way, or of the one that begins with this call.
  [[nodiscard]] Inflater& inflater(std::uint32_t slot);
  /// The message has ended: where nothing goes on to the next, its context is free.
  void message_ended(std::uint32_t slot);

  /// The payload in compressed form, valid until the next call; nothing if it has to be sent as it is.
  [[nodiscard]] std::optional<std::span<const std::uint8_t>> deflate(std::uint32_t slot,
                                                                     std::span<const std::uint8_t> payload);

  /// Where what is inflated goes; behind it is the padding that the JSON reader wants.
  [[nodiscard]] std::span<std::uint8_t> room() noexcept { return {room_.data(), kRoomBytes}; }
  /// Contexts that connections hold now.
  [[nodiscard]] std::uint32_t contexts() const noexcept { return held_; }

 private:
  static constexpr std::size_t kRoomBytes = 64 * 1024;
  /// What is kept of a buffer that one long message made large.
  static constexpr std::size_t kKeptBytes = 256 * 1024;

  /// Numbers of contexts count from 1; 0 means none.
  struct Slot {
    DeflateAgreement agreed;
    std::uint32_t inflater = 0;
    std::uint32_t deflater = 0;
  };
  [[nodiscard]] Deflater& deflater_of(Slot& slot);

  std::vector<Slot> slots_;
  std::vector<std::unique_ptr<Inflater>> inflaters_;
  std::vector<std::uint32_t> free_inflaters_;
  std::vector<std::unique_ptr<Deflater>> deflaters_;
  std::array<std::vector<std::uint32_t>, kMaxWindowBits + 1> free_deflaters_;   ///< by bits of their window
  std::array<std::unique_ptr<Deflater>, kMaxWindowBits + 1> shared_deflaters_;  ///< likewise
  std::vector<std::uint8_t> room_;
  std::vector<std::uint8_t> deflated_;
  std::uint32_t held_ = 0;
};

}  // namespace onrush
