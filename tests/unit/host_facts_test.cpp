#include "core/host_facts.h"

#include <gmock/gmock.h>

#include "core/memory_left.h"

namespace onrush {
namespace {

using testing::Optional;

constexpr std::optional<std::uint64_t> kUnknown = std::nullopt;

TEST(HostFacts, NothingIsKnownBeforeItIsRead) {
  const HostFacts facts;
  EXPECT_EQ(facts.find(Fact::descriptors_soft), kUnknown);
  EXPECT_EQ(facts.find(Fact::memory_reserve), kUnknown);
  EXPECT_EQ(facts.get_or(Fact::cores, 7), 7u);
}

TEST(HostFacts, ASysctlIsReadFromItsFile) {
  EXPECT_EQ(sysctl_file("net.ipv4.tcp_max_tw_buckets"), "/proc/sys/net/ipv4/tcp_max_tw_buckets");
  HostFacts facts;
  read_sysctl(Fact::accept_backlog, "4096\n", facts);
  read_sysctl(Fact::file_max, "9223372036854775807\n", facts);
  read_sysctl(Fact::connection_table, "-262144\n", facts);
  read_sysctl(Fact::packet_backlog, "", facts);
  read_sysctl(Fact::orphans_max, "many\n", facts);
  EXPECT_THAT(facts.find(Fact::accept_backlog), Optional(4096u));
  EXPECT_THAT(facts.find(Fact::file_max), Optional(9223372036854775807u));
  EXPECT_THAT(facts.find(Fact::connection_table), Optional(262144u)) << "shared with the parent namespace";
  EXPECT_EQ(facts.find(Fact::packet_backlog), kUnknown);
  EXPECT_EQ(facts.find(Fact::orphans_max), kUnknown);
}

TEST(HostFacts, MemoryAndSocketsAreReadAsTheKernelWritesThem) {
  HostFacts facts;
  read_meminfo(
      "MemTotal:       24683652 kB\nMemFree:        21545796 kB\nMemAvailable:   23404528 kB\n"
      "Buffers:            1000 kB\nSReclaimable:     294908 kB\n",
      facts);
  read_sockstat("sockets: used 13\nTCP: inuse 2 orphan 0 tw 30009 alloc 18748 mem 262\nUDP: inuse 0 mem 0\n",
                facts);
  read_file_nr("19611\t0\t2466165\n", facts);
  read_port_range("32768\t60999\n", facts);
  read_tcp_mem("287898\t383866\t575796\n", facts);
  EXPECT_THAT(facts.find(Fact::memory_total), Optional(24683652u * std::uint64_t{1024}));
  EXPECT_THAT(facts.find(Fact::memory_free), Optional(21545796u * std::uint64_t{1024}));
  EXPECT_THAT(facts.find(Fact::memory_available), Optional(23404528u * std::uint64_t{1024}));
  EXPECT_THAT(facts.find(Fact::slab_reclaimable), Optional(294908u * std::uint64_t{1024}));
  EXPECT_THAT(facts.find(Fact::time_waits), Optional(30009u));
  EXPECT_THAT(facts.find(Fact::tcp_sockets), Optional(18748u));
  EXPECT_THAT(facts.find(Fact::tcp_pages), Optional(262u)) << "not UDP's";
  EXPECT_THAT(facts.find(Fact::files_open), Optional(19611u));
  EXPECT_THAT(facts.find(Fact::first_local_port), Optional(32768u));
  EXPECT_THAT(facts.find(Fact::last_local_port), Optional(60999u));
  EXPECT_THAT(facts.find(Fact::tcp_pages_pressure), Optional(383866u));
  EXPECT_THAT(facts.find(Fact::tcp_pages_max), Optional(575796u));
}

TEST(HostFacts, TheOtherCongestionControlIsOneThatNoNamespaceIsRefused) {
  const auto other = [](std::string_view allowed) {
    HostFacts facts;
    read_allowed_congestion(allowed, facts);
    return facts.congestion_other;
  };
  EXPECT_EQ(other("reno cubic\n"), "cubic");
  EXPECT_EQ(other("reno bbr\n"), "reno");
  EXPECT_EQ(other(""), "");
}

TEST(HostFacts, OnlyRootOfTheWholeHostMayPassTheFileTable) {
  const std::string_view root = "Name:\tonrush-agent\nCapEff:\t000001ffffffffff\n";
  const auto exempt = [](std::string_view status, std::string_view map) {
    HostFacts facts;
    read_capabilities(status, map, facts);
    return facts.find(Fact::file_max_exempt);
  };
  EXPECT_THAT(exempt(root, "         0          0 4294967295\n"), Optional(1u));
  EXPECT_THAT(exempt(root, "         0       1000          1\n"), Optional(0u)) << "of a user namespace";
  EXPECT_THAT(exempt("CapEff:\t00000000a80425fb\n", "0 0 4294967295\n"), Optional(0u)) << "a container";
  EXPECT_EQ(exempt("Name:\tx\n", "0 0 4294967295\n"), kUnknown);
}

TEST(HostFacts, TheTightestControlGroupCounts) {
  const CgroupPaths v1 = cgroup_paths("9:name=systemd:/\n4:memory:/a/b\n2:cpuacct,cpu:/c\n0::/\n");
  EXPECT_EQ(v1.v1_memory, "/a/b");
  EXPECT_EQ(v1.v1_cpu, "/c");
  EXPECT_EQ(v1.unified, "/");
  EXPECT_EQ(cgroup_paths("0::/system.slice/onrush.service\n").unified, "/system.slice/onrush.service");

  HostFacts facts;
  read_cgroup_memory({"max\n", "123\n", ""}, facts);
  read_cgroup_memory({"9223372036854771712\n", "123\n", ""}, facts);
  read_cgroup_memory({"", "", ""}, facts);
  EXPECT_EQ(facts.find(Fact::cgroup_limit), kUnknown) << "no limit";
  read_cgroup_memory({"4000\n", "1500\n", "anon 900\ninactive_file 500\n"}, facts);
  EXPECT_THAT(facts.find(Fact::cgroup_limit), Optional(4000u));
  EXPECT_THAT(facts.find(Fact::cgroup_used), Optional(1000u));
  read_cgroup_memory({"9000\n", "1000\n", ""}, facts);
  EXPECT_THAT(facts.find(Fact::cgroup_limit), Optional(4000u)) << "3,000 left, here 8,000";
  read_cgroup_memory({"9000\n", "8000\n", "inactive_file 1\ntotal_inactive_file 200\n"}, facts);
  EXPECT_THAT(facts.find(Fact::cgroup_limit), Optional(9000u)) << "1,200 left";
  EXPECT_THAT(facts.find(Fact::cgroup_used), Optional(7800u));
}

TEST(HostFacts, ACpuQuotaIsInThousandthsOfACore) {
  HostFacts facts;
  read_cpu_quota("max 100000\n", facts);
  read_cpu_quota("-1 100000\n", facts);
  EXPECT_EQ(facts.find(Fact::cpu_millicores), kUnknown);
  read_cpu_quota("150000 100000\n", facts);
  read_cpu_quota("400000 100000\n", facts);
  EXPECT_THAT(facts.find(Fact::cpu_millicores), Optional(1500u)) << "the tighter one";
}

TEST(MemoryLeft, WhatOpenSocketsPinIsNotLeft) {
  HostFacts facts;
  EXPECT_EQ(memory_left(facts), kUnknown);
  // 2,000,000 pairs on a machine of 25.3 GB: MemAvailable said 11.3 GB where 7.5 GB were left.
  facts.set(Fact::memory_available, 11'300'000'000);
  facts.set(Fact::slab_reclaimable, 4'500'000'000);
  EXPECT_THAT(memory_left(facts), Optional(11'300'000'000u));
  facts.set(Fact::tcp_sockets, 4'000'000);
  EXPECT_THAT(memory_left(facts), Optional(11'300'000'000u - 4'000'000u * 1057u)) << "7.1 GB: never too much";
  facts.set(Fact::slab_reclaimable, 1'000'000'000);
  EXPECT_THAT(memory_left(facts), Optional(10'300'000'000u)) << "no more than was counted as reclaimable";
  facts.set(Fact::memory_available, 500'000'000);
  EXPECT_THAT(memory_left(facts), Optional(0u));
}

TEST(MemoryLeft, AControlGroupLeavesWhatItsLimitLeaves) {
  HostFacts facts;
  facts.set(Fact::memory_available, 8'000'000'000);
  facts.set(Fact::cgroup_limit, 2'000'000'000);
  facts.set(Fact::cgroup_used, 500'000'000);
  EXPECT_THAT(memory_left(facts), Optional(1'500'000'000u));
  facts.set(Fact::cgroup_used, 2'500'000'000);
  EXPECT_THAT(memory_left(facts), Optional(0u));
  facts.set(Fact::cgroup_limit, 64'000'000'000);
  EXPECT_THAT(memory_left(facts), Optional(8'000'000'000u));
}

TEST(MemoryLeft, TheReserveIsATwentyFifthUnlessItWasTold) {
  HostFacts facts;
  facts.set(Fact::memory_total, 25'000'000'000);
  EXPECT_EQ(memory_reserve(facts), 1'000'000'000u);
  facts.set(Fact::cgroup_limit, 5'000'000'000);
  EXPECT_EQ(memory_reserve(facts), 200'000'000u);
  facts.set(Fact::memory_reserve, 7);
  EXPECT_EQ(memory_reserve(facts), 7u);
}

}  // namespace
}  // namespace onrush
