// A whole run of one agent over the kernel's own network, in this process: what the coordinator would do is
// done by hand.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include "agent/agent_run.h"
#include "agent/epoll_network.h"
#include "core/aggregate.h"
#include "core/plan_yaml.h"
#include "core/timeline.h"

namespace onrush {

inline Prepare prepare_run(const std::string& plan) {
  Prepare prepare;
  prepare.run = "loopback";
  prepare.plan = {"loopback.yaml", plan, {}, ""};
  prepare.source = {{"127.0.0.77"}, 20'000, 29'999};
  return prepare;
}

inline NetworkFactory epoll_networks() {
  return [](std::uint32_t) { return EpollNetwork::make(); };
}

inline std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

inline Aggregate run_to_the_end(const Prepare& prepare, std::uint32_t workers) {
  auto plan = read_plan(source_of(prepare.plan));
  EXPECT_TRUE(plan) << (plan ? "" : render("loopback.yaml", plan.error()));
  const std::vector<StageTimeline> stages = timeline(*plan);
  Aggregate aggregate{*plan, stages, {"here"}};
  AgentSettings settings;
  settings.workers = workers;
  settings.descriptor_limit = 1000;
  auto run = AgentRun::prepare(prepare, settings, epoll_networks());
  if (!run) throw std::runtime_error{run.error().front()};
  (*run)->start(now_ns() + 20'000'000);
  while (!(*run)->finished()) {
    for (const FromAgent& message : (*run)->poll(now_ns())) {
      if (const auto* settled = std::get_if<StageSettled>(&message)) {
        const auto hold_ns = static_cast<std::int64_t>(stages[settled->stage].hold_s * 1e9);
        (*run)->end_stage(settled->stage, now_ns() + hold_ns + 10'000'000);
      } else {
        const auto& snapshot = std::get<Snapshot>(message);
        const auto applied = aggregate.apply(0, snapshot);
        EXPECT_TRUE(applied) << applied.error();
        (*run)->acknowledge(snapshot.number);
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  return aggregate;
}

/// `files`: that the plan names.
inline Aggregate run_to_the_end(const std::string& yaml, std::uint32_t workers, PlanFiles files = {}) {
  Prepare prepare = prepare_run(yaml);
  prepare.plan.files = std::move(files);
  return run_to_the_end(prepare, workers);
}

}  // namespace onrush
