#include "core/target.h"

#include <algorithm>

#include "core/address.h"
#include "core/check.h"

namespace onrush {

std::vector<std::string> hosts_of(const std::vector<Target>& targets) {
  std::vector<std::string> hosts;
  for (const Target& target : targets) {
    if (target.addresses.empty()) hosts.push_back(target.url.host);
    hosts.insert(hosts.end(), target.addresses.begin(), target.addresses.end());
  }
  return hosts;
}

std::string describe(const std::vector<Target>& targets) {
  std::string text;
  for (const Target& target : targets) text.append(text.empty() ? "" : ", ").append(target.url.text);
  return text;
}

bool any_on_loopback(const std::vector<Target>& targets) {
  const std::vector<std::string> hosts = hosts_of(targets);
  return std::any_of(hosts.begin(), hosts.end(), [](const std::string& host) { return is_loopback(host); });
}

bool all_on_loopback(const std::vector<Target>& targets) {
  const std::vector<std::string> hosts = hosts_of(targets);
  return std::all_of(hosts.begin(), hosts.end(), [](const std::string& host) { return is_loopback(host); });
}

TargetTurn::TargetTurn(const std::vector<Target>& targets, std::uint32_t start) : credits_(targets.size()) {
  for (const Target& target : targets) {
    weights_.push_back(target.weight);
    sum_ += target.weight;
  }
  ONRUSH_CHECK(sum_ > 0);
  for (std::int64_t i = start % sum_; i > 0; --i) (void)next();
}

// Every turn each target earns its weight, and the richest pays for all: in each block of as many turns as
// the weights add up to it is chosen exactly `weight` times, and never for longer in a row than its weight
// asks (the smooth weighted round robin of nginx).
std::size_t TargetTurn::next() noexcept {
  std::size_t richest = 0;
  for (std::size_t i = 0; i < credits_.size(); ++i) {
    credits_[i] += weights_[i];
    if (credits_[i] > credits_[richest]) richest = i;
  }
  credits_[richest] -= sum_;
  return richest;
}

}  // namespace onrush
