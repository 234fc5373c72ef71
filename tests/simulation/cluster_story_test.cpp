// Stories of whole clusters that have a name: each was a failure once, here or elsewhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/verdict.h"
#include "tests/simulation/cluster.h"

namespace onrush::simulation {
namespace {

using Kind = Misfortune::Kind;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kEcho = R"(
name: echo
target: ws://127.0.0.1:80/echo
scenarios:
  pinger: {script: [connect, repeat: {every: 50ms, do: [{request: {text: "${user} ${sequence}", reply: {text: "${user} ${sequence}"}}}]}]}
stages:
  - {name: setup, users: 12, rate: 20/s}
  - {name: hold, for: 5s}
)";

// The first user's share is the first agent's: the others settle at the instant at which the stage begins.
constexpr const char* kOneByOne = R"(
name: one-by-one
target: ws://127.0.0.1:80/echo
scenarios:
  idler: {script: [connect, listen: {}]}
stages:
  - {name: one, users: 1, rate: 1000/s}
  - {name: two, users: 2, rate: 1000/s}
  - {name: wait, for: 500ms}
  - {name: three, users: 3, rate: 1000/s}
  - {name: none, users: 0, rate: 1000/s}
)";

std::vector<std::string> lost(const Cluster& cluster) { return cluster.run().events().lost_agents; }

Verdict verdict(const Cluster& cluster) {
  return decide(cluster.run().events(), cluster.aggregate()).verdict;
}

// Found by this simulation: an agent without users of its own in a stage settles before the coordinator has
// looked at its clock; its word was taken for one of the stage before, and the run never ended.
TEST(ClusterStory, AnAgentThatSettlesBeforeTheCoordinatorLooksAtItsClockIsHeard) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Cluster cluster{kOneByOne, {.seed = seed, .longest_way_ns = 100'000}};
    cluster.play();
    EXPECT_LT(cluster.finished_s(), 4) << "seed " << seed;
    EXPECT_EQ(cluster.count(Counter::opened), 3U);
    EXPECT_EQ(verdict(cluster), Verdict::passed);
  }
}

// The same, with a coordinator that stands still for as long as whole stages take.
TEST(ClusterStory, StagesThatPassWhileTheCoordinatorStandsStillAreAllAccountedFor) {
  Cluster cluster{kEcho, {.misfortunes = {{Kind::pause, 2.5, 12}}}};
  cluster.play();
  EXPECT_THAT(lost(cluster), IsEmpty());
  EXPECT_EQ(cluster.count(Counter::attempted), 12U);
  EXPECT_EQ(cluster.count(Counter::messages_sent), cluster.world().messages_in());
  for (const StageSpan& span : cluster.aggregate().spans()) EXPECT_TRUE(span.began_us && span.ended_us);
}

// P046: the agents' clocks are minutes and hours apart, and one instant is one instant all the same.
TEST(ClusterStory, P046_ClocksThatDisagreeMoveNeitherTheStartNorAnyDuration) {
  std::vector<Machine> machines(3);
  machines[1].clock_skew_ns = 90'000'000'000, machines[1].wall_skew_us = 90'000'000;
  machines[2].clock_skew_ns = 1'000'000'000'000, machines[2].wall_skew_us = -90'000'000;
  Cluster cluster{kEcho, {.machines = machines, .coordinator_skew_ns = 90'000'000'000}};
  cluster.play();
  EXPECT_EQ(cluster.count(Counter::opened), 12U);
  for (std::size_t a = 1; a < 3; ++a)
    EXPECT_NEAR(static_cast<double>(cluster.agent(a).started_ns()),
                static_cast<double>(cluster.agent(0).started_ns()), 2e6);
  const Measured total = cluster.aggregate().total();
  ASSERT_NE(total.find(Time::round_trip), nullptr);
  EXPECT_LT(total.find(Time::round_trip)->max_us(), 1000);
  EXPECT_LT(total.find(Time::start_lag)->max_us(), 1000);
}

// P056: an agent that stands still for seven seconds is one of us again; for fifteen it is lost, named, and
// its coming back changes no figure.
TEST(ClusterStory, P056_AFrozenAgentComesBackInTimeOrIsLostOnce) {
  Cluster brief{kEcho, {.misfortunes = {{Kind::freeze, 3, 7, 1}}}};
  brief.play();
  EXPECT_THAT(lost(brief), IsEmpty());
  EXPECT_EQ(brief.count(Counter::lost), 0U);
  EXPECT_EQ(brief.count(Counter::messages_sent), brief.world().messages_in());

  Cluster lasting{kEcho, {.misfortunes = {{Kind::freeze, 3, 15, 1}}}};
  lasting.play();
  EXPECT_THAT(lost(lasting), ElementsAre("agent-2"));
  EXPECT_EQ(lasting.count(Counter::lost), 4U);
  EXPECT_EQ(lasting.count(Counter::opened), 12U);
  EXPECT_EQ(verdict(lasting), Verdict::degraded);
  EXPECT_NEAR(lasting.given_up_s().at(1), 13, 1.1);
  EXPECT_GT(lasting.aggregate().agents()[1].gap_seconds, 0U);
}

// P058: killed at 30 %, and the policy of the plan decides.
TEST(ClusterStory, P058_AKilledAgentEndsTheRunOrNotAsThePlanSays) {
  const ClusterSetting setting{.misfortunes = {{Kind::kill, 2.3, 0, 2}}};
  Cluster goes_on{kEcho, setting};
  goes_on.play();
  EXPECT_THAT(lost(goes_on), ElementsAre("agent-3"));
  EXPECT_GT(goes_on.finished_s(), 5.5);
  EXPECT_EQ(goes_on.count(Counter::lost), 4U);
  EXPECT_EQ(verdict(goes_on), Verdict::degraded);

  Cluster ends{std::string{kEcho} + "on_agent_loss: abort\n", setting};
  ends.play();
  EXPECT_LT(ends.finished_s(), 5);
  EXPECT_EQ(verdict(ends), Verdict::aborted);
}

// P062: stopped in the middle of an interval, on a link that is cut just then.
TEST(ClusterStory, P062_TheLastIntervalIsNeverLostAfterAStop) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Cluster cluster{kEcho,
                    {.seed = seed,
                     .doubled = 0.5,
                     .lost_acknowledgements = 0.5,
                     .misfortunes = {{Kind::stop, 3.37}, {Kind::cut, 3.36, 2, 1}, {Kind::cut, 4, 0.5, 0}}}};
    cluster.play();
    EXPECT_THAT(lost(cluster), IsEmpty()) << "seed " << seed;
    EXPECT_EQ(cluster.count(Counter::messages_sent), cluster.world().messages_in()) << "seed " << seed;
    EXPECT_EQ(cluster.count(Counter::opened), cluster.world().handshakes()) << "seed " << seed;
    EXPECT_EQ(verdict(cluster), Verdict::interrupted);
  }
}

// Found by this simulation: agents of a run that was called off kept it for ever.
TEST(ClusterStory, P059_ARunThatIsCalledOffBeforeItsStartLeavesNoAgentBehind) {
  std::vector<Machine> machines(3);
  machines[1].descriptor_limit = 10;
  machines[2].prepare_ns = 2'000'000'000;
  Cluster refused{kEcho, {.machines = machines}};
  refused.play();
  EXPECT_EQ(verdict(refused), Verdict::refused);
  EXPECT_EQ(refused.world().handshakes(), 0U);

  machines[1].descriptor_limit = 20'000;
  Cluster interrupted{kEcho, {.machines = machines, .misfortunes = {{Kind::stop, 1}}}};
  interrupted.play();
  EXPECT_EQ(verdict(interrupted), Verdict::interrupted);
  EXPECT_EQ(interrupted.world().handshakes(), 0U);
}

// Never drive a machine out of memory: nobody opens any more, and everything is closed in order, at once.
TEST(ClusterStory, ARunWhoseMachineNearsTheEndOfItsMemoryIsStoppedInOrder) {
  constexpr const char* kSlowRamp = R"(
name: ramp
target: ws://127.0.0.1:80/echo
scenarios:
  idler: {script: [connect, listen: {}]}
stages:
  - {name: setup, users: 600, rate: 20/s}
)";
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    std::vector<Machine> machines(3);
    Cluster ample{kSlowRamp, {.seed = seed, .machines = machines}};
    ample.play();
    EXPECT_EQ(verdict(ample), Verdict::passed);
    const std::int64_t begun_ns = ample.world().now_ns() - static_cast<std::int64_t>(ample.seconds() * 1e9);
    machines[1].memory_ends_ns = begun_ns + 10'000'000'000;
    Cluster cluster{kSlowRamp, {.seed = seed, .machines = machines}};
    cluster.play();
    EXPECT_EQ(verdict(cluster), Verdict::invalid) << "seed " << seed;
    EXPECT_LT(cluster.finished_s(), 14) << "the ramp would take 30 s; seed " << seed;
    EXPECT_GT(cluster.count(Counter::opened), 150U);
    EXPECT_LT(cluster.count(Counter::opened), 250U) << "the others stop as well; seed " << seed;
    EXPECT_EQ(cluster.count(Counter::opened), cluster.count(Counter::closed));
    EXPECT_EQ(cluster.count(Counter::lost), 0U) << "closed in order";
    EXPECT_THAT(decide(cluster.run().events(), cluster.aggregate()).reasons,
                Contains(HasSubstr("agent-2's host had 900 MB left and keeps 1.0 GB free")));
  }
}

// Found by this simulation: while it prepares an agent says nothing; that is no loss before the deadline.
TEST(ClusterStory, P059_AnAgentThatPreparesForTenSecondsIsWaitedForAndOneThatNeverIsReadyIsNamed) {
  std::vector<Machine> machines(2);
  machines[1].prepare_ns = 10'000'000'000;
  Cluster slow{kEcho, {.machines = machines}};
  slow.play();
  EXPECT_EQ(verdict(slow), Verdict::passed);

  machines[1].prepare_ns = 40'000'000'000;
  Cluster never{kEcho, {.machines = machines}};
  never.play();
  EXPECT_THAT(never.run().events().refused, ElementsAre(HasSubstr("agent-2 did not get ready")));
}

// Found by this simulation (seed 1952): an agent whose link breaks when it has sent its last snapshot waited
// a minute for a receipt that could not come.
TEST(ClusterStory, AnAgentWhoseLastSnapshotWasSentInVainLeavesAllTheSame) {
  Cluster cluster{kEcho, {.machines = std::vector<Machine>(1), .misfortunes = {{Kind::cut, 6, 13}}}};
  cluster.play();
  EXPECT_THAT(lost(cluster), ElementsAre("agent-1"));
  EXPECT_LT(cluster.seconds(), 22);
}

// Found by this simulation: the deadline of closing ran on while the coordinator itself stood still.
TEST(ClusterStory, ACoordinatorThatStandsStillWhileAgentsCloseLosesNone) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Cluster cluster{kEcho, {.seed = seed, .misfortunes = {{Kind::stop, 3}, {Kind::pause, 3.01, 20}}}};
    cluster.play();
    EXPECT_THAT(lost(cluster), IsEmpty()) << "seed " << seed;
  }
}

// Found by this simulation: a pause that was forgiven put the last word of an agent into the future, so that
// its death after it was noticed that much later.
TEST(ClusterStory, ALossAfterThePauseOfTheCoordinatorIsNoticedWithinTenSeconds) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Cluster cluster{std::string{kEcho} + "on_agent_loss: abort\n",
                    {.seed = seed, .misfortunes = {{Kind::pause, 1.5, 2.5}, {Kind::vanish, 4.05, 0, 1}}}};
    cluster.play();
    ASSERT_THAT(cluster.given_up_s(), Contains(testing::Key(1U))) << "seed " << seed;
    EXPECT_LT(cluster.given_up_s().at(1), 4.05 + 10.1) << "seed " << seed;
  }
}

}  // namespace
}  // namespace onrush::simulation
