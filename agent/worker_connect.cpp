// Attempts: from a session that is due to a connection that is open, or the reason why not.
#include <algorithm>
#include <cerrno>

#include "agent/worker.h"
#include "core/bytes.h"
#include "core/handshake.h"
#include "core/refusal.h"

namespace onrush {
namespace {

// Ports of our block that others hold are passed over, as another generator on the host may hold hundreds in
// a row; the turn of the block sees to it that each is tried once a round. At some 5 us each this is 3 ms.
constexpr int kPortsTried = 512;
// Not an errno: our block of ports is used up.
constexpr int kNoPort = 1 << 20;
// Of what is no answer at all.
constexpr std::size_t kShownBytes = 200;

std::string_view text_of(const KeyText& key) noexcept { return {key.data(), key.size()}; }

// What a server that expects TLS says to an upgrade request, if it says anything (RFC 8446 section 5.1).
std::uint32_t is_tls_alert(std::string_view bytes) { return bytes.starts_with("\x15\x03") ? 1 : 0; }

}  // namespace

bool Worker::start_session(std::uint32_t scenario, std::uint64_t user, std::int64_t due_ns, bool arrival) {
  const SlotIndex slot = slab_.acquire();
  if (slot == 0) return false;
  Session& session = slab_.at(slot);
  session.scenario = static_cast<std::uint16_t>(scenario);
  if (!away_.empty()) away_[slot] = {};
  set_state(session, State::waiting);
  if (arrival) {
    session.user = user;
    session.set(kArrival);
    ++arrivals_;
  } else {
    session.user = program_.user_bases[scenario] + user + 1;
    session.settling_stage = static_cast<std::uint16_t>(stage_);
    session.set(kUnsettled);
    user_slot(scenario, user) = slot;
  }
  if (!program_.feeds.empty() && !take_rows(session, user, arrival))
    return finish_session(session, false), true;
  begin_session(session, due_ns);
  return true;
}

void Worker::begin_session(Session& session, std::int64_t due_ns) {
  now_ns_ = network_.now_ns();
  recorder_.time(session.scenario, Time::start_lag, now_ns_ - due_ns);
  if (captures_.any()) captures_.clear(slab_.slot_of(session), session.scenario);
  run(session, due_ns);
}

// One deadline over everything that makes a connection; nothing that arrives moves it.
void Worker::connect(Session& session, const ConnectStep& step, std::int64_t due_ns) {
  now_ns_ = network_.now_ns();
  count(session, Counter::attempted);
  session.begun_ns = now_ns_;
  session.times = {due_ns, now_ns_};
  session.frame = {};
  set_state(session, State::connecting);
  timers_.arm(session, now_ns_ + step.timeout_ns);
  destinations_.choose(slab_.slot_of(session));
  if (!encode_first_of(session)) return attempt_failed(session, {Phase::connect, Cause::broken_header, 0});
  // TLS begins once the connection is there, so that its cost is not taken for TCP's.
  if (tls_ != nullptr && !is_proxied()) frame_.clear();
  const Network::Begun begun = open_socket(session);
  if (begun.descriptor == -kNoPort) return attempt_failed(session, {Phase::connect, Cause::no_port, 0});
  if (begun.descriptor < 0)
    return attempt_failed(session,
                          {Phase::connect, Cause::system, static_cast<std::uint32_t>(-begun.descriptor)});
  if (begun.written == 0) return;
  now_ns_ = begun.established_ns;
  established(session);
  if (is_traced(session)) trace_sent(session, frame_);
  wrote(session, frame_, begun.written);
}

// A descriptor, -kNoPort or -errno.
Network::Begun Worker::open_socket(Session& session) {
  const Destination destination = destination_of(session);
  PortAllocator& ports = ports_[destination.endpoint];
  Network::Begun last{-kNoPort};
  for (int tries = 0; tries < kPortsTried; ++tries) {
    const auto taken = ports.take();
    if (!taken) break;
    const Network::Begun begun = network_.connect(taken->endpoint, program_.endpoints[destination.endpoint],
                                                  token_of(session), bytes_of(frame_));
    if (begun.descriptor >= 0) {
      session.fd = begun.descriptor;
      session.endpoint = taken->ticket;
      if (is_traced(session)) trace_connect(session, taken->endpoint);
      return begun;
    }
    ports.give_back(taken->ticket);
    last = begun;
    if (begun.descriptor != -EADDRINUSE && begun.descriptor != -EADDRNOTAVAIL) return begun;
    count(session, Counter::port_retries);
  }
  return last;
}

void Worker::connected(Session& session) {
  now_ns_ = network_.now_ns();
  const int error = network_.finish_connect(session.fd);
  if (error == -ELOOP) return attempt_failed(session, {Phase::connect, Cause::self_connect, 0});
  if (error != 0)
    return attempt_failed(session, {Phase::connect, Cause::system, static_cast<std::uint32_t>(-error)});
  established(session);
  if (is_proxied()) return request_tunnel(session);
  if (tls_ == nullptr) return request_upgrade(session);
  if (!must_wait(session)) begin_securing(session);
}

// What goes out first on a new connection.
bool Worker::encode_first_of(const Session& session) {
  if (!is_proxied()) return encode_request_of(session);
  frame_.clear();
  encode_connect(target_of(session), *program_.plan.connection.proxy, frame_);
  return true;
}

// In the clear, whatever the target speaks.
void Worker::request_tunnel(Session& session) {
  [[maybe_unused]] const bool encoded = encode_first_of(session);
  if (is_traced(session)) trace_sent(session, frame_);
  [[maybe_unused]] const bool alive = send_wire(session, frame_);
}

void Worker::request_upgrade(Session& session) {
  session.times.sent_ns = now_ns_;
  set_state(session, State::upgrading);
  if (!encode_request_of(session)) return attempt_failed(session, {Phase::upgrade, Cause::broken_header, 0});
  [[maybe_unused]] const bool alive = send_bytes(session, frame_);
}

void Worker::established(Session& session) noexcept {
  recorder_.time(session.scenario, Time::tcp_connect, now_ns_ - session.begun_ns);
  session.times.sent_ns = now_ns_;
  set_state(session, is_proxied() ? State::tunnelling : tls_ == nullptr ? State::upgrading : State::securing);
}

// False if a header of the plan would break its line with this user's values.
bool Worker::encode_request_of(const Session& session) {
  const KeyText key = key_of(session);
  const UpgradeHead& head = program_.heads[step_of(session).head];
  RequestExtras extras{head.fixed_path(), head.fixed(), head.has_host(), program_.extensions};
  if (!head.is_fixed()) {
    const TemplateValues values = values_of_attempt(session);
    text_.clear();
    head.render_path(values, text_);
    const std::size_t path_bytes = text_.size();
    if (!head.render(values, text_)) return false;
    extras.path = std::string_view{text_}.substr(0, path_bytes);
    extras.lines = std::string_view{text_}.substr(path_bytes);
  }
  frame_.clear();
  encode_request(target_of(session), text_of(key), frame_, extras);
  return true;
}

// The handshake key is drawn from the seed and the session's identity, so it need not be kept until the
// answer comes.
KeyText Worker::key_of(const Session& session) const noexcept {
  const SocketToken token = token_of(session);
  const std::uint64_t identity = std::uint64_t{token.generation} << 32 | token.slot;
  const std::uint64_t high =
      mix(program_.plan.seed ^ mix(identity) ^ static_cast<std::uint64_t>(session.begun_ns));
  return key_text(high, mix(high ^ settings_.share.index));
}

void Worker::upgrade_received(Session& session, std::span<const std::uint8_t> bytes) {
  const std::string_view text = text_of(bytes);
  if (session.partial != 0 && partial_.at(session.partial).refusal != 0) return body_received(session, text);
  if (const auto head = take_head(session, bytes, Phase::upgrade))
    head_received(session, head->text, head->rest);
}

// The head at the front of what has come; nothing while it is not complete, or once the attempt has failed
// over it.
std::optional<Worker::Head> Worker::take_head(Session& session, std::span<const std::uint8_t> bytes,
                                              Phase phase) {
  const std::string_view text = text_of(bytes);
  if (session.partial == 0) {
    if (!may_be_http(text))
      return attempt_failed(session, {phase, Cause::not_http, is_tls_alert(text)},
                            escaped(text, kShownBytes)),
             std::nullopt;
    const auto end = find_head_end(text, 0);
    if (end && *end <= kMaxHeadBytes) return Head{text.substr(0, *end), bytes.subspan(*end)};
  }
  // Never more than the limit is kept, whatever comes.
  Partial& partial = partial_of(session);
  const std::size_t before = partial.bytes.size();
  partial.bytes.append(text.substr(0, kMaxHeadBytes + 1 - before));
  const std::string_view all = partial.bytes;
  if (!may_be_http(all))
    return attempt_failed(session, {phase, Cause::not_http, is_tls_alert(all)}, escaped(all, kShownBytes)),
           std::nullopt;
  const auto end = find_head_end(all, before);
  if (end && *end <= kMaxHeadBytes) return Head{all.substr(0, *end), bytes.subspan(*end - before)};
  if (all.size() > kMaxHeadBytes)
    attempt_failed(session, {phase, Cause::head_too_large, 0}, escaped(all, kShownBytes));
  return std::nullopt;
}

// What comes behind the head belongs to the tunnel already.
void Worker::tunnel_received(Session& session, std::span<const std::uint8_t> bytes) {
  const auto head = take_head(session, bytes, Phase::proxy);
  if (!head) return;
  if (is_traced(session)) trace_head(session, Direction::received, head->text);
  const HandshakeVerdict verdict = check_tunnel(head->text);
  if (verdict.failure.cause != Cause::none)
    return attempt_failed(session, verdict.failure,
                          with_body(verdict.sample, head->text, text_of(head->rest)));
  partial_.give_back(session.partial);
  if (tls_ != nullptr) {
    // Nobody speaks before the client in TLS.
    if (!head->rest.empty())
      return attempt_failed(session, {Phase::tls, Cause::not_tls, 0},
                            escaped(text_of(head->rest), kShownBytes));
    session.times.sent_ns = now_ns_;
    set_state(session, State::securing);
    return begin_securing(session);
  }
  const SocketToken token = token_of(session);
  const int descriptor = session.fd;
  request_upgrade(session);
  if (!head->rest.empty() && still(session, token, descriptor)) received(session, head->rest);
}

void Worker::head_received(Session& session, std::string_view head, std::span<const std::uint8_t> rest) {
  if (is_traced(session)) trace_head(session, Direction::received, head);
  const KeyText key = key_of(session);
  const std::optional<DeflateOffer>& deflate = program_.plan.connection.deflate;
  const HandshakeVerdict verdict =
      check_response(head, text_of(key),
                     {.subprotocols = program_.heads[step_of(session).head].subprotocols(),
                      .may_choose_none = graphql_ != nullptr,
                      .deflate = deflate ? &*deflate : nullptr});
  if (verdict.failure.cause == Cause::refused_status) return refused(session, verdict, head, text_of(rest));
  if (verdict.failure.cause != Cause::none) return attempt_failed(session, verdict.failure, verdict.sample);
  if (verdict.deflate) {
    session.frame.deflates = true;
    compression_.begin(slab_.slot_of(session), *verdict.deflate);
  }
  partial_.give_back(session.partial);
  const SocketToken token = token_of(session);
  const int descriptor = session.fd;
  if (graphql_ == nullptr)
    opened(session);
  else
    begin_graphql(session, verdict.subprotocol);
  if (!rest.empty() && still(session, token, descriptor)) frames_received(session, rest);
}

// The body's beginning is worth a sample. Where it comes in a segment of its own, one connection a second
// waits for it, as long as its deadline lets it; the others fail with what they have.
void Worker::refused(Session& session, const HandshakeVerdict& verdict, std::string_view head,
                     std::string_view behind) {
  if (!awaits_body(head, behind) || now_ns_ - body_sought_ns_ < kBodyPause_ns)
    return attempt_failed(session, verdict.failure, with_body(verdict.sample, head, behind));
  body_sought_ns_ = now_ns_;
  std::string both = std::string{head}.append(behind.substr(0, kBodyBytes));  // which may lie in the buffer
  Partial& partial = partial_of(session);
  partial.bytes = std::move(both);
  partial.refusal = head.size();
  timers_.arm(session, std::min(session.wake_ns, now_ns_ + kBodyWait_ns));
}

void Worker::body_received(Session& session, std::string_view bytes) {
  Partial& partial = partial_.at(session.partial);
  const std::size_t room = partial.refusal + kBodyBytes - partial.bytes.size();
  partial.bytes.append(bytes.substr(0, room));
  const std::string_view all = partial.bytes;
  if (!awaits_body(all.substr(0, partial.refusal), all.substr(partial.refusal))) show_refusal(session);
}

// Its body is there, or was waited for long enough: by time, end or reset.
void Worker::show_refusal(Session& session) {
  Partial& partial = partial_.at(session.partial);
  const std::string_view head = std::string_view{partial.bytes}.substr(0, partial.refusal);
  const std::string_view behind = std::string_view{partial.bytes}.substr(partial.refusal);
  const HandshakeVerdict verdict = check_response(head, text_of(key_of(session)));
  const std::string sample = with_body(verdict.sample, head, behind);
  partial.refusal = 0;
  attempt_failed(session, verdict.failure, sample);
}

void Worker::opened(Session& session) {
  recorder_.time(session.scenario, Time::upgrade, now_ns_ - session.times.sent_ns);
  session_open(session);
}

void Worker::session_open(Session& session) {
  recorder_.time(session.scenario, Time::handshake, now_ns_ - session.begun_ns);
  count(session, Counter::opened);
  attempt_ended(session, true);
  if (keep_alive_.is_on()) keep_alive_.sent_ns(slab_.slot_of(session)) = 0;
  session.begun_ns = now_ns_;
  if (is_traced(session)) trace(session, Direction::none, "open");
  timers_.disarm(session);
  set_state(session, State::pacing);
  settle(session);
  ++session.step;
  run(session, now_ns_);
}

void Worker::attempt_failed(Session& session, const Failure& failure, std::string_view sample) {
  if (session.partial != 0 && partial_.at(session.partial).refusal != 0) return show_refusal(session);
  std::string where;
  if (failure.phase == Phase::connect && program_.endpoints.size() > 1) {
    where = program_.endpoints[destination_of(session).endpoint].text();
    sample = where;
  }
  count(session, Counter::failed);
  if (is_own_limit(failure)) count(session, Counter::own_failed);
  if (failure.cause == Cause::cancelled) count(session, Counter::cancelled);
  recorder_.time(session.scenario, Time::failed_handshake, now_ns_ - session.begun_ns);
  note_failure(session, failure, sample);
  close_socket(session);
  set_state(session, State::waiting);
  attempt_ended(session, false);
  if (!comes_back(session)) finish_session(session, false);
}

}  // namespace onrush
