// Builds what agents would have sent, so that tests of the aggregate and the reports tell their story in a
// few lines.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/aggregate.h"
#include "core/plan_yaml.h"
#include "core/timeline.h"

namespace onrush {

inline Plan plan_of(const std::string& yaml) {
  Expected<Plan, std::vector<Diagnostic>> plan =
      read_plan({.file = "test.yaml", .yaml = yaml, .settings = {}, .target = ""});
  if (!plan) throw std::runtime_error(render("test.yaml", plan.error()));
  return std::move(*plan);
}

/// One second of one agent in the making; numbers are given by TestRun.
class Second {
 public:
  explicit Second(std::uint32_t second) { snapshot_.second = second; }

  Second& count(std::uint32_t stage, std::uint32_t scenario, Counter counter, std::uint64_t count) {
    at(cell(stage, scenario).counters, counter) += count;
    return *this;
  }
  Second& sample(std::uint32_t stage, std::uint32_t scenario, Time time, std::int64_t value_us,
                 std::uint64_t count = 1) {
    cell(stage, scenario);
    samples_[{stage, scenario}][time].record_many(value_us, count);
    return *this;
  }
  /// Attempts that opened, each with these times.
  Second& opened(std::uint32_t stage, std::uint32_t scenario, std::uint64_t count,
                 std::int64_t handshake_us = 300) {
    return this->count(stage, scenario, Counter::attempted, count)
        .count(stage, scenario, Counter::opened, count)
        .sample(stage, scenario, Time::handshake, handshake_us, count);
  }
  Second& closed(std::uint32_t stage, std::uint32_t scenario, std::uint64_t count,
                 std::int64_t session_us = 5'000'000) {
    return this->count(stage, scenario, Counter::closed, count)
        .sample(stage, scenario, Time::session, session_us, count);
  }
  Second& failed(std::uint32_t stage, std::uint32_t scenario, const Failure& failure, std::uint64_t count,
                 const std::string& sample = "") {
    const std::int64_t at_us = std::int64_t{snapshot_.second} * 1'000'000;
    snapshot_.failures.push_back({failure, stage, scenario, count, at_us, at_us + 500'000, sample});
    return this->count(stage, scenario, Counter::attempted, count)
        .count(stage, scenario, Counter::failed, count)
        .count(stage, scenario, Counter::own_failed, is_own_limit(failure) ? count : 0)
        .count(stage, scenario, Counter::cancelled, failure.cause == Cause::cancelled ? count : 0);
  }
  /// One that ends no attempt.
  Second& failure(std::uint32_t stage, std::uint32_t scenario, const Failure& failure, std::uint64_t count) {
    const std::int64_t at_us = std::int64_t{snapshot_.second} * 1'000'000;
    snapshot_.failures.push_back({failure, stage, scenario, count, at_us, at_us + 500'000, ""});
    return *this;
  }
  /// `spread_us`: from the first to the last first copy here.
  Second& broadcast(std::uint32_t stage, std::uint32_t scenario, std::uint64_t sequence,
                    std::uint64_t expected, std::uint64_t received, std::int64_t first_us = 1'000,
                    std::int64_t spread_us = 0) {
    snapshot_.broadcasts.push_back(
        {stage, scenario, sequence, 900, expected, received, first_us, first_us + spread_us});
    return count(stage, scenario, Counter::delivered, received);
  }
  Second& open(std::uint64_t open) { return snapshot_.gauges.open = open, *this; }
  Second& opening(std::uint64_t opening) { return snapshot_.gauges.opening = opening, *this; }
  Second& listening(std::uint64_t listening) { return snapshot_.gauges.listening = listening, *this; }
  Second& health(const Health& health) { return snapshot_.health = health, *this; }
  Second& last() { return snapshot_.last = true, *this; }

  [[nodiscard]] Snapshot numbered(std::uint64_t number) const {
    Snapshot made = snapshot_;
    made.number = number;
    for (Cell& cell : made.cells) {
      const auto found = samples_.find({cell.stage, cell.scenario});
      if (found == samples_.end()) continue;
      for (const auto& [time, histogram] : found->second)
        cell.times.push_back({time, histogram.encode(), histogram.exact()});
    }
    return made;
  }

 private:
  Cell& cell(std::uint32_t stage, std::uint32_t scenario) {
    for (Cell& known : snapshot_.cells)
      if (known.stage == stage && known.scenario == scenario) return known;
    return snapshot_.cells.emplace_back(Cell{stage, scenario, {}, {}});
  }

  Snapshot snapshot_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::map<Time, Histogram>> samples_;
};

/// An aggregate that is fed snapshots in the order in which each agent sends them.
class TestRun {
 public:
  TestRun(const std::string& yaml, const std::vector<std::string>& agents)
      : plan{plan_of(yaml)}, aggregate{plan, timeline(plan), agents}, sent_(agents.size()) {}

  void send(std::uint32_t agent, const Second& second) {
    const auto applied = aggregate.apply(agent, second.numbered(++sent_[agent]));
    ASSERT_TRUE(applied) << applied.error();
    ASSERT_TRUE(*applied);
  }
  void stages(std::initializer_list<std::int64_t> begins_s) {
    std::uint32_t stage = 0;
    for (const std::int64_t at_s : begins_s) {
      if (stage > 0) aggregate.stage_ended(stage - 1, at_s * 1'000'000);
      if (stage < plan.stages.size()) aggregate.stage_began(stage, at_s * 1'000'000);
      ++stage;
    }
  }

  Plan plan;
  Aggregate aggregate;

 private:
  std::vector<std::uint64_t> sent_;
};

}  // namespace onrush
