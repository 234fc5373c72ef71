// What comes: bytes from the socket, frames out of bytes, messages out of frames, replies among messages.
#include <algorithm>
#include <array>
#include <cerrno>

#include "agent/worker.h"
#include "core/bytes.h"

namespace onrush {

void Worker::readable(Session& session, bool ended) {
  const SocketToken token = token_of(session);
  const int descriptor = session.fd;
  now_ns_ = network_.now_ns();
  if (session.state == State::securing && !tls_->begun(token.slot)) {  // its turn to begin has come
    begin_securing(session);
    if (!still(session, token, descriptor)) return;
  }
  for (std::uint32_t reads = 0; reads < kReadsPerEvent; ++reads) {
    const std::ptrdiff_t got = network_.read(descriptor, {receive_.data(), kReceiveBytes});
    if (got == -EAGAIN) return;
    if (got == 0) return stream_ended(session, end_of_tcp(session), 0);
    if (got < 0) return stream_ended(session, Cause::system, static_cast<std::uint32_t>(-got));
    const auto length = static_cast<std::size_t>(got);
    count(session, Counter::bytes_received, length);
    if (tls_ == nullptr || session.state == State::tunnelling)
      received(session, {receive_.data(), length});
    else
      tls_received(session, {receive_.data(), length});
    if (!still(session, token, descriptor)) return;
    if (length < kReceiveBytes && !ended) return;
  }
  session.set(kUnread);
  unread_.push_back(token);
}

void Worker::received(Session& session, std::span<const std::uint8_t> bytes) {
  if (session.state == State::upgrading) return upgrade_received(session, bytes);
  if (session.state == State::tunnelling) return tunnel_received(session, bytes);
  if (is_open(session.state) || session.state == State::closing || session.state == State::acknowledging)
    frames_received(session, bytes);
}

// Over TLS a close_notify would have come first.
Cause Worker::end_of_tcp(const Session& session) const noexcept {
  return tls_ != nullptr && session.state > State::securing ? Cause::truncated : Cause::end_of_stream;
}

void Worker::stream_ended(Session& session, Cause cause, std::uint32_t detail, std::string_view sample) {
  switch (session.state) {
    case State::connecting:
    case State::tunnelling:
    case State::securing:
    case State::upgrading:
    case State::acknowledging:
      return attempt_failed(session, {phase_of(session.state), cause, detail}, sample);
    case State::closing: return connection_ended(session);
    default: return lose_connection(session, {Phase::open, cause, detail}, sample);
  }
}

// Its frames are not taken apart any more, so the place of what is left of one tells what may still come.
void Worker::turn_deaf(Session& session) noexcept {
  session.set(kLost);
  session.set(kDeaf);
  session.frame.payload_left = kMostIgnoredBytes;
}

// Whoever pours on instead of ending the connection must not keep us reading until the time for that is over.
void Worker::ignore(Session& session, std::size_t bytes) {
  if (bytes > session.frame.payload_left) return connection_ended(session);
  session.frame.payload_left -= static_cast<std::uint32_t>(bytes);
}

void Worker::frames_received(Session& session, std::span<const std::uint8_t> bytes) {
  if (session.has(kDeaf)) return ignore(session, bytes.size());
  const SocketToken token = token_of(session);
  const int descriptor = session.fd;
  pong_owed_ = false;
  while (!bytes.empty() && !session.has(kDeaf)) {
    const Decoded decoded = decode(session.frame, bytes, kMaxMessageBytes);
    bytes = bytes.subspan(decoded.taken);
    if (decoded.error.cause != Cause::none) {
      fail_connection(session, decoded.error);
      break;
    }
    if (!decoded.has_piece) continue;
    if (is_traced(session)) trace_piece(session, decoded.piece);
    if (decoded.piece.opcode >= Opcode::close)
      control_received(session, decoded.piece);
    else if (decoded.piece.compressed) [[unlikely]]
      deflated_received(session, decoded.piece);
    else
      data_received(session, decoded.piece);
    if (!still(session, token, descriptor)) break;
  }
  // Each is answered, those that came together with one write.
  if (pong_owed_ && still(session, token, descriptor)) [[maybe_unused]]
    const bool alive = send_pong(session);
  pong_owed_ = false;
  pongs_.clear();
}

Partial& Worker::partial_of(Session& session) {
  if (session.partial == 0) session.partial = partial_.borrow();
  return partial_.at(session.partial);
}

void Worker::control_received(Session& session, const FramePiece& piece) {
  if (piece.begins && piece.ends) return control_complete(session, piece.opcode, piece.payload);
  Partial& partial = partial_of(session);
  partial.control.append(text_of(piece.payload));
  if (!piece.ends) return;
  // The decoder has refused control frames of more than 125 bytes.
  std::array<std::uint8_t, 125> payload{};
  const std::size_t length = std::min(partial.control.size(), payload.size());
  std::copy_n(partial.control.begin(), length, payload.begin());
  partial.control.clear();
  if (!partial.message) partial_.give_back(session.partial);
  control_complete(session, piece.opcode, {payload.data(), length});
}

void Worker::control_complete(Session& session, Opcode opcode, std::span<const std::uint8_t> payload) {
  if (opcode == Opcode::close) return close_received(session, payload);
  if (opcode == Opcode::pong && is_keep_alive_pong(session, payload)) return;
  if (opcode == Opcode::pong && session.state == State::awaiting_pong) return pong_received(session, payload);
  if (opcode != Opcode::ping || !(is_open(session.state) || session.state == State::acknowledging))
    return;  // a stray pong means nothing
  pong_.assign(text_of(payload));
  if (session.unsent == 0) encode_frame(Opcode::pong, payload, random_.next_32(), pongs_);
  pong_owed_ = true;
}

void Worker::close_received(Session& session, std::span<const std::uint8_t> payload) {
  const ClosePayload close = parse_close(payload);
  if (close.error.cause != Cause::none) return fail_connection(session, close.error);
  if (session.state == State::closing) return connection_ended(session);
  if (session.state == State::acknowledging)
    return attempt_failed(session, {Phase::ack, Cause::peer_close, close.code}, close.reason);
  note_failure(session, {Phase::open, Cause::peer_close, close.code}, close.reason);
  turn_deaf(session);
  // Echoed as it came; without a code if it had none. Then the peer ends the stream, or we do.
  constexpr std::uint16_t kNone = 1005;
  begin_close(session, close.code == kNone ? std::uint16_t{0} : close.code, {});
}

bool Worker::wants_content(const Session& session) const noexcept {
  if (graphql_ != nullptr) return session.state != State::closing;
  if (session.state == State::listening) return step_of(session).listen.any() || settings_.echoes;
  if (session.state != State::awaiting_reply) return false;
  const ProgramStep& step = step_of(session);
  return !std::holds_alternative<AnyReply>(*step.awaited) || !step.set.empty();
}

// A message that comes whole is looked at where it lies. One that comes in pieces is collected, but only for
// who waits for its content; others just count it.
void Worker::data_received(Session& session, const FramePiece& piece) {
  count(session, Counter::payload_bytes_received, piece.payload.size());
  if (piece.begins && piece.ends) return message_received(session, piece.opcode, piece.payload, true);
  if (piece.begins && wants_content(session)) partial_of(session).message = true;
  const bool collects = session.partial != 0 && partial_.at(session.partial).message;
  if (collects) partial_.at(session.partial).bytes.append(text_of(piece.payload));
  if (!piece.ends) return;
  if (!collects) return message_received(session, piece.opcode, {}, false);
  // Taken out of the session, which may end over the message.
  std::uint32_t handle = std::exchange(session.partial, 0);
  std::string& message = partial_.at(handle).bytes;
  message.reserve(message.size() + kJsonPadding);
  message_received(session, piece.opcode, bytes_of(message), true);
  partial_.give_back(handle);
}

// A message for which no step waits is counted and dropped: the script decides what it looks at, and memory
// stays flat.
void Worker::message_received(Session& session, Opcode opcode, std::span<const std::uint8_t> payload,
                              bool complete) {
  count(session, Counter::messages_received);
  if (graphql_ != nullptr) {
    if (session.state != State::closing) graphql_received(session, opcode, payload, complete);
    return;
  }
  if (session.state == State::listening) {
    if (settings_.echoes && !send_echo(session, opcode, payload)) return;
    return broadcast_received(session, payload, complete);
  }
  if (session.state != State::awaiting_reply || !is_reply(session, payload, complete)) return;
  if (const ProgramStep& step = step_of(session); !step.set.empty()) {
    const Cause lacks = keep(session, step, payload);
    if (lacks != Cause::none) return answer_lacks(session, lacks, payload);
  }
  replied(session);
}

bool Worker::is_reply(Session& session, std::span<const std::uint8_t> payload, bool complete) {
  const ProgramStep& step = step_of(session);
  const Reply& reply = *step.awaited;
  // A message that began before the wait did was not collected, so nothing can be kept of it.
  if (std::holds_alternative<AnyReply>(reply)) return complete || step.set.empty();
  if (!complete) return false;
  if (const auto* text = std::get_if<TextReply>(&reply))
    return is_equal(session, text->text, text_of(payload));
  if (const auto* expression = std::get_if<RegexReply>(&reply)) {
    if (!expression->group) return expression->regex.matches(text_of(payload));
    const auto found = expression->regex.find(text_of(payload));
    return found && is_equal(session, *expression->group, *found);
  }
  if (!json_.begin(payload)) return false;
  const auto& members = std::get<JsonReply>(reply).members;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto value = json_.text(step.reply[i]);
    if (!value || !is_equal(session, members[i].value, *value)) return false;
  }
  return true;
}

bool Worker::is_equal(const Session& session, const Template& wanted, std::string_view text) {
  reply_text_.clear();
  wanted.render(values_of(session), reply_text_);
  return text == reply_text_;
}

// The step's reply will not come, and the connection goes on.
void Worker::step_failed(Session& session) {
  leave_step(session);
  set_state(session, State::pacing);
  ++session.step;
  run(session, now_ns_);
}

void Worker::replied(Session& session) {
  const Instruction& instruction = step_of(session).instruction;
  const Wait& wait = wait_of(instruction.op);
  const bool request = instruction.op == Op::request || instruction.op == Op::operate;
  count(session, wait.all);
  recorder_.time(session.scenario, wait.time,
                 now_ns_ - (request ? session.times.sent_ns : session.times.due_ns));
  if (instruction.paced) recorder_.time(session.scenario, Time::response, now_ns_ - session.times.due_ns);
  timers_.disarm(session);
  set_state(session, State::pacing);
  ++session.step;
  run(session, now_ns_);
}

}  // namespace onrush
