#include "core/host_facts.h"

#include <algorithm>
#include <charconv>
#include <sstream>

namespace onrush {
namespace {

static_assert(static_cast<std::size_t>(Fact::memory_reserve) + 1 == kFacts);

std::optional<std::uint64_t> number_in(std::string_view word) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return number;
}

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream stream{std::string{text}};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

void set_if_number(Fact fact, std::string_view word, HostFacts& facts, std::uint64_t times = 1) {
  if (const auto number = number_in(word)) facts.set(fact, *number * times);
}

/// The value of `name` in lines of "name value".
std::optional<std::uint64_t> value_of(std::string_view text, std::string_view name) {
  std::istringstream lines{std::string{text}};
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> words = words_of(line);
    if (words.size() >= 2 && words[0] == name) return number_in(words[1]);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> HostFacts::find(Fact fact) const noexcept {
  const std::uint64_t number = numbers_[static_cast<std::size_t>(fact)];
  if (number == kUnknown) return std::nullopt;
  return number;
}

std::uint64_t HostFacts::get_or(Fact fact, std::uint64_t otherwise) const noexcept {
  return find(fact).value_or(otherwise);
}

const std::vector<std::pair<Fact, const char*>>& sysctl_facts() {
  static const std::vector<std::pair<Fact, const char*>> kTable = {
      {Fact::nr_open, "fs.nr_open"},
      {Fact::file_max, "fs.file-max"},
      {Fact::epoll_watches, "fs.epoll.max_user_watches"},
      {Fact::time_wait_reuse, "net.ipv4.tcp_tw_reuse"},
      {Fact::accept_backlog, "net.core.somaxconn"},
      {Fact::syn_backlog, "net.ipv4.tcp_max_syn_backlog"},
      {Fact::syncookies, "net.ipv4.tcp_syncookies"},
      {Fact::packet_backlog, "net.core.netdev_max_backlog"},
      {Fact::time_wait_max, "net.ipv4.tcp_max_tw_buckets"},
      {Fact::orphans_max, "net.ipv4.tcp_max_orphans"},
      {Fact::conntrack_max, "net.netfilter.nf_conntrack_max"},
      {Fact::conntrack_count, "net.netfilter.nf_conntrack_count"},
      {Fact::connection_table, "net.ipv4.tcp_ehash_entries"},
  };
  return kTable;
}

std::string sysctl_file(std::string_view name) {
  std::string file = "/proc/sys/" + std::string{name};
  std::replace(file.begin() + 10, file.end(), '.', '/');
  return file;
}

void read_sysctl(Fact fact, std::string_view text, HostFacts& facts) {
  const std::vector<std::string> words = words_of(text);
  if (words.empty()) return;
  // A network namespace that shares its parent's connection table says so by a minus.
  const std::string_view word = words[0];
  set_if_number(fact, word.substr(word.starts_with('-') ? 1 : 0), facts);
}

void read_meminfo(std::string_view text, HostFacts& facts) {
  constexpr std::uint64_t kKibibyte = 1024;
  for (const auto& [name, fact] :
       {std::pair{"MemTotal:", Fact::memory_total}, std::pair{"MemFree:", Fact::memory_free},
        std::pair{"MemAvailable:", Fact::memory_available},
        std::pair{"SReclaimable:", Fact::slab_reclaimable}})
    if (const auto kibibytes = value_of(text, name)) facts.set(fact, *kibibytes * kKibibyte);
}

void read_sockstat(std::string_view text, HostFacts& facts) {
  std::istringstream lines{std::string{text}};
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> words = words_of(line);
    if (words.empty() || words[0] != "TCP:") continue;
    for (std::size_t i = 1; i + 1 < words.size(); i += 2) {
      if (words[i] == "tw") set_if_number(Fact::time_waits, words[i + 1], facts);
      if (words[i] == "alloc") set_if_number(Fact::tcp_sockets, words[i + 1], facts);
      if (words[i] == "mem") set_if_number(Fact::tcp_pages, words[i + 1], facts);
    }
  }
}

void read_file_nr(std::string_view text, HostFacts& facts) {
  const std::vector<std::string> words = words_of(text);
  if (words.size() == 3) set_if_number(Fact::files_open, words[0], facts);
}

void read_port_range(std::string_view text, HostFacts& facts) {
  const std::vector<std::string> words = words_of(text);
  if (words.size() != 2) return;
  set_if_number(Fact::first_local_port, words[0], facts);
  set_if_number(Fact::last_local_port, words[1], facts);
}

void read_tcp_mem(std::string_view text, HostFacts& facts) {
  const std::vector<std::string> words = words_of(text);
  if (words.size() != 3) return;
  set_if_number(Fact::tcp_pages_pressure, words[1], facts);
  set_if_number(Fact::tcp_pages_max, words[2], facts);
}

void read_allowed_congestion(std::string_view text, HostFacts& facts) {
  const std::vector<std::string> words = words_of(text);
  if (words.empty()) return;
  const bool cubic = std::find(words.begin(), words.end(), "cubic") != words.end();
  facts.congestion_other = cubic ? "cubic" : "reno";  // which every kernel has and nobody is refused
}

void read_capabilities(std::string_view status, std::string_view uid_map, HostFacts& facts) {
  constexpr unsigned kSysAdmin = 21;
  constexpr std::string_view kEffective = "CapEff:\t";
  const std::size_t at = status.find(kEffective);
  if (at == std::string_view::npos) return;
  std::uint64_t effective = 0;
  const char* begin = status.data() + at + kEffective.size();
  std::from_chars(begin, status.data() + status.size(), effective, 16);
  const std::vector<std::string> map = words_of(uid_map);
  const bool whole_host = map.size() == 3 && map[0] == "0" && map[1] == "0" && map[2] == "4294967295";
  facts.set(Fact::file_max_exempt, whole_host && (effective >> kSysAdmin & 1) != 0 ? 1 : 0);
}

CgroupPaths cgroup_paths(std::string_view text) {
  CgroupPaths paths;
  std::istringstream lines{std::string{text}};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string path = line.substr(second + 1);
    if (line.starts_with("0::")) paths.unified = path;
    if (controllers.find(",memory,") != std::string::npos) paths.v1_memory = path;
    if (controllers.find(",cpu,") != std::string::npos) paths.v1_cpu = path;
  }
  return paths;
}

void read_cgroup_memory(const CgroupMemory& group, HostFacts& facts) {
  // Version 1 writes "no limit" as the largest multiple of a page.
  constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 62;
  const std::vector<std::string> limit_words = words_of(group.limit);
  const std::vector<std::string> used_words = words_of(group.used);
  if (limit_words.empty() || used_words.empty()) return;
  const auto limit = number_in(limit_words[0]);
  const auto used = number_in(used_words[0]);
  if (!limit || !used || *limit >= kNoLimit) return;
  // Of version 1, those of the groups below are in the total. Slab is not subtracted: of sockets it is
  // pinned.
  const std::uint64_t droppable =
      value_of(group.stat, "total_inactive_file").value_or(value_of(group.stat, "inactive_file").value_or(0));
  const std::uint64_t held = *used - std::min(*used, droppable);
  const auto known_limit = facts.find(Fact::cgroup_limit);
  const auto left = [](std::uint64_t of, std::uint64_t taken) { return of - std::min(of, taken); };
  if (known_limit && left(*known_limit, facts.get_or(Fact::cgroup_used, 0)) <= left(*limit, held)) return;
  facts.set(Fact::cgroup_limit, *limit);
  facts.set(Fact::cgroup_used, held);
}

void read_cpu_quota(std::string_view cpu_max, HostFacts& facts) {
  const std::vector<std::string> words = words_of(cpu_max);
  if (words.size() != 2) return;
  const auto quota = number_in(words[0]);
  const auto period = number_in(words[1]);
  if (!quota || !period || *period == 0) return;  // "max", or -1 in version 1
  const std::uint64_t millicores = *quota * 1000 / *period;
  facts.set(Fact::cpu_millicores, std::min(millicores, facts.get_or(Fact::cpu_millicores, millicores)));
}

}  // namespace onrush
