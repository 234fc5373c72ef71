// What tests of compressed messages share: what a server would send, made with zlib itself, and a client's
// whole way from frames to messages, with each chunk and each room in an allocation of its own.
#pragma once

#include <zlib.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/deflate_stream.h"
#include "tests/frames.h"

namespace onrush {

/// One message in raw deflate without its tail (RFC 7692 section 7.2.1), with a context of its own.
inline std::string raw_deflate(std::string_view payload, int level) {
  z_stream stream{};
  if (deflateInit2(&stream, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error{"zlib"};
  std::string out(deflateBound(&stream, payload.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(payload.data()));
  stream.avail_in = static_cast<uInt>(payload.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int said = deflate(&stream, Z_SYNC_FLUSH);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  if (said != Z_OK || !out.ends_with(std::string_view{"\x00\x00\xFF\xFF", 4}))
    throw std::runtime_error{"zlib"};
  out.resize(out.size() - 4);
  return out;
}

struct Inflated {
  std::vector<std::string> messages;  ///< data messages, compressed or not
  std::size_t written = 0;            ///< bytes that came out of the inflater
  FrameError error;
};

/// What was agreed on for what the server sends.
struct Context {
  std::uint8_t window_bits = 15;
  bool takeover = true;
};

/// Decodes chunk after chunk and inflates what is compressed, `room_bytes` at a time.
inline Inflated inflate_frames(const std::vector<std::string>& chunks, std::uint32_t max_message_bytes,
                               std::size_t room_bytes, const Context& context = {}) {
  Inflated all;
  FrameState state;
  state.deflates = true;
  Inflater inflater;
  inflater.reset(context.window_bits);
  const std::unique_ptr<std::uint8_t[]> room{new std::uint8_t[room_bytes]};
  std::string message;
  for (const std::string& chunk : chunks) {
    const std::unique_ptr<std::uint8_t[]> copy{new std::uint8_t[chunk.size()]};
    if (!chunk.empty()) std::memcpy(copy.get(), chunk.data(), chunk.size());
    std::span<const std::uint8_t> bytes{copy.get(), chunk.size()};
    while (!bytes.empty()) {
      const Decoded decoded = decode(state, bytes, max_message_bytes);
      bytes = bytes.subspan(decoded.taken);
      all.error = decoded.error;
      if (all.error.cause != Cause::none) return all;
      if (!decoded.has_piece || decoded.piece.opcode >= Opcode::close) continue;
      const FramePiece& piece = decoded.piece;
      if (piece.begins) message.clear();
      if (!piece.compressed) message.append(piece.payload.begin(), piece.payload.end());
      if (piece.compressed) {
        if (piece.begins && !context.takeover) inflater.reset(context.window_bits);
        if (piece.begins) inflater.begin(piece.opcode, max_message_bytes);
        inflater.give(piece.payload, piece.ends);
        Inflater::Part part;
        do {
          part = inflater.next({room.get(), room_bytes});
          all.written += part.written;
          message.append(reinterpret_cast<const char*>(room.get()), part.written);
          all.error = part.error;
          if (all.error.cause != Cause::none) return all;
        } while (part.more);
        if (part.ends != piece.ends) throw std::logic_error{"a message ends with its last piece"};
      }
      if (piece.ends) all.messages.push_back(message);
    }
  }
  return all;
}

}  // namespace onrush
