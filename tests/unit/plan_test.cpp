#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <fstream>
#include <numeric>
#include <sstream>

#include "core/plan_stages.h"
#include "core/plan_yaml.h"

namespace onrush {
namespace {

using testing::HasSubstr;
using Settings = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kHead = "name: t\ntarget: ws://127.0.0.1:8088/echo\n";
constexpr const char* kScenario = "scenarios: {a: {script: [connect, listen]}}\n";
constexpr const char* kStages = "stages: [{name: s, users: 1, for: 1s}]\n";

std::string file(const std::string& path) {
  std::ifstream in(std::string(ONRUSH_SOURCE_DIR) + "/" + path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

Plan good(const std::string& yaml, Settings settings = {}, std::string target = "") {
  auto plan = read_plan({"t.yaml", yaml, std::move(settings), std::move(target)});
  EXPECT_TRUE(plan.has_value()) << (plan ? "" : render("t.yaml", plan.error()));
  return plan ? std::move(*plan) : Plan{};
}

std::string said(std::string_view yaml, Settings settings = {}, std::string target = "") {
  const auto plan = read_plan({"t.yaml", yaml, std::move(settings), std::move(target)});
  return plan ? "a good plan" : render("t.yaml", plan.error());
}

std::string with_stages(const std::string& stages) {
  return std::string(kHead) + kScenario + "stages:\n" + stages;
}

// Of the processor, so that what else the machine does cannot fail a test.
double seconds_to_read(std::string_view yaml) {
  const std::clock_t begin = std::clock();
  said(yaml);
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

TEST(PlanParameters, ArePartOfThePlanAsTheRunUsesThem) {
  PlanSource source{"t.yaml",
                    "name: t\ntarget: ws://127.0.0.1/\nparameters: {users: 10, greet: 'hi ${user}', "
                    "token: '${env.TOKEN}'}\nscenarios: {a: {script: [connect, {send: {text: "
                    "'${greet} ${token}'}}]}}\nstages: [{name: s, users: '${users}', for: 1s}]\n",
                    {{"users", "25"}},
                    ""};
  source.around.variable = [](const std::string&) { return std::optional<std::string>{"secret"}; };
  const auto plan = read_plan(source);
  ASSERT_TRUE(plan) << render("t.yaml", plan.error());
  const std::map<std::string, std::string> expected{
      {"users", "25"}, {"greet", "hi ${user}"}, {"token", "${env.TOKEN}"}};
  EXPECT_EQ(plan->parameters, expected) << "and no value of the environment, which may be a secret";
}

TEST(Plan, AMillionSubscribersAreReadAsTheyStand) {
  const Plan plan = good(file("plans/c1000k.yaml"));
  EXPECT_EQ(plan.name, "c1000k");
  EXPECT_EQ(plan.targets[0].url.port, 8088);
  ASSERT_EQ(plan.scenarios.size(), 2u);
  const auto& listen = std::get<ListenStep>(plan.scenarios[0].script[1].what);
  EXPECT_EQ(listen.sequence, "/seq");
  EXPECT_EQ(listen.batch_sent, "/batch_us");
  EXPECT_EQ(listen.sent, "/sent_us");
  EXPECT_FALSE(listen.for_ns.has_value());
  ASSERT_EQ(plan.stages.size(), 4u);
  EXPECT_EQ(plan.stages[0].users, (std::map<std::uint32_t, std::uint64_t>{{0, 1'000'000}}));
  EXPECT_EQ(plan.stages[0].rate, 10'000);
  EXPECT_EQ(plan.stages[1].for_ns, 30'000'000'000);
  EXPECT_EQ(plan.stages[2].users, (std::map<std::uint32_t, std::uint64_t>{{1, 1}}));
  EXPECT_EQ(plan.abort.size(), 1u);
  EXPECT_EQ(plan.thresholds.size(), 2u);
  EXPECT_EQ(plan.observe[0].port, 8088);
  EXPECT_EQ(plan.seed, 1u);
}

TEST(Plan, OpenArrivalsAreReadAsTheyStand) {
  const Plan plan = good(file("plans/open-arrivals.yaml"));
  EXPECT_EQ(plan.scenarios[0].weight, 3);
  const auto& repeat = std::get<RepeatStep>(plan.scenarios[0].script[1].what);
  EXPECT_EQ(repeat.times, 5u);
  const auto& request = std::get<RequestStep>(repeat.body[0].what);
  EXPECT_EQ(std::get<TextReply>(request.reply).text.source(), "ping ${sequence}");
  EXPECT_EQ(std::get<ThinkStep>(repeat.body[1].what).time.kind, Duration::Kind::exponential);
  const auto& heavy = std::get<RepeatStep>(plan.scenarios[1].script[1].what);
  EXPECT_EQ(heavy.for_ns, 10'000'000'000);
  EXPECT_EQ(heavy.every_ns, 100'000'000);
  EXPECT_TRUE(std::holds_alternative<DropStep>(plan.scenarios[1].script[2].what));
  EXPECT_EQ(plan.stages[2].arrivals, 1000);
  EXPECT_EQ(plan.stages[4].arrivals, 0);
}

TEST(Plan, ReadingTakesLessThanFiveMilliseconds) {
  const std::string yaml = file("plans/c1000k.yaml");
  double best = 1;
  for (int i = 0; i < 10; ++i) best = std::min(best, seconds_to_read(yaml));
  EXPECT_LT(best, 0.005);
}

TEST(Plan, SettingsReplaceParametersBeforeAnythingIsTyped) {
  const Plan plan = good(file("plans/c1000k.yaml"), {{"users", "10k"}, {"rate", "5/s"}, {"rate", "1000/s"}});
  EXPECT_EQ(plan.stages[0].users.at(0), 10'000u);
  EXPECT_EQ(plan.stages[0].rate, 1000);  // the last one wins
}

TEST(Plan, AMistakeInASettingIsShownAsTheSettingsOwn) {
  const std::string yaml = file("plans/c1000k.yaml");
  EXPECT_EQ(said(yaml, {{"user", "5"}}),
            "--set user=5: the plan has no such parameter; did you mean 'users'?\n"
            "1 mistake in t.yaml; nothing was started\n");
  EXPECT_EQ(said(yaml, {{"users", "many"}, {"rate", "1000"}}),
            "--set rate=1000: 'rate' in stage 'setup': '1000' has no unit; write 1000/s\n"
            "--set users=many: 'subscriber' of 'users' in stage 'setup': 'many' is not a count such as 500, "
            "50_000 or 50k\n"
            "2 mistakes in t.yaml; nothing was started\n");
  EXPECT_THAT(said(yaml, {{"users", "-5"}}), HasSubstr("--set users=-5: "));
  EXPECT_THAT(said(yaml, {{"users", "\xff"}}), HasSubstr("not UTF-8"));
  EXPECT_THAT(said(std::string(kHead) + kScenario + kStages, {{"users", "5"}}),
              HasSubstr("the plan has no parameters"));
}

TEST(Plan, ParametersWorkWithinTexts) {
  const Plan plan = good(
      std::string("name: ${n}-x\nparameters: {n: low, port: 9000, greet: 'hi ${user}', limit: 250ms}\n") +
      "target: ws://127.0.0.1:${port}/${n}\nthresholds: [\"round_trip_time p99 < ${limit}\"]\n" +
      "scenarios: {a: {script: [connect, {request: {text: '${greet} ${sequence} $${n}'}}]}}\n" + kStages);
  EXPECT_EQ(plan.name, "low-x");
  EXPECT_EQ(plan.targets[0].url.text, "ws://127.0.0.1:9000/low");
  EXPECT_EQ(plan.thresholds[0].value, 250'000);
  const auto& request = std::get<RequestStep>(plan.scenarios[0].script[1].what);
  std::string text;
  std::get<TextMessage>(request.message).text.render({7, 8, 9}, text);
  EXPECT_EQ(text, "hi 7 8 ${n}");
}

TEST(Plan, AJsonMessageIsItsYamlWithTextsFilledInAndEscaped) {
  const Plan plan =
      good(std::string("name: t\ntarget: ws://127.0.0.1:1/\nparameters: {greet: 'say \"hi\"'}\n") +
           R"(scenarios: {a: {script: [connect, {set: {room: "a\"b"}}, {send: {json:
  {op: join, room: "${room}", who: "u-${user}", user: "${user}", at: "${now_us}", greet: "${greet}", plain: 5, big: 1.5e3,
   quoted: "5", yes: true, no: "false", none: null, list: [1, [], {}, "$${x}"], "key \"q\"": "line\nbreak"}}}]}}
)" + kStages);
  const auto& send = std::get<SendStep>(plan.scenarios[0].script[2].what);
  TemplateValues values{7, 8, 9};
  const std::vector<std::string_view> captures{"a\"b\n"};
  values.captures = captures;
  std::string scratch;
  std::string json;
  std::get<JsonMessage>(send.message).json.render(values, scratch, json);
  EXPECT_EQ(json,
            R"({"op":"join","room":"a\"b\n","who":"u-7","user":7,"at":9,"greet":"say \"hi\"","plain":5,)"
            R"("big":1.5e3,"quoted":"5","yes":true,"no":"false","none":null,"list":[1,[],{},"${x}"],)"
            R"("key \"q\"":"line\nbreak"})");
}

TEST(Plan, AGivenTargetReplacesThePlansOwn) {
  EXPECT_EQ(good(file("plans/c1000k.yaml"), {}, "ws://[::1]:9/x").targets[0].url.host_header, "[::1]:9");
  EXPECT_EQ(good(std::string("name: t\n") + kScenario + kStages, {}, "ws://a.test/").targets[0].url.host,
            "a.test");
  EXPECT_EQ(said(file("plans/c1000k.yaml"), {}, "http://a.test"),
            "--target http://a.test: http:// is not a WebSocket address; write ws://\n1 mistake in t.yaml; "
            "nothing was started\n");
  EXPECT_TRUE(good(file("plans/c1000k.yaml"), {}, "wss://a.test").targets[0].url.secure);
}

TEST(Plan, RepeatedKeysNameBothLines) {  // P032
  EXPECT_THAT(said(with_stages("  - {name: s, for: 1s}\n") + "stages:\n  - {name: s, users: 5, for: 1s}\n"),
              HasSubstr("t.yaml:6:1: key 'stages' in the plan stands in line 4 already"));
  EXPECT_THAT(said(with_stages("  - name: s\n    users: 10\n    users: 500\n    for: 1s\n")),
              HasSubstr("t.yaml:7:5: key 'users' in stage 's' stands in line 6 already"));
  EXPECT_THAT(
      said(std::string(kHead) + "scenarios:\n  a: {script: [connect]}\n  a: {script: [connect]}\n" + kStages),
      HasSubstr("t.yaml:5:3: 'a' in 'scenarios' stands in line 4 already"));
  EXPECT_THAT(said(with_stages("  - {name: s, users: 1, for: 1s}\n  - {name: s, for: 1s}\n")),
              HasSubstr("stands in line 5 already"));
}

TEST(Plan, NumbersAreDecimalInWhateverQuotesTheyStand) {  // P034
  for (const char* users : {"1_000", "1000", "'1000'", "\"1k\"", "1k"})
    EXPECT_EQ(good(with_stages(std::string("  - {name: s, users: ") + users + ", for: 1s}\n"))
                  .stages[0]
                  .users.at(0),
              1000u)
        << users;
  for (const char* users : {"010", "0o17", "0x10", "+5", "1:30", "on", "yes", ".nan", ".inf", "-.inf",
                            "1e999", "1e3", "-2", "", "99999999999999999999", "10000001", "[1]", "~", "null"})
    EXPECT_THAT(said(with_stages(std::string("  - {name: s, users: ") + users + ", for: 1s}\n")),
                HasSubstr("t.yaml:5:"))
        << users;
}

TEST(Plan, Yaml11WordsAreTextWhereTextBelongs) {  // P035
  const Plan plan =
      good(std::string(kHead) +
           "scenarios: {on: {script: [connect, {send: {text: on}}, {send: {text: 1:30}}]}}\n" + kStages);
  EXPECT_EQ(plan.scenarios[0].name, "on");
  EXPECT_EQ(std::get<TextMessage>(std::get<SendStep>(plan.scenarios[0].script[1].what).message).text.source(),
            "on");
  EXPECT_EQ(std::get<TextMessage>(std::get<SendStep>(plan.scenarios[0].script[2].what).message).text.source(),
            "1:30");
}

TEST(Plan, DeepNestingIsRefusedBeforeTheParserRecurses) {  // P037
  for (const char* piece : {"[", "{a: ", "- ", "? ", "[a: ", "{? ", "- - [", "!!x ", "&a "})
    for (const std::size_t times : {65u, 499u, 10'000u, 200'000u}) {
      const std::string yaml = repeated(piece, times);
      EXPECT_THAT(said(yaml), HasSubstr("1 mistake in t.yaml")) << piece << times;
    }
  EXPECT_THAT(said(repeated("[", 10'000)), HasSubstr("t.yaml:1:501: more than 500 brackets are open here"));
  EXPECT_THAT(said(repeated("- ", 10'000)), HasSubstr("nested more than 64 deep"));
  std::string indented;
  for (std::size_t i = 0; i < 1000; ++i) indented += std::string(i, ' ') + "a:\n";
  EXPECT_THAT(said(indented), HasSubstr("nested more than 64 deep"));
}

TEST(Plan, AliasesCannotGrowWithoutBound) {  // P038
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + repeated(before + ", ", 8) +
            before + "]\n";
  }
  EXPECT_LT(seconds_to_read(bomb), 1);
  EXPECT_THAT(said(bomb), HasSubstr("more than 200000 nodes here, aliases expanded"));
  EXPECT_THAT(said("loop: &l [*l]\n"), HasSubstr("t.yaml:1:11: this alias stands within its own anchor"));
  EXPECT_THAT(said("a: &a {b: &b {c: *a}}\n"), HasSubstr("this alias stands within its own anchor"));
  const std::string large =
      "a: &a \"" + std::string(500'000, 'x') + "\"\nb: [" + repeated("*a, ", 10'000) + "*a]\n";
  EXPECT_THAT(said(large), HasSubstr("aliases expanded"));
}

TEST(Plan, AnAnchorUsedThreeTimesIsFine) {  // P038
  const Plan plan = good(
      std::string(kHead) +
      "scenarios:\n  a: {script: &s [connect, listen]}\n  b: {script: *s}\n  c: {script: *s}\n" + kStages);
  EXPECT_EQ(plan.scenarios[2].script.size(), 2u);
}

TEST(Plan, StagesThatMakeNoSenseAreRefusedBeforeAnAgentStarts) {  // P089
  for (const char* stage :
       {"{name: s, users: 7, over: 0s}", "{name: s, users: 7, for: -3s}", "{name: s, users: -2, for: 1s}",
        "{name: s}", "{name: s, over: 3s}", "{name: s, users: 7}", "{name: s, users: 7, rate: 0/s}",
        "{name: s, arrivals: 5/s}", "{name: s, users: 7, rate: 5/s, over: 1s}", "{name: s, rate: 5/s}",
        "{name: s, users: 7, for: 0s}"})
    EXPECT_THAT(said(with_stages(std::string("  - ") + stage + "\n")), HasSubstr("t.yaml:5:")) << stage;
  EXPECT_THAT(said(std::string(kHead) + kScenario), HasSubstr("'stages' is missing in the plan"));
  EXPECT_THAT(said(std::string(kHead) + kScenario + "stages: []\n"), HasSubstr("'stages' is empty"));
}

TEST(Plan, StagesThatMakeSenseAreTaken) {
  good(with_stages(
      "  - {name: s, users: 7, rate: 5/s}\n  - {name: t, for: 1s}\n  - {name: u, users: 0, over: 1s}\n"));
  good(with_stages("  - {name: s, users: 7, for: 5s}\n  - {name: t, users: 9, rate: 1 per 7s, for: 1s}\n"));
  good(std::string(kHead) +
       "scenarios: {a: {script: [connect, {think: 1s}, close]}}\nstages:\n"
       "  - {name: s, arrivals: 5/s, over: 5s}\n  - {name: t, arrivals: {a: 0.1/s}, for: 1s}\n  - {name: u, "
       "arrivals: 0/s, over: 1s}\n"
       "  - {name: v, arrivals: {a: 0/s}}\n");
}

TEST(Plan, ADrainThatWouldNeverEndIsRefused) {
  EXPECT_THAT(said(with_stages("  - {name: s, arrivals: 5/s, over: 5s}\n  - {name: drain, arrivals: 0/s}\n")),
              HasSubstr("t.yaml:6:5: stage 'drain' would never end"));
  good(with_stages("  - {name: s, arrivals: 5/s, over: 5s}\n  - {name: drain, arrivals: 0/s, for: 5s}\n"));
}

TEST(Plan, PlainUsersAreSharedOutByWeightExactly) {  // P049
  EXPECT_EQ(apportion(10, {1, 1, 1}), (std::vector<std::uint64_t>{4, 3, 3}));
  EXPECT_EQ(apportion(1, {1, 3}), (std::vector<std::uint64_t>{0, 1}));
  EXPECT_EQ(apportion(0, {1, 3}), (std::vector<std::uint64_t>{0, 0}));
  for (const std::uint64_t total : {1ull, 2ull, 7ull, 99ull, 1'000'003ull, 10'000'000ull})
    for (const auto& weights :
         std::vector<std::vector<double>>{{1}, {3, 1}, {0.1, 0.2, 0.7}, {1e-6, 1e6}, {1, 1, 1, 1, 1, 1, 1}}) {
      const auto parts = apportion(total, weights);
      EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), std::uint64_t{0}), total);
      const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
      for (std::size_t i = 0; i < parts.size(); ++i)
        EXPECT_NEAR(static_cast<double>(parts[i]), static_cast<double>(total) * weights[i] / sum, 1);
    }
  const Plan plan = good(std::string(kHead) +
                         "scenarios:\n  a: {weight: 3, script: [connect]}\n  b: {script: [connect]}\n"
                         "stages: [{name: s, users: 10, for: 1s}, {name: t, users: {b: 9}, for: 1s}]\n");
  EXPECT_EQ(plan.stages[0].users, (std::map<std::uint32_t, std::uint64_t>{{0, 8}, {1, 2}}));
  EXPECT_EQ(plan.stages[1].users, (std::map<std::uint32_t, std::uint64_t>{{1, 9}}));  // only these
}

TEST(Plan, AByteOrderMarkAndCarriageReturnsChangeNothing) {
  const std::string yaml = file("plans/c1000k.yaml");
  std::string windows = "\xEF\xBB\xBF";
  for (const char c : yaml) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(good(windows).stages.size(), 4u);
  EXPECT_THAT(said("\xEF\xBB\xBFnome: x\r\nzzz: 1\r\n"), HasSubstr("t.yaml:2:1: unknown key 'zzz'"));
  EXPECT_THAT(said("\xEF\xBB\xBFnome: x\r\n"),
              HasSubstr("t.yaml:1:1: unknown key 'nome' in the plan; did you mean 'name'?"));
}

TEST(Plan, OtherEncodingsAndControlBytesAreRefusedInPlainWords) {
  EXPECT_THAT(said(std::string_view("\xFF\xFEn\0a\0", 6)), HasSubstr("UTF-16"));
  EXPECT_THAT(said(std::string_view("\xFE\xFF\0n\0a", 6)), HasSubstr("UTF-16"));
  EXPECT_THAT(said(std::string_view("n\0a\0m\0e\0", 8)), HasSubstr("UTF-16"));
  EXPECT_THAT(said("name: gr\xfc\xdf"
                   "e\n"),
              HasSubstr("t.yaml:1:9: byte fc is not UTF-8 here"));
  EXPECT_THAT(said("a: \xC0\xAF\n"), HasSubstr("not UTF-8"));
  EXPECT_THAT(said("a: \xED\xA0\x80\n"), HasSubstr("not UTF-8"));
  EXPECT_THAT(said("a: \xF4\x90\x80\x80\n"), HasSubstr("not UTF-8"));
  EXPECT_THAT(said(std::string_view("name: a\0b\n", 10)), HasSubstr("t.yaml:1:8: control character 00"));
  EXPECT_THAT(said("name: a\x1b[31m\n"), HasSubstr("control character 1b"));
  EXPECT_THAT(said("name: a\rb: c\n"), HasSubstr("control character 0d"));
}

TEST(Plan, TabsInTheIndentationAreShown) {
  EXPECT_THAT(said("name: t\nscenarios:\n\ta: {}\n"), HasSubstr("t.yaml:3:1: a tab in the indentation"));
  EXPECT_THAT(said("name: t\nscenarios:\n  a: 1\n\tb: 2\n"),
              HasSubstr("t.yaml:4:1: a tab in the indentation"));
  EXPECT_THAT(said("stages:\n-\tname: t\n"), HasSubstr("a tab in the indentation"));
  EXPECT_THAT(said("stages:\n\t- name: t\n"), HasSubstr("t.yaml:2:1: a tab in the indentation"));
}

TEST(Plan, AnEmptyFileSaysWhatAPlanNeeds) {
  for (const char* yaml : {"", "\n\n", "# nothing\n", "---\n", "~\n", "\xEF\xBB\xBF"})
    EXPECT_THAT(said(yaml), HasSubstr("the plan is empty; it needs name, target, scenarios and stages"))
        << yaml;
  EXPECT_THAT(said("hello\n"), HasSubstr("the plan is a single value"));
  EXPECT_THAT(said("- a\n"), HasSubstr("the plan is a list"));
}

TEST(Plan, SeveralDocumentsAreRefused) {
  EXPECT_THAT(said("name: a\n---\nname: b\n"), HasSubstr("t.yaml:2:1: a second document begins here"));
  EXPECT_THAT(said("name: a\n...\nname: b\n"), HasSubstr("t.yaml:"));
  EXPECT_THAT(said(","), HasSubstr("1 mistake"));  // yaml-cpp makes empty documents of this for ever
  EXPECT_THAT(said(repeated(",", 100'000)), HasSubstr("1 mistake"));
}

TEST(Plan, LargeInputIsAnsweredSoon) {
  EXPECT_THAT(said(repeated("a: b\n", 2'000'000)),
              HasSubstr("t.yaml:1:1: the plan has 10000000 bytes; at most 1048576 (1 MiB) are read"));
  EXPECT_LT(seconds_to_read(repeated("a: b\n", 2'000'000)), 0.2);
  for (const char* piece : {"k: v\n", "[", "x, ", "- a\n", "\"", "\n", "# c\n", "? a\n", "a: &a *a\n",
                            "%TAG ! x\n", "'", "{a: b}, ", "- - - a\n"})
    EXPECT_LT(seconds_to_read(repeated(piece, 1'000'000 / std::string_view(piece).size())), 5) << piece;
}

TEST(Plan, ManyMistakesAreCutShort) {
  std::string yaml;
  for (int i = 0; i < 5000; ++i) yaml += "zz" + std::to_string(i) + ": 1\n";
  const auto plan = read_plan({"t.yaml", yaml, {}, ""});
  ASSERT_FALSE(plan.has_value());
  EXPECT_EQ(plan.error().size(), 100u);
  EXPECT_THAT(plan.error().back().message, HasSubstr("more mistakes"));
}

TEST(Plan, ParametersCannotGrowAPlanWithoutBound) {
  std::string yaml = std::string(kHead) + kStages + "parameters: {x: " + std::string(60'000, 'x') +
                     "}\nscenarios: {a: {script: [connect";
  for (int i = 0; i < 900; ++i) yaml += ", {send: {text: '${x}${x}'}}";
  yaml += "]}}\n";
  EXPECT_THAT(said(yaml), HasSubstr("the plan grows beyond 4194304 bytes"));
}

TEST(Plan, CountsOfThingsAreLimited) {
  std::string stages, steps, scenarios = "scenarios:\n";
  for (int i = 0; i < 300; ++i) stages += "  - {name: s" + std::to_string(i) + ", users: 1, for: 1s}\n";
  for (int i = 0; i < 1100; ++i) steps += ", {think: 1s}";
  for (int i = 0; i < 70; ++i) scenarios += "  s" + std::to_string(i) + ": {script: [connect]}\n";
  EXPECT_THAT(said(with_stages(stages)), HasSubstr("'stages' has 300 entries; at most 256"));
  EXPECT_THAT(said(std::string(kHead) + "scenarios: {a: {script: [connect" + steps + "]}}\n" + kStages),
              HasSubstr("more than 1000 steps"));
  EXPECT_THAT(said(std::string(kHead) + scenarios + kStages),
              HasSubstr("'scenarios' has 70 entries; at most 64"));
}

TEST(Plan, PolicyAndSeedAreRead) {
  const Plan plan =
      good(std::string(kHead) + kScenario + kStages + "on_agent_loss: abort\nseed: 12345678901\n");
  EXPECT_EQ(plan.on_agent_loss, OnAgentLoss::abort);
  EXPECT_EQ(plan.seed, 12345678901u);
  EXPECT_EQ(good(std::string(kHead) + kScenario + kStages + "on_agent_loss: continue\n").on_agent_loss,
            OnAgentLoss::carry_on);
}

TEST(Plan, StepsHaveTheirDefaults) {
  const Plan plan = good(std::string(kHead) + kStages +
                         "scenarios: {a: {script: [connect, {request: {text: a}}, {think: {uniform: "
                         "0s..3s}}, {listen: {for: 2s}}, close, "
                         "connect, {close: {code: 4000, reason: bye}}, connect, expect, ping]}}\n");
  const Steps& s = plan.scenarios[0].script;
  EXPECT_EQ(std::get<ConnectStep>(s[0].what).timeout_ns, 30'000'000'000);
  EXPECT_EQ(std::get<RequestStep>(s[1].what).timeout_ns, 30'000'000'000);  // P085: a wait always ends
  EXPECT_TRUE(std::holds_alternative<AnyReply>(std::get<RequestStep>(s[1].what).reply));
  EXPECT_EQ(std::get<ThinkStep>(s[2].what).time.high_ns, 3'000'000'000);
  EXPECT_EQ(std::get<ListenStep>(s[3].what).for_ns, 2'000'000'000);
  EXPECT_EQ(std::get<CloseStep>(s[4].what).code, 1000);
  EXPECT_EQ(std::get<CloseStep>(s[6].what).code, 4000);
  EXPECT_EQ(std::get<CloseStep>(s[6].what).reason, "bye");
  EXPECT_EQ(std::get<ExpectStep>(s[8].what).timeout_ns, 30'000'000'000);  // P085
  EXPECT_TRUE(std::holds_alternative<AnyReply>(std::get<ExpectStep>(s[8].what).reply));
  EXPECT_EQ(std::get<PingStep>(s[9].what).timeout_ns, 30'000'000'000);
}

}  // namespace
}  // namespace onrush
