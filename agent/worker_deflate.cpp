// Compressed messages, in and out (RFC 7692): between the frames and those who look at messages.
#include <algorithm>

#include "agent/worker.h"
#include "core/bytes.h"

namespace onrush {

void Worker::encode_deflated(Session& session, Opcode opcode, std::span<const std::uint8_t> payload) {
  if (is_traced(session))
    trace(session, Direction::sent,
          describe_frame(opcode, text_of(payload.first(std::min(payload.size(), kTracedBytes + 1))),
                         payload.size()));
  const auto deflated = compression_.deflate(slab_.slot_of(session), payload);
  if (deflated)
    encode_compressed_frame(opcode, *deflated, random_.next_32(), frame_);
  else
    encode_frame(opcode, payload, random_.next_32(), frame_);
}

// What is inflated goes on like a message that came uncompressed: in pieces, if it is longer than the room
// for it or came so. Only its last piece can end the session.
void Worker::deflated_received(Session& session, const FramePiece& piece) {
  const SlotIndex slot = slab_.slot_of(session);
  Inflater& inflater = compression_.inflater(slot);
  if (piece.begins) inflater.begin(piece.opcode, kMaxMessageBytes);
  inflater.give(piece.payload, piece.ends);
  const std::span<std::uint8_t> room = compression_.room();
  FramePiece inflated{piece.opcode, piece.begins, false, false, {}};
  while (true) {
    const Inflater::Part part = inflater.next(room);
    if (part.error.cause != Cause::none) return fail_connection(session, part.error);
    inflated.ends = part.ends;
    inflated.payload = room.first(part.written);
    if (is_traced(session)) trace_piece(session, inflated);
    if (part.ends) {
      compression_.message_ended(slot);
      return data_received(session, inflated);
    }
    if (part.written > 0 || inflated.begins) data_received(session, inflated);
    if (!part.more) return;
    inflated.begins = false;
  }
}

}  // namespace onrush
