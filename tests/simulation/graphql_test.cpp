// GraphQL over WebSocket against a target that says what a story wants it to say.
#include "core/graphql.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/simulation/simulation.h"

namespace onrush::simulation {
namespace {

using Answers = std::vector<std::string>;
using testing::Contains;
using testing::IsEmpty;
using testing::Pair;

/// A member's text, "" if there is none: enough for what the engine sends.
std::string member(const std::string& message, const std::string& name) {
  const std::string begin = "\"" + name + "\":\"";
  const std::size_t at = message.find(begin);
  if (at == std::string::npos) return {};
  return message.substr(at + begin.size(), message.find('"', at + begin.size()) - at - begin.size());
}

/// A server that keeps the protocol; each operation that is not a subscription is one result and its end.
Answers serve(const std::string& text, const char* start = "subscribe", const char* result = "next") {
  if (text == "open") return {};
  const std::string type = member(text, "type"), id = member(text, "id");
  if (type == "connection_init") return {R"({"type":"connection_ack"})"};
  if (type != start || text.find("subscription") != std::string::npos) return {};
  return {fmt::format(R"({{"type":"{}","id":"{}","payload":{{"data":{{"time":1}}}}}})", result, id),
          fmt::format(R"({{"type":"complete","id":"{}"}})", id)};
}

std::string plan(const std::string& script,
                 const std::string& connection = "protocol: graphql-transport-ws") {
  return fmt::format(R"(
name: graphql
target: ws://127.0.0.1:80/graphql
connection: {{{}}}
scenarios:
  user:
    script: {}
stages:
  - {{name: hold, users: 3, over: 1s, for: 9s}}
)",
                     connection, script);
}

/// Failures by phase and description.
std::map<std::string, std::uint64_t> failures(const Simulation& run) {
  std::map<std::string, std::uint64_t> found;
  for (const auto& failure : run.aggregate().failures())
    found[fmt::format("{}: {}", name(failure.failure.phase), describe(failure.failure))] += failure.count;
  return found;
}

std::uint64_t samples(const Simulation& run, Time time) { return run.aggregate().total().samples(time); }

const std::string kQueries =
    "[connect, {repeat: {times: 5, do: [{query: {query: '{ time }', timeout: 1s}}, {think: 10ms}]}}, {think: "
    "60s}]";

TEST(SimulatedGraphql, AQueryIsItsResultAndItsEndInBothProtocols) {
  for (const bool legacy : {false, true}) {
    SCOPED_TRACE(legacy);
    Simulation run{plan(kQueries, legacy ? "protocol: graphql-ws" : "protocol: graphql-transport-ws"), {}};
    run.world().speak(legacy ? "graphql-ws" : "graphql-transport-ws", [&](const std::string& text) {
      return legacy ? serve(text, "start", "data") : serve(text);
    });
    run.run();
    EXPECT_EQ(run.count(Counter::opened), 3u);
    EXPECT_EQ(run.count(Counter::requests), 15u);
    EXPECT_EQ(run.count(Counter::failed_requests), 0u);
    EXPECT_EQ(samples(run, Time::ack), 3u);
    EXPECT_EQ(samples(run, Time::round_trip), 15u);
    EXPECT_EQ(run.count(Counter::late_messages), 0u);
    EXPECT_THAT(failures(run), IsEmpty());
    // The legacy protocol takes its leave.
    EXPECT_EQ(run.world().messages_in(), 3u * (legacy ? 7 : 6));
  }
}

TEST(SimulatedGraphql, AMutationIsAnsweredByItsEventAndIdsAreNeverUsedAgain) {
  std::map<std::string, int> ids;
  Simulation run{
      plan("[connect, {subscribe: {as: events, query: 'subscription { message }'}},"
           " {repeat: {every: 100ms, for: 2s, do: [{mutate: {query: 'mutation ($i: Int!) { go(i: $i) }', "
           "variables: {i: '${sequence}'}, reply: {on: events, json: {/data/i: '${sequence}'}}}}]}},"
           " {unsubscribe: events}, {think: 60s}]"),
      {}};
  std::string completed;
  run.world().speak("graphql-transport-ws", [&](const std::string& text) -> Answers {
    if (member(text, "type") == "complete") completed += member(text, "id");
    if (member(text, "type") != "subscribe") return serve(text);
    ++ids[member(text, "id")];
    const std::size_t at = text.find("\"variables\":{\"i\":");
    if (at == std::string::npos) return {};
    const std::string i = text.substr(at + 17, text.find('}', at) - at - 17);
    // The event before the result, another's event before that.
    Answers answers{R"({"type":"next","id":"1","payload":{"data":{"i":0}}})",
                    fmt::format(R"({{"type":"next","id":"1","payload":{{"data":{{"i":{}}}}}}})", i)};
    for (const std::string& own : serve(text)) answers.push_back(own);
    return answers;
  });
  run.run();
  EXPECT_EQ(run.count(Counter::requests), 60u);
  EXPECT_EQ(run.count(Counter::failed_requests), 0u);
  EXPECT_EQ(samples(run, Time::response), 60u);
  EXPECT_EQ(run.count(Counter::subscriptions), 3u);
  EXPECT_EQ(run.count(Counter::events), 120u);
  EXPECT_EQ(samples(run, Time::first_event), 3u);
  EXPECT_EQ(run.count(Counter::late_messages), 0u);
  EXPECT_THAT(failures(run), IsEmpty());
  EXPECT_EQ(completed, "111");
  EXPECT_EQ(ids.size(), 21u);
  for (const auto& [id, times] : ids) EXPECT_EQ(times, 3) << id;  // once for each user
}

// P065: legacy keep-alives at any time are no messages to anybody; under the new protocol they are a fault.
TEST(SimulatedGraphql, NoTwoUuidsAreTheSameInOneOperationOrInTwoMessagesOrAttempts) {
  std::set<std::string> drawn;
  std::size_t messages = 0;
  Simulation run{plan("[connect, {query: {query: 'query ($a: ID!, $b: ID!) { go(a: $a, b: $b) }', "
                      "variables: {a: '${uuid}', b: '${uuid}'}, timeout: 1s}}, {think: 100ms}, close]",
                      "protocol: graphql-transport-ws, init: {first: '${uuid}', second: '${uuid}'}"),
                 {}};
  run.world().speak("graphql-transport-ws", [&](const std::string& text) {
    const bool init = member(text, "type") == "connection_init";
    if (init || member(text, "type") == "subscribe") {
      ++messages;
      for (const char* name : {init ? "first" : "a", init ? "second" : "b"}) drawn.insert(member(text, name));
    }
    return serve(text);
  });
  run.run();
  EXPECT_GT(run.count(Counter::requests), 100u);
  EXPECT_EQ(drawn.size(), 2 * messages);
  EXPECT_EQ(drawn.count(""), 0u);
}

TEST(SimulatedGraphql, P065KeepAlivesAreIgnoredWhereTheyBelongAndCountedWhereTheyDoNot) {
  Simulation legacy{plan(kQueries, "protocol: graphql-ws"), {}};
  legacy.world().speak("graphql-ws", [&](const std::string& text) {
    Answers answers = serve(text, "start", "data");
    answers.insert(answers.begin(), R"({"type":"ka"})");
    answers.push_back(R"({"type":"ka"})");
    return answers;
  });
  legacy.run();
  EXPECT_EQ(legacy.count(Counter::requests), 15u);
  EXPECT_EQ(samples(legacy, Time::round_trip), 15u);
  EXPECT_THAT(failures(legacy), IsEmpty());

  std::string pongs;
  const auto modern_server = [&](const std::string& text) {
    if (member(text, "type") == "pong") pongs += text;
    Answers answers = serve(text);
    if (text == "open") answers = {R"({"type":"ping","payload":{"n": [1]}})", R"({"type":"pong"})"};
    if (member(text, "type") == "connection_init") answers.insert(answers.end(), R"({"type":"ka"})");
    return answers;
  };
  Simulation modern{plan(kQueries), {}};
  modern.world().speak("graphql-transport-ws", modern_server);
  modern.run();
  const std::string pong = R"({"type":"pong","payload":{"n": [1]}})";
  EXPECT_EQ(pongs, pong + pong + pong);
  EXPECT_EQ(modern.count(Counter::requests), 15u);
  EXPECT_EQ(modern.count(Counter::lost), 0u);
  EXPECT_THAT(failures(modern), testing::ElementsAre(Pair("open: GraphQL message 'ka' out of place", 3u)));

  Simulation strict{plan(kQueries, "protocol: graphql-transport-ws, on_protocol_error: close"), {}};
  strict.world().speak("graphql-transport-ws", modern_server);
  strict.run();
  EXPECT_EQ(strict.count(Counter::opened), 3u);
  EXPECT_EQ(strict.count(Counter::lost), 3u);
}

// P067: both sides complete at once; what is late is ignored and counted apart, and answered by nothing.
TEST(SimulatedGraphql, P067LateMessagesOfEndedOperationsAreCountedApart) {
  int completes = 0;
  Simulation run{
      plan("[connect, {subscribe: {as: a, query: 'subscription { a }'}}, {think: 1s}, {unsubscribe: a},"
           " {subscribe: {as: b, query: 'subscription { b }'}}, {query: {query: '{ time }'}}, {think: 60s}]"),
      {}};
  run.world().speak("graphql-transport-ws", [&](const std::string& text) -> Answers {
    const std::string next1 = R"({"type":"next","id":"1","payload":{"data":{}}})",
                      end1 = R"({"type":"complete","id":"1"})";
    if (member(text, "type") == "complete") {
      ++completes;
      EXPECT_EQ(member(text, "id"), "1");
      return {next1, end1, next1};
    }
    // The server ends the second subscription: we say nothing to that.
    if (text.find("{ b }") != std::string::npos)
      return {R"({"type":"next","id":"2","payload":{"data":{}}})", R"({"type":"complete","id":"2"})",
              R"({"type":"next","id":"2","payload":{"data":{}}})",
              R"({"type":"error","id":"9","payload":[]})"};
    return serve(text);
  });
  run.run();
  EXPECT_EQ(completes, 3);
  EXPECT_EQ(run.count(Counter::late_messages), 3u * 4);
  EXPECT_EQ(run.count(Counter::events), 3u);
  EXPECT_EQ(run.count(Counter::requests), 3u);
  EXPECT_EQ(run.count(Counter::failed_requests), 0u);
  EXPECT_THAT(failures(run),
              testing::ElementsAre(Pair("open: GraphQL message for no operation of ours", 3u)));
}

// P068: crossed names.
TEST(SimulatedGraphql, P068TheServersChoiceOfProtocolDecidesTheWords) {
  Simulation either{plan(kQueries, "protocol: [graphql-transport-ws, graphql-ws]"), {}};
  either.world().speak("graphql-ws", [](const std::string& text) { return serve(text, "start", "data"); });
  either.run();
  EXPECT_EQ(either.count(Counter::requests), 15u);
  EXPECT_THAT(failures(either), IsEmpty());

  Simulation silent{plan(kQueries), {}};
  silent.world().speak("", [](const std::string& text) -> Answers {
    return text == "open" ? Answers{"close 4406"} : Answers{};
  });
  silent.run();
  EXPECT_EQ(silent.count(Counter::opened), 0u);
  EXPECT_EQ(silent.count(Counter::failed), 3u);
  EXPECT_THAT(failures(silent), testing::ElementsAre(Pair(
                                    "ack: closed by peer, 4406 subprotocol not acceptable (GraphQL)", 3u)));
  EXPECT_STREQ(remedy({Phase::ack, Cause::peer_close, 4406}), "is 'protocol' the one that it speaks?");

  Simulation other{plan(kQueries), {}};
  other.world().speak("graphql-ws", [](const std::string& text) { return serve(text, "start", "data"); });
  other.run();
  EXPECT_THAT(failures(other), testing::ElementsAre(Pair("upgrade: subprotocol that was not offered", 3u)));

  // It chose the new protocol and speaks the old one.
  Simulation crossed{plan(kQueries), {}};
  crossed.world().speak("graphql-transport-ws",
                        [](const std::string& text) { return serve(text, "subscribe", "data"); });
  crossed.run();
  EXPECT_THAT(failures(crossed), Contains(Pair("open: GraphQL message 'data' out of place", 15u)));
}

TEST(SimulatedGraphql, AMessageForNoOperationOfOursIsAFaultWhateverItsId) {
  for (const char* id :
       {"", R"("id":null,)", R"("id":1,)", R"("id":{"a":1},)", R"("id":"zzz",)", R"("id":"0",)",
        R"("id":"-1",)", R"("id":"77",)", R"("id":"99999999999999999999999",)"})
    for (const char* rest : {R"("type":"next","payload":{"data":{}})", R"("type":"complete")",
                             R"("type":"error","payload":[])"}) {
      const std::string lie = fmt::format("{{{}{}}}", id, rest);
      SCOPED_TRACE(lie);
      for (const bool strict : {false, true}) {
        Simulation run{plan(kQueries, strict ? "protocol: graphql-transport-ws, on_protocol_error: close"
                                             : "protocol: graphql-transport-ws"),
                       {}};
        run.world().speak("graphql-transport-ws", [&](const std::string& text) {
          Answers answers = serve(text);
          if (answers.size() == 2) answers.insert(answers.begin(), lie);
          return answers;
        });
        run.run();
        EXPECT_EQ(run.count(Counter::late_messages), 0u);
        EXPECT_EQ(run.count(Counter::graphql_errors), 0u);
        EXPECT_EQ(run.count(Counter::lost), strict ? 3u : 0u);
        EXPECT_EQ(failures(run)["open: GraphQL message for no operation of ours"], strict ? 3u : 15u);
        if (!strict) {
          EXPECT_EQ(run.count(Counter::requests), 15u);
          EXPECT_EQ(run.count(Counter::failed_requests), 0u);
        }
      }
    }
}

TEST(SimulatedGraphql, AResultWithoutAnObjectIsNoResult) {
  for (const bool legacy : {false, true})
    for (const char* payload : {"", R"(,"payload":null)", R"(,"payload":"x")", R"(,"payload":[{}])"}) {
      SCOPED_TRACE(payload);
      const std::string protocol = legacy ? "graphql-ws" : "graphql-transport-ws";
      Simulation run{plan(kQueries, "protocol: " + protocol), {}};
      run.world().speak(protocol, [&](const std::string& text) {
        Answers answers = legacy ? serve(text, "start", "data") : serve(text);
        if (answers.size() == 2)
          answers[0] = fmt::format(R"({{"type":"{}","id":"{}"{}}})", legacy ? "data" : "next",
                                   member(text, "id"), payload);
        return answers;
      });
      run.run();
      EXPECT_EQ(run.count(Counter::requests), 15u);
      EXPECT_EQ(run.count(Counter::failed_requests), 15u);
      EXPECT_EQ(samples(run, Time::round_trip), 0u);
      EXPECT_THAT(failures(run),
                  testing::UnorderedElementsAre(Pair("open: GraphQL result whose payload is no object", 15u),
                                                Pair("request: GraphQL complete before a result", 15u)));
    }
}

// P103: no end of a query, a payload in the end, a second connection_ack.
TEST(SimulatedGraphql, P103SloppyServersAreFlaggedAndHarmNothing) {
  int cancelled = 0;
  Simulation endless{plan(kQueries), {}};
  endless.world().speak("graphql-transport-ws", [&](const std::string& text) {
    cancelled += member(text, "type") == "complete";
    Answers answers = serve(text);
    if (answers.size() == 2) answers.pop_back();
    return answers;
  });
  endless.run();
  EXPECT_EQ(endless.count(Counter::failed_requests), 15u);
  EXPECT_EQ(cancelled, 15);
  EXPECT_THAT(failures(endless), testing::ElementsAre(Pair("request: no reply in 1 s", 15u)));

  Simulation sloppy{plan(kQueries), {}};
  sloppy.world().speak("graphql-transport-ws", [](const std::string& text) {
    Answers answers = serve(text);
    if (answers.size() == 2) {
      answers[1].insert(answers[1].size() - 1, R"(,"payload":{"data":null})");
      answers.insert(answers.begin(), R"({"type":"connection_ack"})");
    }
    return answers;
  });
  sloppy.run();
  EXPECT_EQ(sloppy.count(Counter::requests), 15u);
  EXPECT_EQ(sloppy.count(Counter::failed_requests), 0u);
  EXPECT_THAT(failures(sloppy), testing::UnorderedElementsAre(
                                    Pair("open: GraphQL complete with a payload", 15u),
                                    Pair("open: GraphQL message 'connection_ack' out of place", 15u)));

  Simulation empty{plan(kQueries), {}};
  empty.world().speak("graphql-transport-ws", [](const std::string& text) {
    Answers answers = serve(text);
    if (answers.size() == 2) answers.erase(answers.begin());
    return answers;
  });
  empty.run();
  EXPECT_EQ(empty.count(Counter::failed_requests), 15u);
  EXPECT_THAT(failures(empty), testing::ElementsAre(Pair("request: GraphQL complete before a result", 15u)));
}

TEST(SimulatedGraphql, ErrorsAreAnswersAndCountedApartFromFailedRequests) {
  for (const bool refused : {false, true}) {
    SCOPED_TRACE(refused);
    Simulation run{plan(kQueries), {}};
    run.world().speak("graphql-transport-ws", [&](const std::string& text) -> Answers {
      if (member(text, "type") != "subscribe") return serve(text);
      const std::string id = member(text, "id");
      if (refused) return {fmt::format(R"({{"type":"error","id":"{}","payload":[{{"message":"no"}}]}})", id)};
      return {fmt::format(R"({{"type":"next","id":"{}","payload":{{"errors":[{{"message":"no"}}]}}}})", id),
              fmt::format(R"({{"type":"complete","id":"{}"}})", id)};
    });
    run.run();
    EXPECT_EQ(run.count(Counter::requests), 15u);
    EXPECT_EQ(run.count(Counter::failed_requests), 0u);
    EXPECT_EQ(run.count(Counter::graphql_errors), 15u);
    EXPECT_EQ(samples(run, Time::round_trip), 15u);
    EXPECT_THAT(failures(run), testing::ElementsAre(Pair(refused ? "request: GraphQL operation refused"
                                                                 : "request: GraphQL errors in a result",
                                                         15u)));
  }
}

TEST(SimulatedGraphql, AnAckThatDoesNotComeIsAFailedAttemptAndTakesTheShorterTime) {
  for (const char* connection :
       {"protocol: graphql-transport-ws, ack_timeout: 2s", "protocol: graphql-transport-ws"}) {
    Simulation run{plan("[{connect: {timeout: 3s}}, {think: 60s}]", connection), {}};
    run.world().speak("graphql-transport-ws", [](const std::string&) { return Answers{}; });
    run.run();
    EXPECT_EQ(run.count(Counter::failed), 3u);
    EXPECT_EQ(run.count(Counter::opened), 0u);
    ASSERT_EQ(failures(run).size(), 1u);
    EXPECT_THAT(failures(run).begin()->first, testing::StartsWith("ack: no connection_ack in "));
  }
  Simulation refused{plan("[connect, {think: 60s}]", "protocol: graphql-ws"), {}};
  refused.world().speak("graphql-ws", [](const std::string& text) -> Answers {
    return text == "open" ? Answers{}
                          : Answers{R"({"type":"connection_error","payload":{"message":"who are you"}})"};
  });
  refused.run();
  EXPECT_THAT(failures(refused), testing::ElementsAre(Pair("ack: refused by connection_error", 3u)));
}

TEST(SimulatedGraphql, AHostileMessageIsOneCountedFault) {
  Simulation run{plan(kQueries), {}};
  const std::string deep(10'000, '[');
  run.world().speak("graphql-transport-ws", [&](const std::string& text) {
    Answers answers = serve(text);
    if (member(text, "type") == "connection_init")
      answers.push_back(R"({"type":"next","id":"1","payload":)" + deep + std::string(10'000, ']') + "}");
    return answers;
  });
  run.run();
  EXPECT_EQ(run.count(Counter::requests), 15u);
  EXPECT_EQ(run.count(Counter::failed_requests), 0u);
  EXPECT_THAT(failures(run), testing::ElementsAre(Pair("open: not a message of the GraphQL protocol", 3u)));
}

TEST(SimulatedGraphql, TheBooksBalanceWhateverTheNetworkDoes) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    Simulation run{
        plan("[connect, {subscribe: {as: a, query: 'subscription { a }'}}, {repeat: {times: 20, do: [{query: "
             "{query: '{ time }', timeout: 300ms}}, {think: {exponential: 50ms}}]}}, {unsubscribe: a}, "
             "close]"),
        {.seed = seed,
         .agents = 2,
         .faults = {.refuse = 0.05,
                    .silent = 0.05,
                    .reset_mid_frame = 0.2,
                    .one_byte_reads = 0.3,
                    .short_writes = 0.3,
                    .close_1011 = 0.2,
                    .mute_on_close = 0.1}}};
    run.world().speak("graphql-transport-ws", [](const std::string& text) { return serve(text); });
    run.run();
    EXPECT_GT(run.count(Counter::attempted), 2u);
    expect_all_accounted_for(run);
    EXPECT_EQ(run.held().sessions, 0u);
    EXPECT_EQ(run.held().unsent + run.held().partial, 0u);
  }
}

}  // namespace
}  // namespace onrush::simulation
