#include "agent/port_allocator.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/check.h"

namespace onrush {
namespace {

// More than any process may have descriptors; a block of 127.0.0.0/8 would otherwise ask for 10^12 places.
constexpr std::size_t kMostEndpoints = std::size_t{1} << 21;
constexpr std::size_t kMostAddresses = 65'535;

/// What of a block reaches one target.
struct Sources {
  std::vector<Endpoint> addresses;
  std::uint32_t first_port = 0;
  std::uint32_t last_port = 0;
};

// Addresses that a loopback target has earned the agent are of no use towards another.
bool reaches(const SourceBlock& block, const Endpoint& address, const Endpoint& target) {
  if (address.family() != target.family()) return false;
  return block.first_shared_port == 0 || !address.is_loopback() || target.is_loopback();
}

Expected<Sources, std::string> sources_towards(const SourceBlock& block, const Endpoint& target) {
  Sources sources{{}, block.first_port, block.last_port};
  std::vector<std::string> texts = block.addresses;
  if (texts.empty()) texts.emplace_back();
  if (texts.size() > kMostAddresses) texts.resize(kMostAddresses);
  for (const std::string& text : texts) {
    const auto address = Endpoint::from_text(text, 0, target.family());
    if (!address) return Unexpected{fmt::format("source address '{}' is not an IP address", text)};
    if (reaches(block, *address, target)) sources.addresses.push_back(*address);
  }
  if (!sources.addresses.empty()) return sources;
  if (block.first_shared_port == 0)
    return Unexpected{
        fmt::format("source address '{}' cannot reach the target {}: one is IPv4, the other IPv6",
                    texts.front(), target.text())};
  return Sources{
      {*Endpoint::from_text("", 0, target.family())}, block.first_shared_port, block.last_shared_port};
}

}  // namespace

std::optional<std::string> why_out_of_reach(const SourceBlock& block, const Endpoint& target) {
  const auto sources = sources_towards(block, target);
  if (sources) return std::nullopt;
  return sources.error();
}

bool has_to_share(const SourceBlock& block, const Endpoint& target) {
  const auto sources = sources_towards(block, target);
  return sources && block.first_shared_port != 0 && sources->addresses.front().is_unspecified();
}

void PortAllocator::keep_at_most(std::size_t count) {
  ONRUSH_CHECK(count_ == free_.size() && first_ == 0);
  if (kernel_chooses_ || count >= count_) return;
  free_.resize(count);
  free_.shrink_to_fit();
  count_ = count;
}

Expected<PortAllocator, std::string> PortAllocator::make(const SourceBlock& block, Share part,
                                                         const Endpoint& target,
                                                         const std::vector<std::uint16_t>& skipped) {
  auto sources = sources_towards(block, target);
  if (!sources) return Unexpected{sources.error()};
  PortAllocator made;
  made.addresses_ = std::move(sources->addresses);
  made.kernel_chooses_ = sources->first_port == 0;
  if (made.kernel_chooses_) return made;

  std::vector<bool> skip(65'536);
  for (const std::uint16_t port : skipped) skip[port] = true;
  // Port by port over all addresses, so that every address carries its part of the load from the first on.
  std::uint64_t item = 0;
  for (std::uint32_t port = sources->first_port; port <= sources->last_port; ++port) {
    if (skip[port]) continue;
    for (std::uint32_t a = 0; a < made.addresses_.size(); ++a) {
      if (item++ % part.count != part.index || made.free_.size() == kMostEndpoints) continue;
      const Endpoint& address = made.addresses_[a];
      // TCP's simultaneous open would connect such a socket to itself and look like a server.
      if (port == target.port() && (address.is_unspecified() || address.same_address(target))) continue;
      made.free_.push_back(a << 16 | port);
    }
  }
  made.count_ = made.free_.size();
  return made;
}

std::optional<PortAllocator::Taken> PortAllocator::take() noexcept {
  if (kernel_chooses_) {
    const std::uint32_t address = next_address_;
    next_address_ = (next_address_ + 1) % static_cast<std::uint32_t>(addresses_.size());
    return Taken{address << 16, addresses_[address]};
  }
  if (count_ == 0) return std::nullopt;
  const Ticket ticket = free_[first_];
  first_ = (first_ + 1) % free_.size();
  --count_;
  return Taken{ticket, endpoint_of(ticket)};
}

void PortAllocator::give_back(Ticket ticket) noexcept {
  if (kernel_chooses_) return;
  ONRUSH_CHECK(count_ < free_.size());
  free_[(first_ + count_) % free_.size()] = ticket;
  ++count_;
}

std::uint64_t PortAllocator::size() const noexcept {
  return kernel_chooses_ ? addresses_.size() * std::uint64_t{28'000} : free_.size();
}

Endpoint PortAllocator::endpoint_of(Ticket ticket) const noexcept {
  Endpoint endpoint = addresses_[ticket >> 16];
  endpoint.set_port(static_cast<std::uint16_t>(ticket & 0xffff));
  return endpoint;
}

namespace {

// 0 or what bind() says to any port of the address.
int error_of_binding(Endpoint endpoint) {
  endpoint.set_port(0);
  const int descriptor = socket(endpoint.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return errno;
  const int error = bind(descriptor, endpoint.address(), endpoint.length()) == 0 ? 0 : errno;
  close(descriptor);
  return error;
}

}  // namespace

bool is_own_address(const Endpoint& endpoint) { return error_of_binding(endpoint) == 0; }

std::optional<std::string> foreign_address(const SourceBlock& block) {
  for (const std::string& address : block.addresses) {
    const auto endpoint = Endpoint::from_text(address, 0, AF_UNSPEC);
    if (!endpoint || endpoint->family() == AF_UNSPEC) continue;  // not our question, or left to the route
    if (error_of_binding(*endpoint) == EADDRNOTAVAIL)
      return fmt::format(
          "cannot run: source address {} is no address of this host\n"
          "  see what it has: ip address",
          address);
  }
  return std::nullopt;
}

}  // namespace onrush
