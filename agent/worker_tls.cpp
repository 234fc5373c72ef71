// TLS between the frames and the socket: the handshake, and what comes and goes after it. Only plans that
// speak wss come here.
#include "agent/worker.h"
#include "core/bytes.h"

namespace onrush {

// A handshake costs a hundred times as much as a message, so only some begin or go on at once in a turn; the
// others wait in the queue of those with more to read, and open connections come first.
bool Worker::must_wait(Session& session) {
  if (session.state != State::securing || ++handshakes_ <= kHandshakesPerTurn) return false;
  session.set(kUnread);
  unread_.push_back(token_of(session));
  return true;
}

void Worker::begin_securing(Session& session) {
  const SlotIndex slot = slab_.slot_of(session);
  const ClientIdentity* identity = program_.identities.of(feed_rows_.rows(slot));
  if (!tls_->begin(slot, destination_of(session).target, identity)) return tls_failed(session);
  [[maybe_unused]] const bool secured = secure(session);
}

// True once it is secured and the connection still there.
bool Worker::secure(Session& session) {
  const SocketToken token = token_of(session);
  const int descriptor = session.fd;
  switch (tls_->handshake(token.slot)) {
    case TlsLayer::Step::more: return flush_tls(session) && false;
    case TlsLayer::Step::ended: stream_ended(session, Cause::end_of_stream, 0); return false;
    case TlsLayer::Step::failed: tls_failed(session); return false;
    case TlsLayer::Step::done: break;
  }
  secured(session);
  return still(session, token, descriptor);
}

// The request leaves with the last of the handshake.
void Worker::secured(Session& session) {
  now_ns_ = network_.now_ns();
  const std::int64_t took_ns = now_ns_ - session.times.sent_ns;
  recorder_.time(session.scenario, Time::tls, took_ns);
  if (tls_->resumed(slab_.slot_of(session))) recorder_.time(session.scenario, Time::tls_resumed, took_ns);
  request_upgrade(session);
}

void Worker::tls_received(Session& session, std::span<const std::uint8_t> bytes) {
  const SocketToken token = token_of(session);
  const int descriptor = session.fd;
  tls_->take_in(bytes);
  if (session.state == State::securing && !secure(session)) return;
  while (true) {
    const TlsLayer::Plain plain = tls_->read(token.slot);
    if (plain.step == TlsLayer::Step::more && !flush_tls(session)) return;
    if (!plain.bytes.empty()) received(session, plain.bytes);
    if (!still(session, token, descriptor)) return;
    switch (plain.step) {
      case TlsLayer::Step::done: continue;
      case TlsLayer::Step::more: return;
      case TlsLayer::Step::ended: return stream_ended(session, Cause::end_of_stream, 0);
      case TlsLayer::Step::failed: return tls_failed(session);
    }
  }
}

// The peer is told why, if it can be.
void Worker::tls_failed(Session& session) {
  if (!tls_->out().empty() && session.unsent == 0) {
    [[maybe_unused]] const std::ptrdiff_t put = network_.write(session.fd, bytes_of(tls_->out()));
  }
  tls_->out().clear();
  const TlsLayer::Trouble& trouble = tls_->trouble();
  stream_ended(session, trouble.cause, trouble.detail, trouble.sample);
}

bool Worker::flush_tls(Session& session) {
  if (tls_->out().empty()) return true;
  const bool alive = send_wire(session, tls_->out());
  tls_->out().clear();
  return alive;
}

bool Worker::send_tls(Session& session, std::string_view bytes) {
  if (tls_->write(slab_.slot_of(session), bytes)) return flush_tls(session);
  tls_failed(session);
  return false;
}

// A connection that ends in order tells its peer that nothing was cut off.
void Worker::end_tls(Session& session) noexcept {
  if (session.unsent != 0) return;
  tls_->say_end(slab_.slot_of(session));
  [[maybe_unused]] const std::ptrdiff_t put = network_.write(session.fd, bytes_of(tls_->out()));
  tls_->out().clear();
}

}  // namespace onrush
