#include "core/source_block.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <map>
#include <optional>
#include <set>

namespace onrush {
namespace {

constexpr std::size_t kMostAddresses = 4096;
constexpr std::uint16_t kFirstPort = 1024;  // below are the privileged ports
constexpr std::uint16_t kLastPort = 65'535;

// An address as its bytes, so that IPv4 and IPv6 count upwards alike.
struct Address {
  std::array<std::uint8_t, 16> bytes{};
  std::size_t length = 0;  // 4 or 16

  static std::optional<Address> parse(std::string_view text) {
    Address address;
    const std::string terminated{text};
    if (inet_pton(AF_INET, terminated.c_str(), address.bytes.data()) == 1) return address.length = 4, address;
    if (inet_pton(AF_INET6, terminated.c_str(), address.bytes.data()) == 1)
      return address.length = 16, address;
    return std::nullopt;
  }

  [[nodiscard]] std::string text() const {
    std::array<char, INET6_ADDRSTRLEN> buffer{};
    inet_ntop(length == 4 ? AF_INET : AF_INET6, bytes.data(), buffer.data(), buffer.size());
    return buffer.data();
  }

  void increment() {
    for (std::size_t i = length; i-- > 0;)
      if (++bytes[i] != 0) return;
  }
};

using Addresses = Expected<std::vector<std::string>, std::string>;

Addresses from_to(Address first, const Address& last, std::string_view item) {
  std::vector<std::string> all;
  if (first.length != last.length || std::memcmp(first.bytes.data(), last.bytes.data(), first.length) > 0)
    return Unexpected{fmt::format("'{}' is no range: its end lies before its begin", item)};
  for (;; first.increment()) {
    if (all.size() == kMostAddresses)
      return Unexpected{fmt::format("'{}' holds more than {} addresses", item, kMostAddresses)};
    all.push_back(first.text());
    if (first.bytes == last.bytes) return all;
  }
}

Addresses from_network(Address first, std::string_view prefix, std::string_view item) {
  std::size_t bits = 0;
  const auto [end, error] = std::from_chars(prefix.data(), prefix.data() + prefix.size(), bits);
  if (error != std::errc{} || end != prefix.data() + prefix.size() || bits > first.length * 8)
    return Unexpected{fmt::format("'{}' has no prefix length from 0 to {}", item, first.length * 8)};
  Address last = first;
  for (std::size_t bit = bits; bit < first.length * 8; ++bit) {
    const auto mask = static_cast<std::uint8_t>(0x80U >> (bit % 8));
    first.bytes[bit / 8] = static_cast<std::uint8_t>(first.bytes[bit / 8] & ~mask);
    last.bytes[bit / 8] |= mask;
  }
  return from_to(first, last, item);
}

Addresses expand_item(std::string_view item) {
  const std::size_t separator = item.find_first_of("-/");
  const std::optional<Address> first = Address::parse(item.substr(0, separator));
  if (!first) return Unexpected{fmt::format("'{}' is no IPv4 or IPv6 address", item.substr(0, separator))};
  if (separator == std::string_view::npos) return std::vector<std::string>{first->text()};
  const std::string_view rest = item.substr(separator + 1);
  if (item[separator] == '/') return from_network(*first, rest, item);
  const std::optional<Address> last = Address::parse(rest);
  if (!last) return Unexpected{fmt::format("'{}' is no IPv4 or IPv6 address", rest)};
  return from_to(*first, *last, item);
}

bool is_ipv4_loopback(std::string_view host) { return host == "localhost" || host.substr(0, 4) == "127."; }

// 127.64.0.0/10 by process number, which Linux keeps below 2^22: agents of several coordinators on one
// machine, who know nothing of each other, differ too. 127.0.0.1 is left to everybody else.
constexpr std::uint32_t kLoopbackAddresses = 1U << 22;

std::string loopback_address(std::uint32_t pid) {
  const std::uint32_t key = pid % kLoopbackAddresses;
  return fmt::format("127.{}.{}.{}", 64 + (key >> 16), key >> 8 & 255, key & 255);
}

std::vector<std::string> addresses_of(const Hello& agent) {
  std::vector<std::string> all;
  for (const std::string& ranges : agent.source_addresses)
    if (const Addresses some = expand_addresses(ranges)) all.insert(all.end(), some->begin(), some->end());
  if (all.empty()) all.emplace_back();
  return all;
}

}  // namespace

Addresses expand_addresses(std::string_view ranges) {
  std::vector<std::string> all;
  while (true) {
    const std::size_t comma = ranges.find(',');
    Addresses some = expand_item(ranges.substr(0, comma));
    if (!some) return some;
    all.insert(all.end(), some->begin(), some->end());
    if (all.size() > kMostAddresses) return Unexpected{fmt::format("more than {} addresses", kMostAddresses)};
    if (comma == std::string_view::npos) return all;
    ranges.remove_prefix(comma + 1);
  }
}

std::vector<SourceBlock> deal_source_blocks(const std::vector<Hello>& agents,
                                            const std::vector<std::string>& target_hosts) {
  const bool loopback = std::any_of(target_hosts.begin(), target_hosts.end(), is_ipv4_loopback);
  std::map<std::string, std::uint32_t> on_host;  // agents of each kernel
  for (const Hello& agent : agents) ++on_host[agent.boot_id];
  std::map<std::string, std::uint32_t> dealt;
  std::set<std::uint32_t> loopback_dealt;
  std::vector<SourceBlock> blocks;
  for (const Hello& agent : agents) {
    const std::uint32_t index = dealt[agent.boot_id]++;
    // Agents of one host may share addresses, so each has its own slice of the ports.
    const std::uint32_t count = on_host[agent.boot_id];
    const std::uint32_t slice = (kLastPort - kFirstPort + 1U) / count;
    const auto first = static_cast<std::uint16_t>(kFirstPort + index * slice);
    const auto last = static_cast<std::uint16_t>(first + slice - 1);
    if (agent.source_addresses.empty() && loopback) {
      std::uint32_t key = agent.pid;
      while (!loopback_dealt.insert(key % kLoopbackAddresses).second) ++key;
      blocks.push_back({{loopback_address(key)}, kFirstPort, kLastPort, first, last});
      continue;
    }
    blocks.push_back({addresses_of(agent), first, last});
  }
  return blocks;
}

}  // namespace onrush
