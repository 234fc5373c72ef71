#include "proto/convert.h"

namespace onrush {

proto::Live to_proto(const Live& live) {
  proto::Live to;
  to.set_run(live.run);
  to.set_plan(live.plan);
  to.set_state(live.state);
  to.set_stage(live.stage);
  to.set_elapsed_us(live.elapsed_us);
  to.set_stage_progress(live.stage_progress);
  to.set_wanted(live.wanted);
  to.set_open(live.open);
  to.set_opening(live.opening);
  to.set_failed(live.failed);
  to.set_lost(live.lost);
  to.set_arrivals(live.arrivals);
  to.set_dropped_arrivals(live.dropped_arrivals);
  to.set_connect_rate(live.connect_rate);
  to.set_asked_rate(live.asked_rate);
  to.set_receive_rate(live.receive_rate);
  to.set_send_rate(live.send_rate);
  to.set_handshakes(live.handshakes);
  to.set_handshake_p50_us(live.handshake_p50_us);
  to.set_handshake_p99_us(live.handshake_p99_us);
  to.set_handshake_max_us(live.handshake_max_us);
  to.set_round_trips(live.round_trips);
  to.set_round_trip_p50_us(live.round_trip_p50_us);
  to.set_round_trip_p99_us(live.round_trip_p99_us);
  to.set_round_trip_max_us(live.round_trip_max_us);
  to.set_delivered(live.delivered);
  to.set_expected(live.expected);
  to.set_agents_alive(live.agents_alive);
  to.set_agents(live.agents);
  to.set_lag_p99_us(live.lag_p99_us);
  to.set_busiest_agent(live.busiest_agent);
  to.set_busiest_worker(live.busiest_worker);
  to.set_suspect_seconds(live.suspect_seconds);
  to.set_cut_off(live.cut_off);
  to.set_back(live.back);
  to.set_back_p50_us(live.back_p50_us);
  to.set_back_p99_us(live.back_p99_us);
  if (live.left_us) to.set_left_us(*live.left_us);
  for (const std::string& stage : live.stages) to.add_stages(stage);
  for (const LiveObserved& from : live.observed) {
    proto::LiveObserved* observed = to.add_observed();
    observed->set_name(from.name);
    observed->set_cpu_cores(from.cpu_cores);
    observed->set_memory_bytes(from.memory_bytes);
  }
  for (const LiveFailure& from : live.failures) {
    proto::LiveFailure* failure = to.add_failures();
    failure->set_phase(from.phase);
    failure->set_cause(from.cause);
    failure->set_count(from.count);
    failure->set_ours(from.ours);
  }
  return to;
}

Live from_proto(const proto::Live& from) {
  Live live;
  live.run = from.run();
  live.plan = from.plan();
  live.state = from.state();
  live.stage = from.stage();
  live.elapsed_us = from.elapsed_us();
  live.stage_progress = from.stage_progress();
  live.wanted = from.wanted();
  live.open = from.open();
  live.opening = from.opening();
  live.failed = from.failed();
  live.lost = from.lost();
  live.arrivals = from.arrivals();
  live.dropped_arrivals = from.dropped_arrivals();
  live.connect_rate = from.connect_rate();
  live.asked_rate = from.asked_rate();
  live.receive_rate = from.receive_rate();
  live.send_rate = from.send_rate();
  live.handshakes = from.handshakes();
  live.handshake_p50_us = from.handshake_p50_us();
  live.handshake_p99_us = from.handshake_p99_us();
  live.handshake_max_us = from.handshake_max_us();
  live.round_trips = from.round_trips();
  live.round_trip_p50_us = from.round_trip_p50_us();
  live.round_trip_p99_us = from.round_trip_p99_us();
  live.round_trip_max_us = from.round_trip_max_us();
  live.delivered = from.delivered();
  live.expected = from.expected();
  live.agents_alive = from.agents_alive();
  live.agents = from.agents();
  live.lag_p99_us = from.lag_p99_us();
  live.busiest_agent = from.busiest_agent();
  live.busiest_worker = from.busiest_worker();
  live.suspect_seconds = from.suspect_seconds();
  live.cut_off = from.cut_off();
  live.back = from.back();
  live.back_p50_us = from.back_p50_us();
  live.back_p99_us = from.back_p99_us();
  if (from.has_left_us()) live.left_us = from.left_us();
  live.stages.assign(from.stages().begin(), from.stages().end());
  for (const proto::LiveObserved& observed : from.observed())
    live.observed.push_back({observed.name(), observed.cpu_cores(), observed.memory_bytes()});
  for (const proto::LiveFailure& failure : from.failures())
    live.failures.push_back({failure.phase(), failure.cause(), failure.count(), failure.ours()});
  return live;
}

}  // namespace onrush
