#include "tests/simulation/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "core/feed_shares.h"
#include "core/plan_yaml.h"

namespace onrush::simulation {
namespace {

constexpr std::int64_t kPoll_ns = 20'000'000;
constexpr std::int64_t kLink_ns = 5'000'000;

}  // namespace

struct Simulation::Agent {
  std::vector<SimulatedNetwork*> networks;
  std::unique_ptr<AgentRun> run;
  std::vector<Worker*> workers;
  std::set<std::uint32_t> settled;  ///< reported before: a link that was cut makes agents report again
  std::uint64_t applied = 0;        ///< snapshots
  Counters counters{};
  bool link_cut = false;
};

Simulation::Simulation(const std::string& plan, const Setting& setting)
    : setting_{setting},
      random_{setting.seed, 99},
      world_{setting.seed, setting.faults},
      start_ns_{world_.now_ns() + 500'000'000} {
  PlanText text{"simulated.yaml", plan, {}, "", setting.files};
  auto read = read_plan(source_of(text));
  if (!read) throw std::runtime_error{render("simulated.yaml", read.error())};
  plan_ = std::move(*read);
  if (plan_->targets.front().url.secure) world_.speak_tls();
  stages_ = timeline(*plan_);
  std::vector<PlanFiles> files = deal_files(*plan_, setting.files, setting.agents);
  settled_.resize(stages_.size());
  std::vector<std::string> names;
  for (std::uint32_t a = 0; a < setting.agents; ++a) {
    names.push_back("agent-" + std::to_string(a + 1));
    auto& agent = *agents_.emplace_back(std::make_unique<Agent>());
    Prepare prepare;
    prepare.run = "simulated";
    prepare.plan = text;
    prepare.plan.files = std::move(files[a]);
    prepare.share = {a, setting.agents};
    prepare.source = {{"127.0.0." + std::to_string(a + 2)}, 1024, 65'535};
    AgentSettings settings;
    settings.workers = setting.workers;
    settings.descriptor_limit = setting.descriptor_limit;
    settings.threads = settings.watch_host = false;
    auto run = AgentRun::prepare(prepare, settings,
                                 [&](std::uint32_t) -> Expected<std::unique_ptr<Network>, std::string> {
                                   auto network = std::make_unique<SimulatedNetwork>(world_, 0);
                                   agent.networks.push_back(network.get());
                                   return std::unique_ptr<Network>{std::move(network)};
                                 });
    if (!run) throw std::runtime_error{run.error().front()};
    agent.run = std::move(*run);
    agent.workers = agent.run->workers();
  }
  aggregate_ = std::make_unique<Aggregate>(*plan_, stages_, names);
}

Simulation::~Simulation() = default;

void Simulation::run(std::optional<double> stop_after_s) {
  SCOPED_TRACE("seed " + std::to_string(setting_.seed));
  for (auto& agent : agents_) agent->run->start(start_ns_);
  const std::int64_t stop_ns =
      stop_after_s ? start_ns_ + std::llround(*stop_after_s * 1e9) : std::numeric_limits<std::int64_t>::max();
  bool stopped = false;
  std::int64_t next_poll_ns = world_.now_ns();
  while (!finished() && !::testing::Test::HasFatalFailure()) {
    if (world_.now_ns() >= stop_ns && !std::exchange(stopped, true))
      for (auto& agent : agents_) agent->run->stop();
    if (world_.now_ns() >= next_poll_ns) {
      poll();
      next_poll_ns = world_.now_ns() + kPoll_ns;
    }
    step(stopped ? next_poll_ns : std::min(next_poll_ns, stop_ns));
    check_sockets();
    ASSERT_LT(seconds(), 10'000) << "the run does not end";
  }
  const Worker::Held left = held();
  EXPECT_EQ(
      left.sessions + left.timers + left.unsent + left.partial + left.contexts + left.unsent_bytes + left.tls,
      0U)
      << "something is held after the end";
  EXPECT_EQ(world_.open_sockets(), 0U);
  EXPECT_THAT(aggregate_->broken_identities(), ::testing::IsEmpty());
}

// Turns every worker that has something to do now; if none has, the clock moves to what comes next.
void Simulation::step(std::int64_t limit_ns) {
  bool turned = false;
  std::int64_t next_ns = std::min(limit_ns, world_.next_ns());
  for (auto& agent : agents_)
    for (std::size_t w = 0; w < agent->workers.size(); ++w) {
      if (agent->networks[w]->is_due(world_.now_ns())) {
        agent->workers[w]->turn();
        ++turns_;
        turned = true;
      }
      next_ns = std::min(next_ns, agent->networks[w]->until_ns());
    }
  if (!turned) world_.move_to(next_ns);
}

Worker::Held Simulation::held() const {
  Worker::Held sum{};
  for (const auto& agent : agents_)
    for (const Worker* worker : agent->workers) {
      const Worker::Held held = worker->held();
      sum.sessions += held.sessions;
      sum.timers += held.timers;
      sum.unsent += held.unsent;
      sum.partial += held.partial;
      sum.contexts += held.contexts;
      sum.unsent_bytes += held.unsent_bytes;
      sum.tls += held.tls;
    }
  return sum;
}

// Worker w of agent a has the share a + w * agents (AgentRun).
std::vector<std::vector<std::int64_t>> Simulation::attempts_ns() const {
  std::vector<std::vector<std::int64_t>> attempts(agents_.size() * agents_.front()->workers.size());
  for (std::size_t a = 0; a < agents_.size(); ++a)
    for (std::size_t w = 0; w < agents_[a]->networks.size(); ++w)
      attempts[a + w * agents_.size()] = agents_[a]->networks[w]->connects_ns();
  return attempts;
}

void Simulation::poll() {
  for (std::size_t a = 0; a < agents_.size(); ++a) {
    Agent& agent = *agents_[a];
    if (agent.link_cut) {
      agent.link_cut = false;
      agent.run->resend();
    }
    for (const FromAgent& message : agent.run->poll(world_.now_ns())) {
      if (random_.unit() < setting_.cut_links) agent.link_cut = true;
      if (!agent.link_cut) heard(a, message);
    }
  }
}

void Simulation::heard(std::size_t a, const FromAgent& message) {
  Agent& agent = *agents_[a];
  if (const auto* settled = std::get_if<StageSettled>(&message)) {
    if (!agent.settled.insert(settled->stage).second || ++settled_[settled->stage] != setting_.agents) return;
    const std::int64_t end_ns =
        world_.now_ns() + std::llround(stages_[settled->stage].hold_s * 1e9) + 2 * kLink_ns;
    for (auto& each : agents_) {
      AgentRun* run = each->run.get();
      world_.at(world_.now_ns() + kLink_ns,
                [run, end_ns, stage = settled->stage] { run->end_stage(stage, end_ns); });
    }
    return;
  }
  hear_snapshot(a, std::get<Snapshot>(message));
}

void Simulation::hear_snapshot(std::size_t a, const Snapshot& snapshot) {
  Agent& agent = *agents_[a];
  const auto applied = aggregate_->apply(static_cast<std::uint32_t>(a), snapshot);
  ASSERT_TRUE(applied) << applied.error();
  ASSERT_EQ(applied.value(), snapshot.number == agent.applied + 1);
  if (applied.value()) {
    agent.applied = snapshot.number;
    logged_.insert(logged_.end(), snapshot.log.begin(), snapshot.log.end());
    for (const Cell& cell : snapshot.cells) add(agent.counters, cell.counters);
    check_books(agent, snapshot);
  }
  AgentRun* run = agent.run.get();
  const auto acknowledge = [run, number = snapshot.number] { run->acknowledge(number); };
  if (random_.unit() < setting_.lost_acknowledgements) {
    if (random_.unit() < 0.3) {
      agent.link_cut = true;  // lost: nothing else would make the agent give it again
      return;
    }
    world_.at(world_.now_ns() + random_.between(kLink_ns, 3'000'000'000),
              acknowledge);  // late, behind others
    world_.at(world_.now_ns() + random_.between(kLink_ns, 3'000'000'000), acknowledge);  // twice
    return;
  }
  world_.at(world_.now_ns() + kLink_ns, acknowledge);
}

void Simulation::check_books(const Agent& agent, const Snapshot& snapshot) const {
  const auto of = [&](Counter counter) { return onrush::at(agent.counters, counter); };
  const Gauges& now = snapshot.gauges;
  EXPECT_EQ(of(Counter::attempted), of(Counter::opened) + of(Counter::failed) + now.opening)
      << "in second " << snapshot.second;
  EXPECT_EQ(of(Counter::opened), of(Counter::closed) + now.open + now.closing)
      << "in second " << snapshot.second;
  EXPECT_LE(now.listening, now.open);
}

void Simulation::check_sockets() const {
  std::uint64_t sockets = 0;
  for (const auto& agent : agents_)
    for (const Worker* worker : agent->workers) {
      const Gauges now = worker->gauges();
      sockets += now.opening + now.open + now.closing;
    }
  ASSERT_EQ(world_.open_sockets(), sockets) << "at " << seconds() << " s";
}

bool Simulation::finished() const {
  return std::all_of(agents_.begin(), agents_.end(),
                     [](const auto& agent) { return agent->run->finished(); });
}

const Histogram& samples(const Measured& measured, Time time) {
  static const Histogram none;
  const Histogram* found = measured.find(time);
  return found != nullptr ? *found : none;
}

void expect_all_accounted_for(const Simulation& run) {
  EXPECT_EQ(run.count(Counter::attempted), run.count(Counter::opened) + run.count(Counter::failed));
  EXPECT_EQ(run.count(Counter::opened), run.count(Counter::closed));
}

}  // namespace onrush::simulation
