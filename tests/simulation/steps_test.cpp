// What each step of a script does, in virtual time, and that it still does it when things go wrong.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/simulation/simulation.h"

namespace onrush::simulation {
namespace {

std::string plan_with(const std::string& path, const std::string& script, const std::string& users = "20") {
  return fmt::format(R"(
name: steps
target: ws://127.0.0.1:80{}
scenarios:
  user: {{script: [{}]}}
stages:
  - {{name: up, users: {}, over: 1s, for: 5s}}
  - {{name: down, users: 0, over: 1s}}
)",
                     path, script, users);
}

std::uint64_t failures_of(const Simulation& run, Phase phase, Cause cause) {
  std::uint64_t sum = 0;
  for (const FailureTotal& failure : run.aggregate().failures())
    if (failure.failure.phase == phase && failure.failure.cause == cause) sum += failure.count;
  return sum;
}

TEST(Steps, AnExpectationTakesTheMessageItNamesAndPassesOverOthers) {
  // Two messages are under way; the second is waited for.
  Simulation run{plan_with("/echo", R"(connect, {repeat: {times: 5, do: [
    {send: {text: "a ${sequence}"}}, {send: {text: '{"id":"${user}-${sequence}"}'}},
    {expect: {json: {/id: "${user}-${sequence}"}, timeout: 1s}}]}}, {listen: {}})"),
                 {}};
  run.run();
  EXPECT_EQ(run.count(Counter::expectations), 100U);
  EXPECT_EQ(run.count(Counter::failed_expectations), 0U);
  EXPECT_EQ(run.count(Counter::messages_received), 200U);
  EXPECT_EQ(run.count(Counter::requests), 0U);
  const Measured total = run.aggregate().total();
  EXPECT_EQ(samples(total, Time::expect).count(), 100U);
  EXPECT_GE(samples(total, Time::expect).min_us(), 40);  // two ways of at least 20 us
  EXPECT_EQ(samples(total, Time::round_trip).count(), 0U);
}

TEST(Steps, AJsonMessageComesBackAsTheJsonThatItWas) {
  Simulation run{plan_with("/echo", R"(connect, {repeat: {times: 5, do: [
    {request: {json: {id: "${user}-${sequence}", n: "${sequence}", in: [{a: 'q"${user}'}]},
               reply: {json: {/id: "${user}-${sequence}", /n: "${sequence}", /in/0/a: 'q"${user}'}}, timeout: 1s}}]}},
    {listen: {}})"),
                 {}};
  run.run();
  EXPECT_EQ(run.count(Counter::requests), 100U);
  EXPECT_EQ(run.count(Counter::failed_requests), 0U);
}

// P085: a wait ends although nobody has said when, and is counted; then the script goes on.
TEST(Steps, P085AnExpectationThatIsNeverMetEndsByItsTimeAndTheRunByItsPlan) {
  Simulation run{plan_with("/nobody-answers", "connect, expect, {send: {text: on}}, {listen: {}}", "3"), {}};
  run.run();
  EXPECT_LT(run.seconds(), 10) << "the plan's time, not the time-out of 30 s";
  EXPECT_EQ(run.count(Counter::expectations), 0U) << "the plan itself has cut them short";
  Simulation patient{
      plan_with("/nobody-answers",
                "connect, {expect: {text: hello, timeout: 500ms}}, {send: {text: on}}, {listen: {}}"),
      {}};
  patient.run();
  EXPECT_EQ(patient.count(Counter::expectations), 20U);
  EXPECT_EQ(patient.count(Counter::failed_expectations), 20U);
  EXPECT_EQ(patient.count(Counter::messages_sent), 20U);
  EXPECT_EQ(failures_of(patient, Phase::request, Cause::timeout), 20U);
}

// P085: the socket dies during the wait.
TEST(Steps, P085AnExpectationWhoseConnectionDiesHasFailed) {
  for (const auto how : {World::End::reset, World::End::fin, World::End::close_frame}) {
    Simulation run{plan_with("/nobody-answers", "connect, expect"), {}};
    run.world().at(run.start_ns() + 3'000'000'000, [&] { run.world().end_all(how); });
    run.run();
    EXPECT_EQ(run.count(Counter::failed_expectations), 20U);
    EXPECT_EQ(run.count(Counter::lost), 20U);
  }
}

TEST(Steps, NowOfAnExpectationIsThatOfTheLastMessageAlsoBehindAListen) {
  Simulation run{plan_with("/echo", R"(connect, {listen: {sequence: /seq, for: 100ms}},
    {send: {text: "at ${now_us}"}}, {expect: {text: "at ${now_us}", timeout: 1s}},
    {listen: {for: 50ms}}, {expect: {text: "${now_us}", timeout: 10ms}}, {listen: {}})"),
                 {}};
  run.run();
  EXPECT_EQ(run.count(Counter::expectations), 40U);
  EXPECT_EQ(run.count(Counter::failed_expectations), 20U) << "only the one that cannot be met";
}

TEST(Steps, RepliesAreToldApartByAnExpressionOrSeveralMembers) {
  // Each user's own message is the third of those that come.
  const std::string noise = R"({send: {text: "id=999 n=1"}}, {send: {text: '{"id":"${user}","n":0}'}})";
  for (
      const char* request :
      {R"({request: {text: "id=${user} n=${sequence}", reply: {regex: '^id=(\d+) n', group: "${user}"}, timeout: 1s}})",
       R"({request: {text: "id=${user} n=7", reply: {regex: "n=[5-9]"}, timeout: 1s}})",
       R"({request: {text: '{"id":"${user}","n":${sequence}}', reply: {json: {/id: "${user}", /n: "${sequence}"}}, timeout: 1s}})"}) {
    SCOPED_TRACE(request);
    Simulation run{plan_with("/echo", "connect, " + noise + ", " + request + ", {listen: {}}"), {}};
    run.run();
    EXPECT_EQ(run.count(Counter::requests), 20U);
    EXPECT_EQ(run.count(Counter::failed_requests), 0U);
    EXPECT_EQ(run.count(Counter::messages_received), 60U);
    EXPECT_EQ(samples(run.aggregate().total(), Time::round_trip).count(), 20U);
  }
}

// A reply nested 10,000 deep costs one failure, as any other that is not the one asked for.
TEST(Steps, AReplyNestedTenThousandDeepIsOneFailedRequest) {
  for (const char* shape : {"arrays", "objects"})
    for (const char* pointer : {"/a", "/a/a/a", "/0/0"}) {
      SCOPED_TRACE(shape);
      Simulation run{
          plan_with("/deep", fmt::format("connect, {{request: {{text: {}, reply: {{json: {{{}: x}}}}, "
                                         "timeout: 500ms}}}}, {{listen: {{}}}}",
                                         shape, pointer)),
          {}};
      run.run();
      EXPECT_EQ(run.count(Counter::messages_received), 20U);
      EXPECT_EQ(run.count(Counter::requests), 20U);
      EXPECT_EQ(run.count(Counter::failed_requests), 20U);
      EXPECT_EQ(failures_of(run, Phase::request, Cause::timeout), 20U);
      EXPECT_EQ(run.count(Counter::lost), 0U);
    }
}

TEST(Steps, APingIsTimedToItsOwnPong) {
  Simulation run{
      plan_with("/echo", "connect, {repeat: {times: 10, do: [ping, {think: 100ms}]}}, {listen: {}}"),
      {.faults = {.one_byte_reads = 0.3, .short_writes = 0.3}}};
  run.run();
  EXPECT_EQ(run.count(Counter::pings), 200U);
  EXPECT_EQ(run.count(Counter::failed_pings), 0U);
  EXPECT_EQ(samples(run.aggregate().total(), Time::ping).count(), 200U);
  EXPECT_GE(samples(run.aggregate().total(), Time::ping).min_us(), 40);
  EXPECT_EQ(run.count(Counter::messages_sent), 0U) << "a ping is no message";
}

// P020: pongs that nobody asked for are nobody's samples.
TEST(Steps, P020StrayPongsAreNotMatchedToOurPings) {
  Simulation run{plan_with("/stray-pongs", "connect, {ping: {timeout: 200ms}}, {listen: {}}"), {}};
  run.run();
  EXPECT_EQ(run.count(Counter::pings), 20U);
  EXPECT_EQ(run.count(Counter::failed_pings), 20U);
  EXPECT_EQ(samples(run.aggregate().total(), Time::ping).count(), 0U);
  EXPECT_EQ(failures_of(run, Phase::open, Cause::timeout), 20U);
  EXPECT_EQ(run.count(Counter::lost), 0U);
  EXPECT_EQ(describe(Failure{Phase::open, Cause::timeout, 200}), "no pong in 200 ms");
}

TEST(Steps, WhatThePlanCutsShortIsNoFailedWait) {
  for (const char* step : {"ping", "expect", "{request: {text: a}}"})
    for (const char* by : {"rst", "close"}) {
      SCOPED_TRACE(step);
      Simulation run{fmt::format(R"(
name: cut
target: ws://127.0.0.1:80/stray-pongs
scenarios:
  user: {{script: [connect, {}]}}
stages:
  - {{name: up, users: 20, over: 1s}}
  - {{name: cut, disconnect: {{share: 100%, by: {}}}, for: 3s}}
)",
                                 step, by),
                     {}};
      run.run();
      EXPECT_EQ(run.count(Counter::disconnected), 20U);
      EXPECT_EQ(run.count(Counter::pings) + run.count(Counter::expectations) + run.count(Counter::requests),
                0U);
      EXPECT_EQ(run.count(Counter::lost), 0U);
    }
}

TEST(Steps, ReconnectEndsTheConnectionAndMakesTheNextAtOnce) {
  for (const char* step :
       {"reconnect", "{reconnect: {by: rst}}", "{reconnect: {code: 4001, reason: again}}"}) {
    SCOPED_TRACE(step);
    Simulation run{plan_with("/echo", fmt::format(R"(connect, {{repeat: {{times: 3, do: [
      {{request: {{text: "${{sequence}}", reply: {{text: "${{sequence}}"}}}}}}, {}]}}}}, {{listen: {{}}}})",
                                                  step)),
                   {.faults = {.mute_on_close = 0.3}}};
    run.run();
    EXPECT_EQ(run.count(Counter::opened), 80U);
    EXPECT_EQ(run.count(Counter::closed), 80U);
    EXPECT_EQ(run.count(Counter::lost), 0U);
    EXPECT_EQ(run.count(Counter::requests), 60U);
    EXPECT_EQ(run.count(Counter::failed_requests), 0U);
    EXPECT_EQ(run.world().handshakes(), 80U);
  }
}

TEST(Steps, LogShowsAFewLinesASecondAndSaysHowManyItLeftOut) {
  const std::string script =
      R"(connect, {repeat: {every: 10ms, do: [{log: "hello\n\x1b[31m ${user} ${sequence}"}]}})";
  for (const std::uint32_t agents : {1U, 3U}) {
    Simulation run{plan_with("/echo", script), {.agents = agents}};
    run.run();
    std::uint64_t unshown = 0;
    for (const LogLine& line : run.logged()) {
      EXPECT_THAT(line.text, ::testing::StartsWith("hello??[31m "));
      unshown += line.unshown;
    }
    // 5 to 7 s of 10 lines each; of all 20 users, at 100 a second.
    EXPECT_GE(run.logged().size(), 45U);
    EXPECT_LE(run.logged().size(), 75U);
    EXPECT_GE(unshown, 8000U);
  }
}

TEST(Steps, AValueOfAReplyGoesIntoLaterMessagesOfItsUser) {
  Simulation run{plan_with("/echo", R"(connect,
    {request: {text: '{"a":{"token":"t-${user}"},"id":"x${sequence}y"}', set: {token: {json: /a/token}, id: {regex: "x(.*)y"}}}},
    {set: {both: "${token}+${id}"}},
    {repeat: {times: 3, do: [{request: {text: "${both} ${user}", reply: {text: "t-${user}+1 ${user}"}, timeout: 1s}}, reconnect]}},
    {send: {text: "t-${user}+1"}}, {expect: {text: "${both}", timeout: 1s, set: {token: {regex: "[+]."}}}},
    {request: {text: "${token}", reply: {text: "+1"}, timeout: 1s}}, {listen: {}})"),
                 {.faults = {.one_byte_reads = 0.3, .short_writes = 0.3}}};
  run.run();
  EXPECT_EQ(run.count(Counter::requests), 5 * 20U);
  EXPECT_EQ(run.count(Counter::failed_requests), 0U);
  EXPECT_EQ(run.count(Counter::failed_expectations), 0U);
}

TEST(Steps, MembersOfAReplyAndTextsOfASetDrawWhatTheirMessageDrew) {
  Simulation run{plan_with("/echo", R"(connect,
    {request: {text: '{"a":"${uuid}","b":"${uuid}"}', reply: {json: {/a: "${uuid}", /b: "${uuid}"}}, timeout: 1s,
               set: {a: {json: /a}, b: {json: /b}, first: "${uuid}", second: "${uuid}"}}},
    {request: {text: "${a} ${b}", reply: {text: "${first} ${second}"}, timeout: 1s}}, {listen: {}})"),
                 {}};
  run.run();
  EXPECT_EQ(run.count(Counter::requests), 40U);
  EXPECT_EQ(run.count(Counter::failed_requests), 0U);
}

TEST(Steps, ASessionBeginsWithoutTheValuesOfTheOneBefore) {
  Simulation run{
      plan_with("/echo", R"(connect, {request: {text: "[${kept}]", reply: {text: "[]"}, timeout: 500ms}},
    {set: {kept: "something of ${user}"}}, {think: 10ms}, close)"),
      {}};
  run.run();
  EXPECT_GT(run.count(Counter::requests), 1000U);
  EXPECT_EQ(run.count(Counter::failed_requests), 0U);
}

TEST(Steps, AReplyWithoutTheValueOrWithTooLongAOneIsAFailedRequestAndTheValueStays) {
  Simulation run{plan_with("/echo", R"(connect, {set: {a: {text: "old", at_most: 3}}},
    {request: {text: '{"b":1}', set: {a: {json: /a}}}}, {request: {text: 'no json', set: {a: {json: /a}}}},
    {request: {text: "long", set: {b: {regex: "l.*", at_most: 3}}}}, {send: {text: "x"}}, {expect: {set: {a: {regex: "y"}}}},
    {request: {text: "is ${a}", reply: {text: "is old"}, timeout: 1s}}, {listen: {}})"),
                 {}};
  run.run();
  EXPECT_EQ(run.count(Counter::requests), 80U);
  EXPECT_EQ(run.count(Counter::failed_requests), 60U);
  EXPECT_EQ(failures_of(run, Phase::request, Cause::value_too_long), 20U);
  EXPECT_EQ(run.count(Counter::failed_expectations), 20U);
  EXPECT_EQ(failures_of(run, Phase::request, Cause::no_value), 60U);
}

TEST(Steps, ARepeatEndsWhenWhatItWaitsForHasCome) {
  Simulation run{plan_with("/echo", R"(connect,
    {repeat: {until: {n: "7"}, do: [{request: {text: '{"n":${sequence}}', set: {n: {json: /n}}}}]}},
    {repeat: {times: 4, until: {n: "never"}, do: [{request: {text: "b"}}]}},
    {repeat: {every: 50ms, until: {n: "14", m: "${user}"}, do: [{request: {text: '{"n":${sequence},"m":"${user}"}', set: {n: {json: /n}, m: {json: /m}}}}]}},
    {listen: {}})"),
                 {}};
  run.run();
  EXPECT_EQ(run.count(Counter::requests), 20 * (7 + 4 + 3U));
  EXPECT_EQ(run.count(Counter::failed_requests), 0U);
}

TEST(Steps, BranchesAreTakenByTheirWeights) {
  Simulation run{plan_with("/echo", R"(connect, {repeat: {times: 500, do: [{choose: [
      {weight: 6, do: [{request: {text: "${sequence}", reply: {text: "${sequence}"}}}]},
      {weight: 3, do: [{repeat: {times: 2, do: [ping]}}]},
      {weight: 1, do: []}]}, {think: 1ms}]}}, {listen: {}})"),
                 {}};
  run.run();
  // 10,000 choices; five deviations of a binomial.
  EXPECT_NEAR(static_cast<double>(run.count(Counter::requests)), 6000, 250);
  EXPECT_NEAR(static_cast<double>(run.count(Counter::pings)), 2 * 3000, 2 * 230);
  EXPECT_EQ(run.count(Counter::failed_requests) + run.count(Counter::failed_pings), 0U);
}

TEST(Steps, ABranchTakesThePaceOver) {
  Simulation run{plan_with("/echo", R"(connect, {repeat: {every: 100ms, for: 2s, do: [{choose: [
      {do: [{request: {text: a}}]}, {do: [{request: {bytes: 9}}, {think: 1ms}]}]}]}}, {listen: {}})"),
                 {}};
  run.run();
  EXPECT_EQ(run.count(Counter::requests), 400U);
  EXPECT_EQ(samples(run.aggregate().total(), Time::response).count(), 400U);
}

// The books agree at every step (Simulation checks them) with every step under every fault.
TEST(Steps, TheBooksBalanceUnderEveryFault) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Setting setting{.seed = seed, .agents = static_cast<std::uint32_t>(seed % 2 + 1)};
    setting.faults = kEveryFault;
    Simulation run{plan_with("/echo", R"(connect: {timeout: 1s}, {repeat: {times: 4, do: [
      ping: {timeout: 1s}, {send: {text: "${sequence}"}}, {expect: {text: "${sequence}", timeout: 1s}},
      {log: here}, {reconnect: {timeout: 1s}}, {think: 20ms}, {reconnect: {by: rst, timeout: 1s}}]}})",
                             "60"),
                   setting};
    run.run();
    EXPECT_GT(run.count(Counter::opened), 200U);
    EXPECT_GT(run.count(Counter::lost), 0U);
    const Measured total = run.aggregate().total();
    EXPECT_EQ(samples(total, Time::ping).count() + run.count(Counter::failed_pings),
              run.count(Counter::pings));
    EXPECT_EQ(samples(total, Time::expect).count() + run.count(Counter::failed_expectations),
              run.count(Counter::expectations));
  }
}

}  // namespace
}  // namespace onrush::simulation
