#include "proto/convert_snapshot.h"

#include <utility>

namespace onrush {
namespace {

template <class Enum>
bool is_within(std::uint32_t value, Enum last) {
  return value <= static_cast<std::uint32_t>(last);
}

void write(const Cell& from, proto::Cell& to) {
  to.set_stage(from.stage);
  to.set_scenario(from.scenario);
  for (const std::uint64_t count : from.counters) to.add_counters(count);
  for (const TimeSamples& samples : from.times) {
    proto::TimeSamples* time = to.add_times();
    time->set_time(static_cast<std::uint32_t>(samples.time));
    time->set_v2(samples.v2);
    time->set_sum_us(samples.exact.sum_us);
    time->set_min_us(samples.exact.min_us);
    time->set_max_us(samples.exact.max_us);
    time->set_above_range(samples.exact.above_range);
  }
  if (from.tries == Tries{}) return;
  for (const std::uint64_t count : from.tries) to.add_tries(count);
}

Expected<Cell, std::string> read(const proto::Cell& from) {
  Cell cell{.stage = from.stage(), .scenario = from.scenario(), .counters = {}, .times = {}, .tries = {}};
  if (static_cast<std::size_t>(from.counters_size()) != kCounters)
    return Unexpected{std::string{"snapshot: not the counters of this version"}};
  for (std::size_t i = 0; i < kCounters; ++i) cell.counters[i] = from.counters(static_cast<int>(i));
  if (from.tries_size() != 0 && static_cast<std::size_t>(from.tries_size()) != kTries)
    return Unexpected{std::string{"snapshot: not the attempts of this version"}};
  for (int i = 0; i < from.tries_size(); ++i) cell.tries[static_cast<std::size_t>(i)] = from.tries(i);
  for (const proto::TimeSamples& time : from.times()) {
    if (time.time() >= kTimes) return Unexpected{std::string{"snapshot: a time of no known kind"}};
    cell.times.push_back({.time = static_cast<Time>(time.time()),
                          .v2 = time.v2(),
                          .exact = {.sum_us = time.sum_us(),
                                    .min_us = time.min_us(),
                                    .max_us = time.max_us(),
                                    .above_range = time.above_range()}});
  }
  return cell;
}

void write(const FailureCount& from, proto::FailureCount& to) {
  to.set_phase(static_cast<std::uint32_t>(from.failure.phase));
  to.set_cause(static_cast<std::uint32_t>(from.failure.cause));
  to.set_detail(from.failure.detail);
  to.set_stage(from.stage);
  to.set_scenario(from.scenario);
  to.set_count(from.count);
  to.set_first_us(from.first_us);
  to.set_last_us(from.last_us);
  to.set_sample(from.sample);
}

Expected<FailureCount, std::string> read(const proto::FailureCount& from) {
  if (!is_within(from.phase(), kLastPhase) || !is_within(from.cause(), Cause::other))
    return Unexpected{std::string{"snapshot: a failure of no known kind"}};
  return FailureCount{.failure = {.phase = static_cast<Phase>(from.phase()),
                                  .cause = static_cast<Cause>(from.cause()),
                                  .detail = from.detail()},
                      .stage = from.stage(),
                      .scenario = from.scenario(),
                      .count = from.count(),
                      .first_us = from.first_us(),
                      .last_us = from.last_us(),
                      .sample = from.sample()};
}

void write(const BroadcastCount& from, proto::BroadcastCount& to) {
  to.set_stage(from.stage);
  to.set_scenario(from.scenario);
  to.set_sequence(from.sequence);
  to.set_batch_us(from.batch_us);
  to.set_expected(from.expected);
  to.set_received(from.received);
  to.set_first_us(from.first_us);
  to.set_last_us(from.last_us);
}

BroadcastCount read(const proto::BroadcastCount& from) {
  return {.stage = from.stage(),
          .scenario = from.scenario(),
          .sequence = from.sequence(),
          .batch_us = from.batch_us(),
          .expected = from.expected(),
          .received = from.received(),
          .first_us = from.first_us(),
          .last_us = from.last_us()};
}

void write(const LogLine& from, proto::LogLine& to) {
  to.set_scenario(from.scenario);
  to.set_user(from.user);
  to.set_at_us(from.at_us);
  to.set_unshown(from.unshown);
  to.set_text(from.text);
}

LogLine read(const proto::LogLine& from) {
  return {.scenario = from.scenario(),
          .user = from.user(),
          .at_us = from.at_us(),
          .unshown = from.unshown(),
          .text = from.text()};
}

void write(const Gauges& from, proto::Gauges& to) {
  to.set_opening(from.opening);
  to.set_open(from.open);
  to.set_closing(from.closing);
  to.set_listening(from.listening);
  to.set_wanted(from.wanted);
}

Gauges read(const proto::Gauges& from) {
  return {.opening = from.opening(),
          .open = from.open(),
          .closing = from.closing(),
          .listening = from.listening(),
          .wanted = from.wanted()};
}

void write(const Health& from, proto::Health& to) {
  to.set_lag_p99_us(from.lag_p99_us);
  to.set_turn_max_us(from.turn_max_us);
  to.set_busiest_worker(from.busiest_worker);
  to.set_cpu_wait(from.cpu_wait);
  to.set_cpu_wait_mean_us(from.cpu_wait_mean_us);
  to.set_cpu_steal(from.cpu_steal);
  to.set_segments_out(from.segments_out);
  to.set_retransmits(from.retransmits);
  to.set_packets_in(from.packets_in);
  to.set_softnet_drops(from.softnet_drops);
  to.set_connects(from.connects);
  to.set_listen_overflows(from.listen_overflows);
  to.set_memory_pressures(from.memory_pressures);
  to.set_memory_bytes(from.memory_bytes);
  to.set_memory_left_bytes(from.memory_left_bytes);
  to.set_memory_reserve_bytes(from.memory_reserve_bytes);
}

Health read(const proto::Health& from) {
  return {.lag_p99_us = from.lag_p99_us(),
          .turn_max_us = from.turn_max_us(),
          .busiest_worker = from.busiest_worker(),
          .cpu_wait = from.cpu_wait(),
          .cpu_wait_mean_us = from.cpu_wait_mean_us(),
          .cpu_steal = from.cpu_steal(),
          .segments_out = from.segments_out(),
          .retransmits = from.retransmits(),
          .packets_in = from.packets_in(),
          .softnet_drops = from.softnet_drops(),
          .connects = from.connects(),
          .listen_overflows = from.listen_overflows(),
          .memory_pressures = from.memory_pressures(),
          .memory_bytes = from.memory_bytes(),
          .memory_left_bytes = from.memory_left_bytes(),
          .memory_reserve_bytes = from.memory_reserve_bytes()};
}

}  // namespace

void write(const Snapshot& from, proto::Snapshot& to) {
  to.set_number(from.number);
  to.set_second(from.second);
  for (const Cell& cell : from.cells) write(cell, *to.add_cells());
  for (const FailureCount& failure : from.failures) write(failure, *to.add_failures());
  for (const BroadcastCount& broadcast : from.broadcasts) write(broadcast, *to.add_broadcasts());
  for (const LogLine& line : from.log) write(line, *to.add_log());
  to.set_trace(from.trace);
  write(from.gauges, *to.mutable_gauges());
  write(from.health, *to.mutable_health());
  to.set_last(from.last);
}

Expected<Snapshot, std::string> read(const proto::Snapshot& from) {
  Snapshot snapshot{.number = from.number(),
                    .second = from.second(),
                    .cells = {},
                    .failures = {},
                    .broadcasts = {},
                    .log = {},
                    .trace = from.trace(),
                    .gauges = read(from.gauges()),
                    .health = read(from.health()),
                    .last = from.last()};
  for (const proto::Cell& wire : from.cells()) {
    Expected<Cell, std::string> cell = read(wire);
    if (!cell) return Unexpected{cell.error()};
    snapshot.cells.push_back(std::move(*cell));
  }
  for (const proto::FailureCount& wire : from.failures()) {
    Expected<FailureCount, std::string> failure = read(wire);
    if (!failure) return Unexpected{failure.error()};
    snapshot.failures.push_back(std::move(*failure));
  }
  for (const proto::BroadcastCount& wire : from.broadcasts()) snapshot.broadcasts.push_back(read(wire));
  for (const proto::LogLine& wire : from.log()) snapshot.log.push_back(read(wire));
  return snapshot;
}

}  // namespace onrush
