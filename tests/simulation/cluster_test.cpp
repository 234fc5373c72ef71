// Stories of whole clusters in virtual time. The first test makes up a story a seed; a failure prints the
// seed and its story, and ONRUSH_SEED=n plays that one alone (ONRUSH_SEEDS=n: so many instead of the usual).
#include "tests/simulation/cluster.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "core/plan_yaml.h"
#include "core/verdict.h"

namespace onrush::simulation {
namespace {

using Kind = Misfortune::Kind;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kSeeds = 160;

// Users that stay: every one of them is attempted once.
constexpr const char* kUsers = R"(
name: users
target: ws://127.0.0.1:80/echo
scenarios:
  pinger: {script: [connect: {timeout: 2s}, repeat: {every: 200ms, do: [{request: {text: "${user} ${sequence}", reply: {text: "${user} ${sequence}"}, timeout: 2s}}]}]}
  idler: {script: [connect: {timeout: 2s}, listen: {}]}
stages:
  - {name: setup, users: {pinger: 20, idler: 11}, rate: 40/s, for: 700ms}
  - {name: more, users: {pinger: 30}, rate: 20/s}
  - {name: same, users: {idler: 12}, rate: 100/s}
  - {name: hold, for: 1500ms}
  - {name: down, users: {pinger: 3, idler: 0}, rate: 100/s, for: 300ms}
)";
constexpr std::uint64_t kUsersAttempts = 20 + 11 + 10 + 1;

constexpr const char* kArrivals = R"(
name: arrivals
target: ws://127.0.0.1:80/echo
scenarios:
  visitor: {weight: 3, script: [connect: {timeout: 2s}, {request: {text: "ping ${sequence}", reply: {text: "ping ${sequence}"}, timeout: 1s}}, {think: 300ms}, {close: {code: 1000}}]}
  heavy: {weight: 1, script: [connect: {timeout: 2s}, {request: {bytes: 1024, reply: any, timeout: 1s}}, {think: 100ms}, drop]}
stages:
  - {name: warm, arrivals: 40/s, over: 2s}
  - {name: steady, for: 1700ms}
  - {name: spike, arrivals: 90/s, over: 1s, for: 500ms}
  - {name: drain, arrivals: 0/s}
)";
constexpr double kArrivalsIntegral = 40 * 2 / 2.0 + 40 * 1.7 + (40 + 90) / 2.0 + 90 * 0.5;

constexpr const char* kBroadcasts = R"(
name: broadcasts
target: ws://127.0.0.1:80/broadcast
scenarios:
  listener: {script: [connect: {timeout: 2s}, {listen: {sequence: /seq, batch_sent: /batch_us, sent: /sent_us}}]}
  publisher: {script: [connect: {timeout: 2s}, {repeat: {every: 150ms, do: [{send: {text: broadcast}}]}}]}
stages:
  - {name: setup, users: {listener: 40}, rate: 50/s, for: 500ms}
  - {name: publish, users: {publisher: 1}, over: 10ms, for: 3s}
  - {name: silence, users: {publisher: 0}, rate: 10/s, for: 500ms}
  - {name: down, users: {listener: 0}, rate: 200/s}
)";
constexpr std::uint64_t kBroadcastsAttempts = 41;

/// What a seed makes up.
struct Story {
  std::string plan;
  ClusterSetting setting;
  bool target_is_well = true;
  bool may_lose_agents = false;  ///< somebody dies, or is silent for so long that it counts as dead
  bool is_stopped = false;

  [[nodiscard]] std::string text() const {
    std::string text =
        fmt::format("{} agents, plan {}", setting.machines.size(), plan.substr(7, plan.find("target") - 8));
    for (const Misfortune& m : setting.misfortunes) text += "\n  " + describe(m);
    for (std::size_t a = 0; a < setting.machines.size(); ++a)
      text += fmt::format("\n  agent {}: clock {:+} ns, wall clock {:+} us, prepares in {} ms, {} workers",
                          a + 1, setting.machines[a].clock_skew_ns, setting.machines[a].wall_skew_us,
                          setting.machines[a].prepare_ns / 1'000'000, setting.machines[a].workers);
    return text + fmt::format("\n  on the link: slow {:.2f}, doubled {:.2f}, acknowledgements lost {:.2f}",
                              setting.slow, setting.doubled, setting.lost_acknowledgements);
  }
};

void add_machines(Story& story, Random& random) {
  story.setting.machines.resize(static_cast<std::size_t>(random.between(1, 5)));
  story.setting.coordinator_skew_ns = random.between(0, 1'000'000'000'000);
  for (Machine& machine : story.setting.machines) {
    machine.workers = static_cast<std::uint32_t>(random.between(1, 2));
    machine.clock_skew_ns = random.between(0, 1'000'000'000'000);
    machine.wall_skew_us = random.between(-90'000'000, 90'000'000);
    machine.prepare_ns =
        random.unit() < 0.1 ? random.between(0, 8'000'000'000) : random.between(0, 200'000'000);
  }
  if (random.unit() < 0.04) {
    story.setting.machines.back().descriptor_limit = 10;  // it refuses
    story.is_stopped = true;
  }
}

void add_misfortune(Story& story, Random& random) {
  Misfortune m{Kind::freeze, random.unit() * 7, 0.1 + random.unit() * 1.2, 0};
  m.agent = static_cast<std::uint32_t>(
      random.between(0, static_cast<std::int64_t>(story.setting.machines.size()) - 1));
  const double kind = random.unit();
  if (kind < 0.15) {
    m.kind = random.unit() < 0.6 ? Kind::kill : Kind::vanish;
    story.may_lose_agents = true;
  } else if (kind < 0.35) {
    if (random.unit() < 0.5) {
      m.for_s = 0.5 + random.unit() * 14.5;
      story.may_lose_agents = true;
    }
  } else if (kind < 0.6) {
    m.kind = Kind::cut;
    if (random.unit() < 0.2) {
      m.for_s = 1.5 + random.unit() * 12;
      story.may_lose_agents = true;
    }
  } else if (kind < 0.8) {
    m.kind = Kind::pause;
    m.for_s = random.unit() * (random.unit() < 0.5 ? 1 : 15);
  } else if (kind < 0.9) {
    m.kind = Kind::stall;
    story.target_is_well = false;
  } else {
    m.kind = random.unit() < 0.7 ? Kind::stop : Kind::stop_at_once;
    story.is_stopped = true;
  }
  story.setting.misfortunes.push_back(m);
}

Story make_up(std::uint64_t seed) {
  Random random{seed, 11};
  Story story;
  const char* const plans[] = {kUsers, kArrivals, kBroadcasts};
  story.plan = plans[random.between(0, 2)];
  if (random.unit() < 0.4) story.plan += "on_agent_loss: abort\n";
  story.setting.seed = seed;
  add_machines(story, random);
  if (random.unit() < 0.3) {
    story.target_is_well = false;
    story.setting.faults = kEveryFault;
  }
  if (random.unit() < 0.5) story.setting.slow = 0.05;
  if (random.unit() < 0.5) story.setting.doubled = 0.3;
  if (random.unit() < 0.5) story.setting.lost_acknowledgements = 0.2;
  for (std::int64_t i = random.between(0, 3); i > 0; --i) add_misfortune(story, random);
  return story;
}

/// The stages follow each other without a gap, and each that has begun is over.
void expect_whole_timeline(const Cluster& cluster, bool to_the_end) {
  const std::vector<StageSpan>& spans = cluster.aggregate().spans();
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (to_the_end) {
      EXPECT_TRUE(spans[i].began_us) << "stage " << i;
    }
    EXPECT_EQ(spans[i].began_us.has_value(), spans[i].ended_us.has_value()) << "stage " << i;
    if (i > 0 && spans[i].began_us) {
      EXPECT_EQ(spans[i].began_us, spans[i - 1].ended_us) << "stage " << i;
    }
  }
}

/// Everybody was there to the end: the figures are the plan's and the target's.
void expect_exact(const Cluster& cluster, World& world, const Story& story) {
  expect_whole_timeline(cluster, true);
  if (story.plan.find("name: arrivals") != std::string::npos) {
    EXPECT_NEAR(static_cast<double>(cluster.count(Counter::arrivals)), kArrivalsIntegral, 1);
  } else if (story.plan.find("name: users\ntarget") != std::string::npos && story.target_is_well) {
    EXPECT_EQ(cluster.count(Counter::attempted), kUsersAttempts);
  } else if (story.target_is_well) {
    EXPECT_EQ(cluster.count(Counter::attempted), kBroadcastsAttempts);
  }
  if (!story.target_is_well) return;
  EXPECT_EQ(cluster.count(Counter::opened), world.handshakes());
  EXPECT_EQ(cluster.count(Counter::messages_sent), world.messages_in());
  EXPECT_EQ(cluster.count(Counter::failed), 0U);
}

void expect_right_verdict(const Cluster& cluster, const Story& story) {
  const RunEvents& events = cluster.run().events();
  const Decision decision = decide(events, cluster.aggregate());
  EXPECT_NE(decision.verdict, Verdict::internal_error) << testing::PrintToString(decision.reasons);
  if (!events.refused.empty()) {
    EXPECT_EQ(cluster.count(Counter::attempted), 0U);
  }
  if (!story.may_lose_agents) {
    EXPECT_THAT(events.lost_agents, IsEmpty());
  }
  if (!story.may_lose_agents && !story.is_stopped) {
    EXPECT_THAT(events.refused, IsEmpty());
  }
  if (events.lost_agents.empty() || events.interrupted) return;
  EXPECT_TRUE(decision.verdict == Verdict::degraded || decision.verdict == Verdict::aborted ||
              decision.verdict == Verdict::invalid)
      << name(decision.verdict);
}

void play(std::uint64_t seed) {
  Story story = make_up(seed);
  SCOPED_TRACE(fmt::format("ONRUSH_SEED={}: {}", seed, story.text()));
  Cluster cluster{story.plan, story.setting};
  cluster.play();
  if (testing::Test::HasFailure()) return;
  const RunEvents& events = cluster.run().events();
  expect_right_verdict(cluster, story);
  const bool whole =
      events.lost_agents.empty() && !events.interrupted && !events.aborted && events.refused.empty();
  if (whole)
    expect_exact(cluster, cluster.world(), story);
  else
    expect_whole_timeline(cluster, false);
}

TEST(Cluster, EveryRunEndsWithItsBooksInOrderWhateverGoesWrong) {
  if (const char* one = std::getenv("ONRUSH_SEED")) return play(std::strtoull(one, nullptr, 10));
  const char* many = std::getenv("ONRUSH_SEEDS");
  const std::uint64_t seeds = many != nullptr ? std::strtoull(many, nullptr, 10) : kSeeds;
  for (std::uint64_t seed = 1; seed <= seeds && !HasFailure(); ++seed) play(seed);
}

}  // namespace
}  // namespace onrush::simulation
