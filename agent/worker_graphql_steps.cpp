// The steps of GraphQL: operations begun and ended.
#include <algorithm>
#include <utility>

#include "agent/worker.h"

namespace onrush {

bool Worker::run_graphql(Session& session, const ProgramStep& step, std::int64_t& ready_ns) {
  if (session.unsent != 0) {  // the socket takes no more: goes on here when it does
    set_state(session, State::flushing);
    return false;
  }
  const SlotIndex slot = slab_.slot_of(session);
  GraphqlUser& user = graphql_->at(slot);
  if (const auto* unsubscribe = std::get_if<UnsubscribeStep>(&step.instruction.step->what)) {
    ++session.step;
    return end_subscription(session, unsubscribe->place);
  }
  if (const auto* subscribe = std::get_if<SubscribeStep>(&step.instruction.step->what))
    // One that is on already begins anew.
    if (!end_subscription(session, subscribe->place)) return false;

  const std::int64_t due_ns = step.instruction.paced ? session.repeat_ns[step.due_depth] : ready_ns;
  now_ns_ = network_.now_ns();
  recorder_.time(session.scenario, Time::send_lag, now_ns_ - std::max(due_ns, ready_ns));
  session.times = {due_ns, now_ns_};
  ready_ns = now_ns_;
  ++session.sequence;
  const std::uint32_t id = ++user.last_id;
  if (const auto* subscribe = std::get_if<SubscribeStep>(&step.instruction.step->what)) {
    graphql_->subscription(slot, subscribe->place) = {now_ns_, id, false};
    count(session, Counter::subscriptions);
    ++session.step;
    return send_operation(session, subscribe->payload, id);
  }
  const auto& operate = std::get<OperateStep>(step.instruction.step->what);
  user.awaited = id;
  user.result_ns = 0;
  wait_until(session, State::awaiting_reply, now_ns_ + operate.timeout_ns);
  [[maybe_unused]] const bool alive = send_operation(session, operate.payload, id);
  return false;
}

bool Worker::send_operation(Session& session, const GraphqlPayload& payload, std::uint32_t id) {
  const GraphqlType type = words_of(graphql_->at(slab_.slot_of(session)).protocol).subscribe;
  std::string& message = graphql_->message;
  message.clear();
  begin_graphql_operation(type, id, message);
  payload.json.render(values_of(session), graphql_->scratch, message);
  message += '}';
  return send_graphql(session);
}

bool Worker::end_subscription(Session& session, std::size_t place) {
  const SlotIndex slot = slab_.slot_of(session);
  const std::uint32_t id = std::exchange(graphql_->subscription(slot, place).id, 0u);
  return id == 0 || send_graphql(session, words_of(graphql_->at(slot).protocol).complete, id);
}

// The reply's time is over: the server need not go on with it. False if the connection has ended over that.
bool Worker::give_up_operation(Session& session) {
  GraphqlUser& user = graphql_->at(slab_.slot_of(session));
  const std::uint32_t id = std::exchange(user.awaited, 0u);
  return id == 0 || send_graphql(session, words_of(user.protocol).complete, id);
}

// The legacy protocol says so before it closes. False if the connection has ended over it.
bool Worker::say_goodbye(Session& session) {
  const GraphqlUser& user = graphql_->at(slab_.slot_of(session));
  if (user.protocol != Subprotocol::graphql_ws) return true;
  return send_graphql(session, GraphqlType::connection_terminate, 0);
}

}  // namespace onrush
