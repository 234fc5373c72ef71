#include "tests/simulation/cluster.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "core/plan_yaml.h"

namespace onrush::simulation {
namespace {

constexpr std::int64_t kTick_ns = 50'000'000;
constexpr std::int64_t kSecond = 1'000'000'000;
// The agents are attached this long before a plan is submitted.
constexpr std::int64_t kAttached_ns = 400'000'000;

std::int64_t to_ns(double seconds) { return std::llround(seconds * 1e9); }

// Without the link's repair these are gone with it; everything else is kept by the sender until it is
// through.
bool can_be_lost(const FromAgent& m) {
  return std::holds_alternative<Snapshot>(m) || std::holds_alternative<StageSettled>(m) ||
         std::holds_alternative<Probe>(m);
}
bool can_be_lost(const FromCoordinator& m) {
  return std::holds_alternative<Acknowledge>(m) || std::holds_alternative<ProbeReply>(m);
}

}  // namespace

std::string describe(const Misfortune& m) {
  static constexpr const char* kNames[] = {"kill",  "vanish", "freeze", "cut",
                                           "pause", "stall",  "stop",   "stop at once"};
  return fmt::format("{} of agent {} at {:.3f} s for {:.3f} s", kNames[static_cast<std::size_t>(m.kind)],
                     m.agent + 1, m.at_s, m.for_s);
}

Cluster::Cluster(const std::string& plan, ClusterSetting setting)
    : setting_{std::move(setting)}, random_{setting_.seed, 7}, world_{setting_.seed, setting_.faults} {
  const PlanText text{"simulated.yaml", plan, {}, ""};
  auto read = read_plan(source_of(text));
  if (!read) throw std::runtime_error{render(text.file, read.error())};
  for (const StageTimeline& stage : timeline(*read)) bound_s_ += stage.length_s + stage.hold_s;
  for (const Misfortune& m : setting_.misfortunes) bound_s_ += m.for_s;
  std::vector<RunAgent> members;
  links_.resize(setting_.machines.size());
  for (std::uint32_t a = 0; a < setting_.machines.size(); ++a) {
    members.push_back(
        {"agent-" + std::to_string(a + 1), {{"127.0.0." + std::to_string(a + 2)}, 1024, 65'535}});
    agents_.push_back(std::make_unique<ClusterAgent>(
        world_, setting_.machines[a], [this, a](const FromAgent& message) { from_agent(a, message); }));
  }
  run_.emplace("simulated", std::move(*read), text, std::move(members));
}

void Cluster::play() {
  for (const auto& agent : agents_) agent->attach();
  begun_ns_ = world_.now_ns() + kAttached_ns;
  world_.at(begun_ns_, [this] { begin(); });
  world_.at(begun_ns_ + random_.between(0, kTick_ns), [this] { tick(); });
  for (const Misfortune& m : setting_.misfortunes)
    world_.at(begun_ns_ + to_ns(m.at_s), [this, m] { happen(m); });
  std::int64_t check_ns = 0;
  std::int64_t books_ns = 0;
  while (!over() && !::testing::Test::HasFailure()) {
    step();
    if (world_.now_ns() >= check_ns) {
      check_sockets();
      check_ns = world_.now_ns() + kTick_ns;
    }
    if (world_.now_ns() >= books_ns) {
      check_books();
      books_ns = world_.now_ns() + kSecond;
    }
    // Everything that a run may wait for has a deadline; all together they are less than this.
    ASSERT_LT(seconds(), bound_s_ + 60) << "the run does not end; it is " << name(run_->state());
  }
  if (::testing::Test::HasFailure()) return;
  check_books();
  check_sockets();
  EXPECT_EQ(world_.open_sockets(), 0U);
}

void Cluster::begin() {
  coordinator_does([this] { run_->begin(coordinator_ns()); });
}

void Cluster::step() {
  bool turned = false;
  std::int64_t next_ns = world_.next_ns();
  for (const auto& agent : agents_) turned |= agent->turn(next_ns);
  if (!turned) world_.move_to(next_ns);
}

bool Cluster::over() const {
  return run_->state() == RunState::finished &&
         std::all_of(agents_.begin(), agents_.end(), [](const auto& a) { return a->is_idle(); });
}

void Cluster::happen(const Misfortune& m) {
  using Kind = Misfortune::Kind;
  const std::int64_t until_ns = world_.now_ns() + to_ns(m.for_s);
  switch (m.kind) {
    case Kind::kill: agents_[m.agent]->kill(); return break_stream(m.agent);
    case Kind::vanish: return agents_[m.agent]->kill();
    case Kind::freeze: return agents_[m.agent]->freeze(until_ns);
    case Kind::cut: return cut(m.agent, m.for_s);
    case Kind::pause:
      paused_until_ns_ = std::max(paused_until_ns_, until_ns);
      return world_.at(until_ns, [this] { resume(); });
    case Kind::stall: return world_.freeze(world_.now_ns(), until_ns);
    case Kind::stop:
    case Kind::stop_at_once:
      return coordinator_does([this, at_once = m.kind == Kind::stop_at_once] {
        run_->interrupt("Ctrl-C", at_once, coordinator_ns());
      });
  }
}

void Cluster::cut(std::uint32_t agent, double for_s) {
  Link& link = links_[agent];
  ++link.epoch;
  link.down_until_ns = std::max(link.down_until_ns, world_.now_ns() + to_ns(for_s));
  world_.at(link.down_until_ns, [this, agent] { agents_[agent]->link_is_back(); });
}

std::int64_t Cluster::way_ns() {
  if (random_.unit() < setting_.slow) return random_.between(0, 500'000'000);
  return random_.between(50'000, setting_.longest_way_ns);
}

void Cluster::from_agent(std::uint32_t agent, const FromAgent& message) {
  Link& link = links_[agent];
  if (link.gone) return;
  const bool fragile = can_be_lost(message);
  if (fragile && world_.now_ns() < link.down_until_ns) return;
  const std::int64_t leaves_ns = std::max(world_.now_ns(), link.down_until_ns);
  link.last_up_ns = std::max(link.last_up_ns + 1, leaves_ns + way_ns());
  const auto arrives = [this, agent, message, fragile, epoch = link.epoch] {
    if (!links_[agent].gone && (!fragile || links_[agent].epoch == epoch)) arrive(agent, message);
  };
  world_.at(link.last_up_ns, arrives);
  if (std::holds_alternative<Snapshot>(message) && random_.unit() < setting_.doubled)
    world_.at(link.last_up_ns + random_.between(1, 3 * kSecond), arrives);
}

void Cluster::arrive(std::uint32_t agent, const FromAgent& message) {
  coordinator_does([this, agent, message] {
    if (const auto* probe = std::get_if<Probe>(&message))
      to_agent(agent, ProbeReply{probe->t1_ns, coordinator_ns(), coordinator_ns()});
    // The coordinator keeps a finished run for its figures only, as coordinator/run_control does.
    if (run_->state() != RunState::finished)
      run_->received(agent, message, coordinator_ns());
    else if (const auto* snapshot = std::get_if<Snapshot>(&message))
      to_agent(agent, Acknowledge{snapshot->number});
  });
}

void Cluster::to_agent(std::uint32_t agent, FromCoordinator message) {
  Link& link = links_[agent];
  if (link.gone) return;
  const bool fragile = can_be_lost(message);
  if (fragile && world_.now_ns() < link.down_until_ns) return;
  if (std::holds_alternative<Acknowledge>(message) && random_.unit() < setting_.lost_acknowledgements) {
    world_.at(world_.now_ns() + random_.between(1, kSecond), [this, agent] { cut(agent, 0); });
    return;
  }
  const std::int64_t leaves_ns = std::max(world_.now_ns(), link.down_until_ns);
  link.last_down_ns = std::max(link.last_down_ns + 1, leaves_ns + way_ns());
  world_.at(link.last_down_ns, [this, agent, message = std::move(message), fragile, epoch = link.epoch] {
    if (!fragile || links_[agent].epoch == epoch) agents_[agent]->hear(message);
  });
}

// What the agent had sent before still arrives.
void Cluster::break_stream(std::uint32_t agent) {
  Link& link = links_[agent];
  link.last_up_ns = std::max(link.last_up_ns + 1, world_.now_ns() + way_ns());
  world_.at(link.last_up_ns, [this, agent] {
    if (std::exchange(links_[agent].gone, true)) return;
    coordinator_does([this, agent] {
      if (run_->state() != RunState::finished) run_->disconnected(agent, coordinator_ns());
    });
  });
}

void Cluster::coordinator_does(std::function<void()> what) {
  if (world_.now_ns() < paused_until_ns_) {
    inbox_.push_back(std::move(what));
    return;
  }
  what();
  deliver();
}

// Which of its duties a process comes to first when it goes on is chance.
void Cluster::resume() {
  if (world_.now_ns() < paused_until_ns_) return;
  if (random_.unit() < 0.5) run_->tick(coordinator_ns());
  for (const auto& what : std::exchange(inbox_, {})) coordinator_does(what);
}

void Cluster::tick() {
  world_.at(world_.now_ns() + kTick_ns, [this] { tick(); });
  if (world_.now_ns() < paused_until_ns_ || world_.now_ns() < begun_ns_) return;
  run_->tick(coordinator_ns());
  deliver();
}

void Cluster::deliver() {
  for (Run::Outgoing& outgoing : run_->take_outgoing()) {
    check_order(outgoing.agent, outgoing.message);
    to_agent(outgoing.agent, std::move(outgoing.message));
  }
  for (const std::uint32_t agent : run_->take_given_up()) {
    given_up_s_.emplace(agent, seconds());
    // Behind what was sent to it before.
    links_[agent].last_down_ns = std::max(links_[agent].last_down_ns + 1, world_.now_ns() + way_ns());
    world_.at(links_[agent].last_down_ns, [this, agent] { agents_[agent]->link_is_gone(); });
    links_[agent].gone = true;
  }
  for (std::string& line : run_->take_log()) log_.push_back(std::move(line));
  if (run_->state() == RunState::finished && finished_s_ == 0) finished_s_ = seconds();
}

void Cluster::check_order(std::uint32_t agent, const FromCoordinator& message) {
  EXPECT_EQ(given_up_s_.count(agent), 0U) << "agent " << agent + 1 << " was given up and is spoken to";
  if (const auto* start = std::get_if<Start>(&message)) starts_ns_.insert(start->at_ns);
  EXPECT_LE(starts_ns_.size(), 1U) << "agents start at different instants";
  if (const auto* end = std::get_if<EndStage>(&message)) {
    EXPECT_EQ(stage_ends_ns_.emplace(end->stage, end->at_ns).first->second, end->at_ns)
        << "stage " << end->stage << " ends at different instants";
  }
}

void Cluster::check_books() {
  EXPECT_THAT(aggregate().broken_identities(), ::testing::IsEmpty()) << "at " << seconds() << " s";
}

void Cluster::check_sockets() const {
  std::uint64_t sockets = 0;
  for (const auto& agent : agents_) sockets += agent->sockets();
  EXPECT_EQ(world_.open_sockets(), sockets) << "at " << seconds() << " s";
}

}  // namespace onrush::simulation
