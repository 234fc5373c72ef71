// The settings that deploy/ ships are enough for what the preflight asks of the plan that they are for.
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "core/plan_yaml.h"
#include "core/preflight.h"

namespace onrush {
namespace {

std::string contents(const std::string& file) {
  std::ifstream in{std::string{ONRUSH_SOURCE_DIR} + "/" + file};
  return {std::istreambuf_iterator<char>{in}, {}};
}

/// A machine with memory enough and these settings.
HostFacts machine_with(const std::string& conf) {
  HostFacts facts;
  facts.set(Fact::memory_total, 25'000'000'000);
  facts.set(Fact::memory_available, 24'000'000'000);
  std::istringstream lines{conf};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find(" = ");
    if (line.starts_with('#') || equals == std::string::npos) continue;
    const std::string key = line.substr(0, equals);
    const std::string value = line.substr(equals + 3);
    if (key == "net.ipv4.tcp_mem") read_tcp_mem(value, facts);
    bool known = key == "net.ipv4.tcp_mem";
    for (const auto& [fact, name] : sysctl_facts())
      if (key == name) known = true, read_sysctl(fact, value, facts);
    EXPECT_TRUE(known) << key << " is looked at by no check";
  }
  return facts;
}

TEST(Deploy, ItsKernelSettingsAreEnoughForAMillionOnOneMachine) {
  auto plan = read_plan({"c1000k.yaml", contents("plans/c1000k.yaml"), {}, ""});
  ASSERT_TRUE(plan);
  const PlanNeed need = need_of(*plan, "c1000k.yaml");
  EXPECT_EQ(need.peak, 1'000'001u);
  const HostPlace place{"load-1", need.peak, 51, true};
  for (const Check& check : check_host(need, place, machine_with(contents("deploy/sysctl/90-onrush.conf"))))
    EXPECT_TRUE(check.grade == CheckGrade::ok || check.grade == CheckGrade::unknown) << describe(check);
  // And the kernel's own are not, or the file would be for nothing.
  const HostFacts defaults = machine_with(
      "fs.file-max = 2466165\nfs.epoll.max_user_watches = 1900000\nnet.core.netdev_max_backlog = 1000\n"
      "net.ipv4.tcp_mem = 287898 383866 575796\nnet.ipv4.tcp_max_tw_buckets = 131072\n"
      "net.ipv4.tcp_max_orphans = 16384\n");
  std::vector<std::string> settings;
  for (const Check& check : check_host(need, place, defaults))
    for (const Setting& setting : check.settings) settings.push_back(setting.key);
  EXPECT_THAT(settings, testing::ElementsAre("fs.epoll.max_user_watches", "net.ipv4.tcp_mem",
                                             "net.core.netdev_max_backlog", "net.ipv4.tcp_max_tw_buckets",
                                             "net.ipv4.tcp_max_orphans"));
}

TEST(Deploy, TheLimitsOfLoginsAndUnitsHoldAMillionConnectionsAndLieBelowTheKernels) {
  const HostFacts facts = machine_with(contents("deploy/sysctl/90-onrush.conf"));
  for (const char* file :
       {"deploy/limits/90-onrush.conf", "deploy/systemd/onrush-agent.service.d/limits.conf"}) {
    const std::string text = contents(file);
    EXPECT_NE(text.find("1048576"), std::string::npos) << file;
  }
  EXPECT_GE(1'048'576u, 1'000'001u + kReservedDescriptors);
  EXPECT_LE(1'048'576u, facts.get_or(Fact::nr_open, 0));
}

}  // namespace
}  // namespace onrush
