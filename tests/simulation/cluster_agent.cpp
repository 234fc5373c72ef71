#include "tests/simulation/cluster_agent.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace onrush::simulation {
namespace {

// As agent/control_link.cpp has them.
constexpr std::int64_t kPoll_ns = 20'000'000;
constexpr std::int64_t kProbe_ns = 1'000'000'000;
constexpr int kFastProbes = 8;

}  // namespace

ClusterAgent::ClusterAgent(World& world, const Machine& machine, Send send)
    : world_{world}, machine_{machine}, send_{std::move(send)} {}

void ClusterAgent::attach() { poll(); }

void ClusterAgent::now_or_later(std::function<void()> what) {
  if (!alive_) return;
  if (world_.now_ns() < frozen_until_ns_ || preparing_)
    inbox_.push_back(std::move(what));
  else
    what();
}

void ClusterAgent::thaw() {
  if (world_.now_ns() < frozen_until_ns_ || preparing_) return;
  for (const auto& what : std::exchange(inbox_, {})) now_or_later(what);
}

void ClusterAgent::freeze(std::int64_t until_ns) {
  frozen_until_ns_ = std::max(frozen_until_ns_, until_ns);
  world_.at(frozen_until_ns_, [this] { thaw(); });
}

void ClusterAgent::hear(FromCoordinator message) {
  now_or_later([this, message = std::move(message)] {
    if (linked_) take(message);
  });
}

void ClusterAgent::link_is_back() {
  now_or_later([this] {
    if (run_ && linked_) run_->resend();
  });
}

void ClusterAgent::link_is_gone() {
  now_or_later([this] {
    linked_ = false;
    if (run_ == nullptr) return;
    run_->stop();
    run_->resend();
  });
}

void ClusterAgent::kill() {
  alive_ = false;
  inbox_.clear();
  for (const SimulatedNetwork* network : networks_) world_.close_all_of(*network);
  if (run_) past_.push_back(std::move(run_));
}

bool ClusterAgent::turn(std::int64_t& next_ns) {
  if (!alive_ || run_ == nullptr || world_.now_ns() < frozen_until_ns_) return false;
  bool turned = false;
  const std::vector<Worker*> workers = run_->workers();
  for (std::size_t w = 0; w < workers.size(); ++w) {
    if (workers[w]->done()) continue;
    if (networks_[w]->is_due(world_.now_ns())) {
      workers[w]->turn();
      turned = true;
    }
    next_ns = std::min(next_ns, networks_[w]->until_ns());
  }
  return turned;
}

std::uint64_t ClusterAgent::sockets() const {
  std::uint64_t sockets = 0;
  if (run_ == nullptr) return 0;
  for (const Worker* worker : run_->workers()) {
    const Gauges now = worker->gauges();
    sockets += now.opening + now.open + now.closing;
  }
  return sockets;
}

void ClusterAgent::take(const FromCoordinator& message) {
  if (const auto* reply = std::get_if<ProbeReply>(&message)) return take_probe(*reply);
  if (const auto* wanted = std::get_if<Prepare>(&message)) return prepare(*wanted);
  if (run_ == nullptr) return;
  if (const auto* start = std::get_if<Start>(&message)) {
    started_ns_ = to_local_ns(start->at_ns) - machine_.clock_skew_ns;
    run_->start(to_local_ns(start->at_ns));
  } else if (const auto* end = std::get_if<EndStage>(&message)) {
    run_->end_stage(end->stage, to_local_ns(end->at_ns));
  } else if (std::holds_alternative<Stop>(message)) {
    run_->stop();
  } else if (const auto* received = std::get_if<Acknowledge>(&message)) {
    run_->acknowledge(received->number);
  }
}

// Reading the plan and allocating take a while, in which the link's thread does nothing else.
void ClusterAgent::prepare(const Prepare& message) {
  preparing_ = true;
  world_.at(world_.now_ns() + machine_.prepare_ns, [this, message] { prepared(message); });
}

void ClusterAgent::prepared(const Prepare& message) {
  if (!alive_) return;
  if (world_.now_ns() < frozen_until_ns_)
    return world_.at(frozen_until_ns_, [this, message] { prepared(message); });
  preparing_ = false;
  HostFacts facts;
  facts.set(Fact::memory_reserve, 1'000'000'000);
  const AgentSettings settings{.workers = machine_.workers,
                               .descriptor_limit = machine_.descriptor_limit,
                               .facts = facts,
                               .threads = false,
                               .watch_host = false,
                               .look_at_memory = [this](HostFacts& now) {
                                 const bool gone = world_.now_ns() >= machine_.memory_ends_ns;
                                 now.set(Fact::memory_available, gone ? 900'000'000 : 8'000'000'000);
                               }};
  auto run = AgentRun::prepare(
      message, settings, [this](std::uint32_t) -> Expected<std::unique_ptr<Network>, std::string> {
        auto made = std::make_unique<SimulatedNetwork>(world_, machine_.wall_skew_us, machine_.clock_skew_ns);
        networks_.push_back(made.get());
        return std::unique_ptr<Network>{std::move(made)};
      });
  if (run) run_ = std::move(*run);
  send_(run ? FromAgent{Ready{run_->capacity(), run_->warnings()}} : FromAgent{Refused{run.error()}});
  thaw();
}

void ClusterAgent::take_probe(const ProbeReply& reply) {
  clock_.probe(reply.t1_ns, reply.t2_ns, reply.t3_ns, local_ns());
}

void ClusterAgent::poll() {
  if (!alive_) return;
  world_.at(world_.now_ns() + kPoll_ns, [this] { poll(); });
  if (world_.now_ns() < frozen_until_ns_ || preparing_) return;
  if (!linked_) return close_in_order();
  if (probes_ < kFastProbes || world_.now_ns() - probed_ns_ >= kProbe_ns) {
    probed_ns_ = world_.now_ns();
    ++probes_;
    send_(Probe{local_ns()});
  }
  if (run_ == nullptr) return;
  for (FromAgent& message : run_->poll(local_ns())) send_(std::move(message));
  if (run_->finished()) end_run();
}

void ClusterAgent::close_in_order() {
  if (run_ == nullptr) return;
  std::uint64_t last = 0;
  for (const FromAgent& message : run_->poll(local_ns()))
    if (const auto* snapshot = std::get_if<Snapshot>(&message)) last = snapshot->number;
  run_->acknowledge(last);
  if (run_->finished()) end_run();
}

void ClusterAgent::end_run() {
  for (const Worker* worker : run_->workers()) {
    const Worker::Held held = worker->held();
    EXPECT_EQ(held.sessions + held.timers + held.unsent + held.partial + held.contexts, 0U)
        << "something is held after the end";
  }
  past_.push_back(std::move(run_));
}

std::int64_t ClusterAgent::to_local_ns(std::int64_t coordinator_ns) const {
  const std::optional<ClockEstimate> estimate = clock_.at(local_ns());
  return coordinator_ns - (estimate ? estimate->offset_ns : 0);
}

}  // namespace onrush::simulation
