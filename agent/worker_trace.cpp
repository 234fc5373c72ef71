// What the users who are followed do, as lines of text in the recorder's portion. Nothing here is for speed.
#include <fmt/format.h>

#include <algorithm>

#include "agent/worker.h"
#include "core/bytes.h"

namespace onrush {

void Worker::trace(const Session& session, Direction direction, std::string_view text) {
  const std::string& scenario = program_.plan.scenarios[session.scenario].name;
  add_line(recorder_.trace(), run_us(network_.now_ns()), fmt::format("{} {}", scenario, session.user),
           direction, text);
}

void Worker::trace_connect(const Session& session, const Endpoint& local) {
  trace(session, Direction::none,
        fmt::format("connecting from {} to {}", local.text(),
                    program_.endpoints[destination_of(session).endpoint].text()));
}

void Worker::trace_head(const Session& session, Direction direction, std::string_view head) {
  trace(session, direction, escaped(without_secrets(head), kTracedHeadBytes));
}

// A request's head until the connection is open, whole frames from then on.
void Worker::trace_sent(const Session& session, std::string_view bytes) {
  if (session.state >= State::connecting && session.state <= State::upgrading)
    return trace_head(session, Direction::sent, bytes);
  for (const std::string& line : describe_frames(bytes_of(bytes))) trace(session, Direction::sent, line);
}

// A message that comes in pieces shows its first; its end is told. A compressed one is followed by what it
// says.
void Worker::trace_piece(const Session& session, const FramePiece& piece) {
  if (piece.begins) {
    const std::uint64_t length = piece.payload.size() + std::uint64_t{session.frame.payload_left};
    const std::size_t shown = piece.compressed ? 0 : std::min(piece.payload.size(), kTracedBytes + 1);
    trace(session, Direction::received,
          describe_frame(piece.opcode, text_of(piece.payload.first(shown)), length) +
              (piece.compressed ? ", compressed" : "") + (piece.ends ? "" : " (in pieces)"));
  } else if (piece.ends) {
    trace(session, Direction::received, "the last piece");
  }
}

}  // namespace onrush
