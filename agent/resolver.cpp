#include "agent/resolver.h"

#include <fmt/format.h>
#include <netdb.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "agent/port_allocator.h"

namespace onrush {
namespace {

// Less than the ten seconds after which the coordinator gives up a silent agent.
constexpr std::chrono::seconds kPatience{5};

using Found = Expected<std::vector<Endpoint>, std::string>;

Found ask_resolver(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(host.c_str(), nullptr, &hints, &found); error != 0)
    return Unexpected{fmt::format("host '{}' is unknown: {}", host, gai_strerror(error))};
  std::vector<Endpoint> endpoints;
  for (const addrinfo* a = found; a != nullptr; a = a->ai_next)
    if (const auto endpoint = Endpoint::from_sockaddr(a->ai_addr, a->ai_addrlen))
      endpoints.push_back(*endpoint);
  freeaddrinfo(found);
  if (endpoints.empty()) return Unexpected{fmt::format("host '{}' has no IPv4 or IPv6 address", host)};
  return endpoints;
}

struct Answer {
  std::mutex mutex;
  std::condition_variable came;
  std::optional<Found> found;
};

// A datagram socket's connect() sends nothing: it only looks for a route (as RFC 6724 section 6, rule 1
// asks).
bool has_route(Endpoint endpoint) {
  const int descriptor = socket(endpoint.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return false;
  if (endpoint.port() == 0) endpoint.set_port(1);
  const bool found = connect(descriptor, endpoint.address(), endpoint.length()) == 0;
  close(descriptor);
  return found;
}

bool is_among(const std::vector<Endpoint>& endpoints, const Endpoint& wanted) {
  return std::any_of(endpoints.begin(), endpoints.end(),
                     [&](const Endpoint& e) { return e.same_address(wanted); });
}

Found addresses_of(const Target& target, const Lookup& look_up) {
  std::vector<std::string> texts = target.addresses;
  if (texts.empty()) texts.push_back(target.url.host);
  std::vector<Endpoint> endpoints;
  for (const std::string& text : texts)
    if (const auto endpoint = Endpoint::from_text(text, 0, AF_UNSPEC)) endpoints.push_back(*endpoint);
  if (endpoints.empty()) {
    Found found = look_up(target.url.host);
    if (!found) return found;
    for (const Endpoint& endpoint : *found)
      if (endpoints.size() < kMostTargetAddresses && !is_among(endpoints, endpoint))
        endpoints.push_back(endpoint);
  }
  for (Endpoint& endpoint : endpoints) endpoint.set_port(target.url.port);
  return endpoints;
}

// Those that nothing speaks against, if there are any.
void leave_out(std::vector<Endpoint>& endpoints, const auto& is_good) {
  std::vector<Endpoint> good;
  for (const Endpoint& endpoint : endpoints)
    if (is_good(endpoint)) good.push_back(endpoint);
  if (!good.empty()) endpoints = std::move(good);
}

}  // namespace

// getaddrinfo cannot be cancelled and may take half a minute, so its thread is left behind with what it
// needs.
Found look_up(const std::string& host) {
  const auto answer = std::make_shared<Answer>();
  std::thread{[answer, host] {
    Found found = ask_resolver(host);
    const std::lock_guard lock{answer->mutex};
    answer->found = std::move(found);
    answer->came.notify_one();
  }}.detach();
  std::unique_lock lock{answer->mutex};
  if (!answer->came.wait_for(lock, kPatience, [&] { return answer->found.has_value(); }))
    return Unexpected{
        fmt::format("host '{}' is unknown: no answer in {} s; does DNS work here?", host, kPatience.count())};
  return std::move(*answer->found);
}

Expected<std::vector<std::vector<Endpoint>>, std::vector<std::string>> resolve(
    const std::vector<Target>& targets, const SourceBlock& source, const Lookup& look_up) {
  std::vector<std::vector<Endpoint>> all;
  std::vector<std::string> reasons;
  for (const Target& target : targets) {
    auto endpoints = addresses_of(target, look_up);
    if (!endpoints) {
      reasons.push_back(endpoints.error());
      continue;
    }
    if (endpoints->size() > 1) {
      leave_out(*endpoints, [](const Endpoint& endpoint) { return has_route(endpoint); });
      leave_out(*endpoints, [&](const Endpoint& endpoint) { return !why_out_of_reach(source, endpoint); });
    }
    if (const auto why = why_out_of_reach(source, endpoints->front())) reasons.push_back(*why);
    all.push_back(std::move(*endpoints));
  }
  if (!reasons.empty()) return Unexpected{std::move(reasons)};
  return all;
}

}  // namespace onrush
