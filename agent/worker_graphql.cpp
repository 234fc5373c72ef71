// GraphQL over WebSocket: from the 101 to the acknowledged connection, and what the server says on it.
//
// Messages have the names of the protocol that the server chose. What it does wrong is counted in the error
// table by name; the connection goes on, unless the plan says `on_protocol_error: close`.
#include <algorithm>
#include <utility>

#include "agent/worker.h"
#include "core/bytes.h"

namespace onrush {
namespace {

// While a peer does not take our bytes no more answers to its pings are put behind them.
constexpr std::size_t kMostUnsentForPongs = 64 * 1024;
// A ping's payload is given back up to this size.
constexpr std::size_t kMostPongPayload = 4 * 1024;

std::uint32_t number_of(GraphqlType type) { return static_cast<std::uint32_t>(type); }

std::string_view sample_of(std::span<const std::uint8_t> message) {
  return text_of(message).substr(0, kSampleBytes);
}

}  // namespace

// The deadline of the attempt goes on to count; the ack's own may only shorten it.
void Worker::begin_graphql(Session& session, std::size_t chosen) {
  const GraphqlConnection& plan = *program_.plan.connection.graphql;
  recorder_.time(session.scenario, Time::upgrade, now_ns_ - session.times.sent_ns);
  graphql_->connected(slab_.slot_of(session), plan.offered[chosen]);
  session.times.sent_ns = now_ns_;
  set_state(session, State::acknowledging);
  timers_.arm(session, std::min(session.wake_ns, now_ns_ + plan.ack_timeout_ns));
  std::string& message = graphql_->message;
  message.clear();
  append_graphql_message(GraphqlType::connection_init, 0, message);
  if (!plan.init.empty()) {
    message.back() = ',';
    message += "\"payload\":";
    TemplateValues values = values_of_attempt(session);
    values.seed = mix(values.seed);  // another message than the request
    plan.init.render(values, graphql_->scratch, message);
    message += '}';
  }
  [[maybe_unused]] const bool alive = send_graphql(session);
}

// Sends graphql_->message. False if the connection has ended over it.
bool Worker::send_graphql(Session& session) {
  if (pong_owed_ && !send_pong(session)) return false;
  count(session, Counter::messages_sent);
  return send_data(session, Opcode::text, bytes_of(graphql_->message));
}

bool Worker::send_graphql(Session& session, GraphqlType type, std::uint32_t id) {
  graphql_->message.clear();
  append_graphql_message(type, id, graphql_->message);
  return send_graphql(session);
}

void Worker::graphql_received(Session& session, Opcode opcode, std::span<const std::uint8_t> payload,
                              bool complete) {
  const GraphqlUser& user = graphql_->at(slab_.slot_of(session));
  GraphqlMessage message;
  if (opcode == Opcode::text && complete) message = graphql_->reader.read(json_, payload);
  if (message.type == GraphqlType::none)
    return graphql_fault(session, {Phase::open, Cause::bad_message, 0}, payload);
  const bool acknowledging = session.state == State::acknowledging;
  const bool is_result = message.type == words_of(user.protocol).result;
  const bool in_place = server_may_send(user.protocol, message.type) &&
                        (message.type != GraphqlType::connection_ack || acknowledging) &&
                        (message.type != GraphqlType::connection_error || acknowledging) &&
                        !(acknowledging && (is_result || message.type == GraphqlType::error ||
                                            message.type == GraphqlType::complete));
  if (!in_place)
    return graphql_fault(session, {Phase::open, Cause::unexpected_message, number_of(message.type)}, payload);
  // One that was given is late at worst; one that never was is made up.
  const bool has_operation =
      is_result || message.type == GraphqlType::error || message.type == GraphqlType::complete;
  if (has_operation && (message.id == 0 || message.id > user.last_id))
    return graphql_fault(session, {Phase::open, Cause::unknown_operation, 0}, payload);
  if (is_result && !message.has_payload)
    return graphql_fault(session, {Phase::open, Cause::bad_result, 0}, payload);
  switch (message.type) {
    case GraphqlType::connection_ack: return acknowledged(session);
    case GraphqlType::connection_error:
      return attempt_failed(session, {Phase::ack, Cause::ack_refused, 0}, sample_of(payload));
    case GraphqlType::ping: return graphql_ping_received(session, message.payload);
    case GraphqlType::next:
    case GraphqlType::data: return result_received(session, message, payload);
    case GraphqlType::error: return operation_refused(session, message.id, payload);
    case GraphqlType::complete: return operation_complete(session, message, payload);
    default: return;  // ka, pong
  }
}

void Worker::acknowledged(Session& session) {
  recorder_.time(session.scenario, Time::ack, now_ns_ - session.times.sent_ns);
  session_open(session);
}

void Worker::graphql_ping_received(Session& session, std::string_view payload) {
  if (session.unsent != 0 && unsent_.at(session.unsent).bytes.size() > kMostUnsentForPongs) return;
  std::string& message = graphql_->message;
  message.clear();
  append_graphql_message(GraphqlType::pong, 0, message);
  if (!payload.empty() && payload.size() <= kMostPongPayload) {
    message.back() = ',';
    message.append("\"payload\":").append(payload) += '}';
  }
  [[maybe_unused]] const bool alive = send_graphql(session);
}

// Before the ack the attempt's own failure tells enough, unless the plan wants the fault to end it.
void Worker::graphql_fault(Session& session, const Failure& failure, std::span<const std::uint8_t> message) {
  constexpr std::uint16_t kBadRequest = 4400;
  const bool closes = program_.plan.connection.graphql->closes_on_error;
  if (session.state == State::acknowledging && closes)
    return attempt_failed(session, {Phase::ack, failure.cause, failure.detail}, sample_of(message));
  note_failure(session, failure, sample_of(message));
  if (!closes) return;
  turn_deaf(session);
  begin_close(session, kBadRequest, "unexpected message");
}

void Worker::note_graphql_errors(Session& session, const Failure& failure,
                                 std::span<const std::uint8_t> message) {
  count(session, Counter::graphql_errors);
  note_failure(session, failure, sample_of(message));
}

void Worker::result_received(Session& session, const GraphqlMessage& message,
                             std::span<const std::uint8_t> payload) {
  const SlotIndex slot = slab_.slot_of(session);
  GraphqlUser& user = graphql_->at(slot);
  if (message.id == user.awaited) {
    user.result_ns = now_ns_;
    if (!message.has_errors) return;
    note_graphql_errors(session, {Phase::request, Cause::result_errors, 0}, payload);
    // Where an event was waited for none will come: the errors are the reply.
    if (std::get<OperateStep>(step_of(session).instruction.step->what).on) operation_replied(session);
    return;
  }
  const std::size_t place = graphql_->place_of(slot, message.id);
  if (place < graphql_->places()) return event_received(session, place, message.has_errors, payload);
  if (!user.has_in_flight(message.id)) return count(session, Counter::late_messages);
  if (message.has_errors) note_graphql_errors(session, {Phase::request, Cause::result_errors, 0}, payload);
}

void Worker::event_received(Session& session, std::size_t place, bool has_errors,
                            std::span<const std::uint8_t> payload) {
  GraphqlSubscription& subscription = graphql_->subscription(slab_.slot_of(session), place);
  count(session, Counter::events);
  if (!subscription.has_events)
    recorder_.time(session.scenario, Time::first_event, now_ns_ - subscription.begun_ns);
  subscription.has_events = true;
  if (has_errors) note_graphql_errors(session, {Phase::open, Cause::result_errors, 0}, payload);
  if (session.state == State::listening) {
    const auto& on = std::get<ListenStep>(step_of(session).instruction.step->what).on;
    if (!on || *on == place) broadcast_received(session, payload, true);
  } else if (session.state == State::awaiting_reply) {
    const auto* operate = std::get_if<OperateStep>(&step_of(session).instruction.step->what);
    if (operate != nullptr && operate->on == place && is_event(session, *operate)) operation_replied(session);
  }
}

// The reader holds the message already.
bool Worker::is_event(Session& session, const OperateStep& step) {
  if (!step.event) return true;
  const std::vector<JsonPointer>& pointers = step_of(session).reply;
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    const auto value = json_.text(pointers[i]);
    if (!value || !is_equal(session, step.event->members[i].value, *value)) return false;
  }
  return true;
}

void Worker::operation_refused(Session& session, std::uint32_t id, std::span<const std::uint8_t> payload) {
  const SlotIndex slot = slab_.slot_of(session);
  GraphqlUser& user = graphql_->at(slot);
  if (id == user.awaited) {
    note_graphql_errors(session, {Phase::request, Cause::operation_refused, 0}, payload);
    user.awaited = 0;
    return replied(session);
  }
  const std::size_t place = graphql_->place_of(slot, id);
  if (place < graphql_->places()) {
    graphql_->subscription(slot, place).id = 0;
    return note_graphql_errors(session, {Phase::open, Cause::operation_refused, 0}, payload);
  }
  if (!user.has_in_flight(id)) return count(session, Counter::late_messages);
  user.forget(id);
  note_graphql_errors(session, {Phase::request, Cause::operation_refused, 0}, payload);
}

void Worker::operation_complete(Session& session, const GraphqlMessage& message,
                                std::span<const std::uint8_t> payload) {
  const SlotIndex slot = slab_.slot_of(session);
  GraphqlUser& user = graphql_->at(slot);
  if (message.has_payload) {
    const SocketToken token = token_of(session);
    const int descriptor = session.fd;
    graphql_fault(session, {Phase::open, Cause::complete_with_payload, 0}, payload);
    if (!still(session, token, descriptor) || !is_open(session.state)) return;
  }
  if (message.id == user.awaited) {
    user.awaited = 0;
    const bool waits_for_event =
        std::get<OperateStep>(step_of(session).instruction.step->what).on.has_value();
    if (waits_for_event) return;
    if (user.result_ns != 0) return replied(session);
    note_failure(session, {Phase::request, Cause::no_result, 0}, sample_of(payload));
    return step_failed(session);
  }
  const std::size_t place = graphql_->place_of(slot, message.id);
  if (place < graphql_->places()) {
    graphql_->subscription(slot, place).id = 0;
    return;
  }
  if (!user.has_in_flight(message.id)) return count(session, Counter::late_messages);
  user.forget(message.id);
}

// The reply has come before its operation was complete.
void Worker::operation_replied(Session& session) {
  GraphqlUser& user = graphql_->at(slab_.slot_of(session));
  if (user.awaited != 0) user.keep(std::exchange(user.awaited, 0));
  replied(session);
}

}  // namespace onrush
