#include "core/script.h"

#include <gtest/gtest.h>

#include "core/plan_yaml.h"

namespace onrush {
namespace {

Plan plan_with(const std::string& script) {
  const std::string yaml =
      "name: t\ntarget: ws://127.0.0.1/\nstages: [{name: s, users: 1, for: 1s}]\nscenarios: {a: {script: " +
      script + "}}\n";
  auto plan = read_plan({"t.yaml", yaml, {}, ""});
  EXPECT_TRUE(plan.has_value()) << (plan ? "" : render("t.yaml", plan.error()));
  return std::move(*plan);
}

std::string written(const Script& script) {
  const char* names[] = {"connect", "send", "request",   "listen",      "think",   "begin",  "end-repeat",
                         "close",   "drop", "expect",    "ping",        "log",     "choose", "set",
                         "branch",  "jump", "subscribe", "unsubscribe", "operate", "end"};
  std::string out;
  for (const Instruction& i : script) {
    out += names[static_cast<std::size_t>(i.op)];
    if (i.paced) out += "*";
    if (i.op == Op::branch || i.op == Op::jump) out += ">" + std::to_string(i.jump);
    if (i.op == Op::repeat_begin || i.op == Op::repeat_end)
      out += "(" + std::to_string(i.depth) + ">" + std::to_string(i.jump) + ")";
    out += " ";
  }
  return out;
}

TEST(Script, StepsFollowOneAnotherAndEndWithEnd) {
  const Plan plan = plan_with(
      "[connect, {send: {text: a}}, {request: {text: a}}, {think: 1s}, {listen: {for: 1s}}, close]");
  EXPECT_EQ(written(compile(plan.scenarios[0])), "connect send request think listen close end ");
}

TEST(Script, ToReconnectIsToEndAConnectionAndMakeTheNext) {
  const Plan plan = plan_with(
      "[connect, ping, {log: a}, reconnect, expect, {reconnect: {by: rst, timeout: 3s}}, {reconnect: {code: "
      "4000}}]");
  const Script script = compile(plan.scenarios[0]);
  EXPECT_EQ(written(script), "connect ping log close connect expect drop connect close connect end ");
  EXPECT_EQ(connect_of(*script[7].step).timeout_ns, 3'000'000'000);
  EXPECT_EQ(close_of(*script[8].step).code, 4000);
  EXPECT_EQ(close_of(*script[3].step).code, 1000);
}

TEST(Script, RepeatsBecomePairsThatNameEachOther) {
  const Plan plan = plan_with(
      "[connect, {repeat: {times: 3, do: [{think: 1s}, {repeat: {times: 2, do: [{request: {text: a}}]}}]}}, "
      "drop]");
  EXPECT_EQ(written(compile(plan.scenarios[0])),
            "connect begin(0>7) think begin(1>6) request end-repeat(1>3) end-repeat(0>1) drop end ");
}

TEST(Script, BranchesAreAChainAndEachJumpsPastTheLast) {
  const Plan plan = plan_with(
      "[connect, {repeat: {every: 1s, do: [{choose: [{do: [{send: {text: a}}, {think: 1s}]}, {weight: 3, do: "
      "[]}, "
      "{do: [{choose: [{do: [ping]}, {do: [{request: {text: b}}]}]}]}]}]}}]");
  EXPECT_EQ(
      written(compile(plan.scenarios[0])),
      "connect begin(0>19) choose branch>7 send* think jump>18 branch>9 jump>18 branch>18 choose branch>14 "
      "ping jump>17 branch>17 request* jump>17 jump>18 end-repeat(0>1) end ");
}

TEST(Script, OnlyTheFirstStepOfAnEveryIsPacedAndOnlyIfItSends) {
  EXPECT_EQ(written(compile(
                plan_with("[connect, {repeat: {every: 1s, do: [{send: {text: a}}, {send: {text: b}}]}}]")
                    .scenarios[0])),
            "connect begin(0>5) send* send end-repeat(0>1) end ");
  EXPECT_EQ(written(compile(
                plan_with("[connect, {repeat: {every: 1s, do: [{request: {text: a}}]}}]").scenarios[0])),
            "connect begin(0>4) request* end-repeat(0>1) end ");
  EXPECT_EQ(
      written(compile(
          plan_with("[connect, {repeat: {every: 1s, do: [{think: 1ms}, {send: {text: a}}]}}]").scenarios[0])),
      "connect begin(0>5) think send end-repeat(0>1) end ");
  EXPECT_EQ(
      written(compile(plan_with("[connect, {repeat: {times: 5, do: [{request: {text: a}}]}}]").scenarios[0])),
      "connect begin(0>4) request end-repeat(0>1) end ");
}

TEST(Script, EveryInstructionButTheLastPointsAtItsStep) {
  const Plan plan = plan_with("[connect, {repeat: {every: 1s, do: [{send: {bytes: 5}}]}}]");
  const Script script = compile(plan.scenarios[0]);
  for (std::size_t i = 0; i + 1 < script.size(); ++i) ASSERT_NE(script[i].step, nullptr);
  EXPECT_EQ(script.back().op, Op::end);
  EXPECT_EQ(script[1].step, script[3].step);
  EXPECT_EQ(std::get<BinaryMessage>(std::get<SendStep>(script[2].step->what).message).bytes, 5u);
}

}  // namespace
}  // namespace onrush
