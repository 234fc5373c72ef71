// `onrush doctor` as its user sees it, on machines that a test can state.
#include "coordinator/doctor.h"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "core/plan_yaml.h"
#include "tests/golden/golden_text.h"

namespace onrush {
namespace {

using testing::HasSubstr;
using testing::Not;

Plan c1000k(const std::string& users, const std::string& target) {
  std::ifstream in{std::string{ONRUSH_SOURCE_DIR} + "/plans/c1000k.yaml"};
  const std::string yaml{std::istreambuf_iterator<char>{in}, {}};
  auto plan = read_plan({"plans/c1000k.yaml", yaml, {{"users", users}}, target});
  if (!plan) throw std::runtime_error{render("plans/c1000k.yaml", plan.error())};
  return *plan;
}

/// 25 GB, two cores, the kernel's defaults.
HostFacts defaults() {
  HostFacts facts;
  facts.set(Fact::memory_total, 25'276'059'648);
  facts.set(Fact::memory_available, 23'900'000'000);
  facts.set(Fact::slab_reclaimable, 300'000'000);
  facts.set(Fact::tcp_sockets, 900);
  facts.set(Fact::tcp_pages, 262);
  facts.set(Fact::nr_open, 1'048'576);
  facts.set(Fact::file_max, 2'466'165);
  facts.set(Fact::files_open, 1'600);
  facts.set(Fact::file_max_exempt, 0);
  facts.set(Fact::epoll_watches, 5'491'489);
  facts.set(Fact::occupied_ports, 3);
  facts.set(Fact::tcp_pages_pressure, 383'866);
  facts.set(Fact::tcp_pages_max, 575'796);
  facts.set(Fact::accept_backlog, 4'096);
  facts.set(Fact::syncookies, 1);
  facts.set(Fact::syn_backlog, 2'048);
  facts.set(Fact::packet_backlog, 1'000);
  facts.set(Fact::time_wait_max, 131'072);
  facts.set(Fact::orphans_max, 131'072);
  facts.set(Fact::conntrack_count, 0);
  facts.set(Fact::connection_table, 262'144);
  facts.set(Fact::cores, 2);
  facts.congestion_control = "cubic";
  facts.queueing = "pfifo_fast";
  return facts;
}

std::vector<Hello> agents_on(const std::string& host, std::uint32_t count, const HostFacts& facts) {
  std::vector<Hello> agents(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    agents[i].name = (count == 1 ? host : "agent-" + std::to_string(i + 1));
    agents[i].host = host;
    agents[i].boot_id = "kernel of " + host;
    agents[i].pid = i + 1;
    agents[i].descriptor_limit = 20'000;
    agents[i].facts = facts;
  }
  return agents;
}

TEST(Doctor, AMachineThatHoldsAgentsAndTargetCountsBothEnds) {
  const Examination found =
      examine(c1000k("1_000_000", ""), "plans/c1000k.yaml", agents_on("desk", 51, defaults()));
  EXPECT_EQ(found.worst(), CheckGrade::warning);
  expect_golden("doctor/warned.txt", render_examination(found, {}));
  expect_golden("doctor/warned-script.txt", render_script(found));
}

TEST(Doctor, WhatCannotRunIsRefusedWithTheWayOutOfEachMachine) {
  std::vector<Hello> agents = agents_on("load-1", 1, defaults());
  HostFacts small = defaults();
  small.set(Fact::memory_available, 1'400'000'000);
  small.set(Fact::memory_total, 2'000'000'000);
  small.set(Fact::conntrack_count, 40);
  small.set(Fact::conntrack_max, 262'144);
  small.set(Fact::cpu_millicores, 200);
  agents.push_back(agents_on("load-2", 1, small).front());
  agents[1].descriptor_limit = 1'000'000;
  const Examination found =
      examine(c1000k("500k", "ws://198.51.100.5:8088/broadcast"), "plans/c1000k.yaml", agents);
  EXPECT_EQ(found.worst(), CheckGrade::refused);
  expect_golden("doctor/refused.txt", render_examination(found, {}));
  expect_golden("doctor/refused-script.txt", render_script(found));
}

TEST(Doctor, AMachineThatHasAllIsToldSoAndItsScriptSetsNothing) {
  const Examination found = examine(c1000k("400", ""), "plans/c1000k.yaml", agents_on("desk", 1, defaults()));
  EXPECT_EQ(found.worst(), CheckGrade::ok);
  EXPECT_THAT(render_examination(found, {}), HasSubstr("c1000k can run with 1 agent on 1 host\n"));
  EXPECT_THAT(render_script(found), AllOf(HasSubstr("nothing to set"), Not(HasSubstr("sysctl -p"))));
}

TEST(Doctor, AnAgentsHostNameCannotBecomeALineOfTheScript) {
  std::vector<Hello> agents = agents_on("desk", 51, defaults());
  for (Hello& agent : agents) agent.host = "desk\nrm -rf /\nEND\n`id`";
  const Examination found = examine(c1000k("1_000_000", ""), "plans/c1000k.yaml", agents);
  std::istringstream lines{render_script(found)};
  for (std::string line; std::getline(lines, line);) {
    EXPECT_FALSE(line.starts_with("rm ")) << line;
    EXPECT_TRUE(line.starts_with("#") || line.find("`id`") == std::string::npos) << line;
  }
}

}  // namespace
}  // namespace onrush
