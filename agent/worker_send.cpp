// Frames out: written at once, and what the socket does not take waits in a borrowed buffer.
#include <cerrno>

#include "agent/worker.h"
#include "core/bytes.h"

namespace onrush {

bool Worker::send_message(Session& session, const Message& message) {
  if (pong_owed_ && !send_pong(session)) return false;
  if (const auto* text = std::get_if<TextMessage>(&message)) {
    text_.clear();
    text->text.render(values_of(session), text_);
    return send_data(session, Opcode::text, bytes_of(text_));
  }
  if (const auto* json = std::get_if<JsonMessage>(&message)) {
    text_.clear();
    json->json.render(values_of(session), reply_text_, text_);
    return send_data(session, Opcode::text, bytes_of(text_));
  }
  if (const auto* file = std::get_if<FileMessage>(&message))
    return send_data(session, Opcode::binary, bytes_of(*file->content));
  const std::size_t length = std::get<BinaryMessage>(message).bytes;
  while (noise_.size() < length) noise_.push_back(static_cast<char>(random_.next()));
  return send_data(session, Opcode::binary, bytes_of(std::string_view{noise_}.substr(0, length)));
}

bool Worker::send_data(Session& session, Opcode opcode, std::span<const std::uint8_t> payload) {
  count(session, Counter::payload_bytes_sent, payload.size());
  frame_.clear();
  if (session.frame.deflates) [[unlikely]]
    encode_deflated(session, opcode, payload);
  else
    encode_frame(opcode, payload, random_.next_32(), frame_);
  return send_bytes(session, frame_);
}

bool Worker::send_pong(Session& session) {
  pong_owed_ = false;
  // While the peer does not take our bytes only its newest ping is answered (RFC 6455 section 5.5.3).
  if (session.unsent != 0) {
    Unsent& unsent = unsent_.at(session.unsent);
    unsent.pong = true;
    unsent.pong_payload = pong_;
    return true;
  }
  if (pongs_.empty()) encode_frame(Opcode::pong, bytes_of(pong_), random_.next_32(), pongs_);
  const bool alive = send_bytes(session, pongs_);
  pongs_.clear();
  return alive;
}

bool Worker::send_echo(Session& session, Opcode opcode, std::span<const std::uint8_t> payload) {
  if (pong_owed_ && !send_pong(session)) return false;
  count(session, Counter::messages_sent);
  return send_data(session, opcode, payload);
}

bool Worker::send_close(Session& session, std::uint16_t code, std::string_view reason) {
  if (pong_owed_ && !send_pong(session)) return false;
  frame_.clear();
  encode_close(code, reason, random_.next_32(), frame_);
  return send_bytes(session, frame_);
}

// False if the connection has ended over it.
bool Worker::send_bytes(Session& session, std::string_view bytes) {
  if (is_traced(session)) trace_sent(session, bytes);
  return tls_ == nullptr ? send_wire(session, bytes) : send_tls(session, bytes);
}

bool Worker::send_wire(Session& session, std::string_view bytes) {
  if (session.unsent != 0) {
    unsent_.at(session.unsent).bytes.append(bytes);
    return true;
  }
  const std::ptrdiff_t put = network_.write(session.fd, bytes_of(bytes));
  if (put < 0 && put != -EAGAIN) {
    stream_ended(session, Cause::system, static_cast<std::uint32_t>(-put));
    return false;
  }
  wrote(session, bytes, put < 0 ? 0 : static_cast<std::size_t>(put));
  return true;
}

void Worker::wrote(Session& session, std::string_view bytes, std::size_t written) {
  count(session, Counter::bytes_sent, written);
  if (written == bytes.size()) return;
  session.unsent = unsent_.borrow();
  unsent_.at(session.unsent).bytes.assign(bytes.substr(written));
  network_.await_room(session.fd, token_of(session));
}

void Worker::writable(Session& session) {
  while (session.unsent != 0) {
    Unsent& unsent = unsent_.at(session.unsent);
    const std::string_view rest = std::string_view{unsent.bytes}.substr(unsent.written);
    if (rest.empty()) {
      const bool pong = unsent.pong;
      if (pong) std::swap(pong_, unsent.pong_payload);
      unsent_.give_back(session.unsent);
      if (pong && !send_pong(session)) return;
      continue;
    }
    const std::ptrdiff_t put = network_.write(session.fd, bytes_of(rest));
    if (put == -EAGAIN) return;
    if (put < 0) return stream_ended(session, Cause::system, static_cast<std::uint32_t>(-put));
    count(session, Counter::bytes_sent, static_cast<std::uint64_t>(put));
    unsent.written += static_cast<std::size_t>(put);
  }
  if (session.state != State::flushing) return;
  now_ns_ = network_.now_ns();
  set_state(session, State::pacing);
  run(session, now_ns_);
}

}  // namespace onrush
