#include "core/preflight.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/address.h"
#include "core/format.h"
#include "core/timeline.h"
#include "core/user_tables.h"

namespace onrush {

namespace {

// Users who are all due at once are opened as fast as two cores can (docs/operations.md); within a tenth of a
// second if they are few.
constexpr double kFastestConnects = 40'000;
constexpr double kAtOnce_s = 0.1;

std::uint64_t divided_up(std::uint64_t n, std::uint64_t by) { return n / by + (n % by != 0 ? 1 : 0); }

const char* plural(std::uint64_t n, const char* one, const char* many) { return n == 1 ? one : many; }

bool listens(const Steps& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const Step& step) {
    if (const auto* repeat = std::get_if<RepeatStep>(&step.what)) return listens(repeat->body);
    if (const auto* choose = std::get_if<ChooseStep>(&step.what))
      return std::any_of(choose->branches.begin(), choose->branches.end(),
                         [](const ChooseStep::Branch& branch) { return listens(branch.body); });
    return std::holds_alternative<ListenStep>(step.what);
  });
}

std::uint64_t most_listeners(const Plan& plan, std::uint64_t peak) {
  std::uint64_t most = 0;
  bool arrive = false;
  for (const StageTimeline& stage : timeline(plan)) {
    std::uint64_t now = 0;
    for (std::size_t s = 0; s < plan.scenarios.size(); ++s) {
      if (!listens(plan.scenarios[s].script)) continue;
      now += stage.users_at_end[s];
      arrive = arrive || !stage.arrivals.empty();
    }
    most = std::max(most, now);
  }
  return arrive ? peak : most;  // sessions of the open model: perhaps all
}

double fastest_connects(const Plan& plan) {
  double fastest = 0;
  for (const StageTimeline& stage : timeline(plan)) {
    double at_once = 0;
    for (const UserChange& c : stage.users)
      if (c.to > c.from && c.over_s == 0) at_once += static_cast<double>(c.to - c.from);
    fastest = std::max({fastest, stage.asked_rate, at_once / kAtOnce_s});
  }
  return std::min(fastest, kFastestConnects);
}

Check descriptors(const PlanNeed& need, const AgentPlace& place, const HostFacts& facts) {
  const std::uint64_t needed = place.connections + kReservedDescriptors;
  Check check{.name = "open files of an agent",
              .needed = format_count(needed),
              .found = format_count(place.descriptor_limit)};
  if (needed <= place.descriptor_limit) return check;
  check.grade = CheckGrade::refused;
  check.why = fmt::format("{} needs {} sockets but may open {} files (ulimit -n), {} of them for itself",
                          place.agent, format_count(place.connections), format_count(place.descriptor_limit),
                          format_count(kReservedDescriptors));
  const std::uint64_t limit = divided_up(needed, 1000) * 1000;
  check.remedies.push_back(
      {"raise it", fmt::format("ulimit -n {}            or in the unit: LimitNOFILE={}", limit, limit)});
  check.settings.push_back({Setting::Kind::descriptors, "nofile", std::to_string(limit)});
  if (limit > facts.get_or(Fact::nr_open, limit)) {
    check.remedies.insert(check.remedies.begin(),
                          {"and before it", fmt::format("sysctl -w fs.nr_open={}", limit)});
    check.settings.push_back({Setting::Kind::sysctl, "fs.nr_open", std::to_string(limit)});
  }
  if (place.descriptor_limit > kReservedDescriptors)
    check.remedies.push_back({"or spread it", fmt::format("onrush run {} --agents {}", need.plan_file,
                                                          agents_needed(need.peak, place.descriptor_limit))});
  return check;
}

/// Ports that the block has, without those that are taken: listening, reserved, and (at the route's own
/// address) in TIME_WAIT where the kernel does not take them over.
std::uint64_t ports_left(const AgentPlace& place, const HostFacts& facts) {
  const std::uint64_t occupied = std::min(place.ports_per_address, facts.get_or(Fact::occupied_ports, 0));
  const std::uint64_t ports = place.source_addresses * (place.ports_per_address - occupied);
  constexpr std::uint64_t kNever = 0;
  constexpr std::uint64_t kLoopbackOnly = 2;
  const std::uint64_t reuse = facts.get_or(Fact::time_wait_reuse, kLoopbackOnly);
  const bool kept = reuse == kNever || (reuse == kLoopbackOnly && !place.loopback);
  if (!kept || !place.chosen_by_route) return ports;
  return ports - std::min(ports, facts.get_or(Fact::time_waits, 0));
}

// Every address of a target counts as named; what names have is known to the agents only.
double busiest_share(const std::vector<Target>& targets) {
  double sum = 0;
  double most = 0;
  for (const Target& target : targets) {
    sum += target.weight;
    most = std::max(most,
                    target.weight / static_cast<double>(std::max<std::size_t>(target.addresses.size(), 1)));
  }
  return most / sum;
}

// A port is taken only towards one address of a target, so with several of them it serves several
// connections.
Check ports(const AgentPlace& place, const HostFacts& facts) {
  const std::uint64_t own = ports_left(place, facts);
  const double share = std::clamp(place.busiest_share, 1e-6, 1.0);
  const auto left = static_cast<std::uint64_t>(static_cast<double>(own) / share * (1 + 1e-9));
  Check check{.name = "local ports of an agent",
              .needed = format_count(place.connections),
              .found = format_count(left)};
  if (place.connections <= left) return check;
  check.grade = CheckGrade::refused;
  check.why = fmt::format(
      "{} needs {} sockets but has {} local ports ({} source {} x {} ports", place.agent,
      format_count(place.connections), format_count(left), format_count(place.source_addresses),
      plural(place.source_addresses, "address", "addresses"), format_count(place.ports_per_address));
  const std::uint64_t taken = place.source_addresses * place.ports_per_address - own;
  if (taken != 0) check.why += fmt::format(", {} taken", format_count(taken));
  if (share < 1)
    check.why += fmt::format("; one address of a target takes {} of the connections", format_share(share));
  check.why += ")";
  const std::uint64_t each = left / std::max<std::uint64_t>(place.source_addresses, 1);
  if (each > 0) {
    const std::uint64_t addresses = divided_up(place.connections, each);
    check.remedies.push_back(
        {"add addresses", fmt::format("onrush-agent --source-addresses RANGE, with {} addresses of this host",
                                      format_count(addresses))});
    check.settings.push_back({Setting::Kind::addresses, "", std::to_string(addresses)});
  }
  check.remedies.push_back({"or spread it", "start agents on more hosts; each has ports of its own"});
  return check;
}

}  // namespace

const char* name(CheckGrade grade) noexcept {
  switch (grade) {
    case CheckGrade::ok: return "ok";
    case CheckGrade::unknown: return "unknown";
    case CheckGrade::warning: return "warning";
    case CheckGrade::refused: return "refused";
  }
  return "unknown";
}

std::string describe(const Check& check) {
  if (check.grade == CheckGrade::warning) {
    std::string text = check.why;
    for (const Remedy& remedy : check.remedies) text += fmt::format("; {}: {}", remedy.what, remedy.command);
    return text;
  }
  std::size_t widest = 0;
  for (const Remedy& remedy : check.remedies) widest = std::max(widest, remedy.what.size());
  std::string text = "cannot run: " + check.why;
  for (const Remedy& remedy : check.remedies)
    text += fmt::format("\n  {:<{}}  {}", remedy.what + ":", widest + 1, remedy.command);
  return text;
}

std::uint64_t user_bytes_of(const Plan& plan) {
  const bool encrypts =
      std::ranges::any_of(plan.targets, [](const Target& target) { return target.url.secure; });
  return kUserBytes + (encrypts ? kTlsBytes : 0) +
         (plan.connection.deflate ? context_bytes(*plan.connection.deflate) : 0) + table_bytes(plan);
}

PlanNeed need_of(const Plan& plan, const std::string& file) {
  PlanNeed need;
  need.plan_file = file;
  need.peak = peak_sockets(plan);
  need.connects_per_s = fastest_connects(plan);
  need.listeners = most_listeners(plan, need.peak);
  need.user_bytes = user_bytes_of(plan);
  return need;
}

AgentPlace place_of(const Plan& plan, const PlanNeed& need, Share share, const SourceBlock& source) {
  // The kernel's own range, if ports are left to it.
  constexpr std::uint64_t kKernelPorts = 28'232;
  const std::uint64_t arrivals = need.peak - std::min(need.peak, peak_users(plan));
  AgentPlace place;
  place.connections = peak_users(plan, share) + divided_up(arrivals, share.count);
  place.source_addresses = std::max<std::size_t>(source.addresses.size(), 1);
  place.ports_per_address =
      source.first_port == 0 ? kKernelPorts : std::uint64_t{source.last_port} - source.first_port + 1;
  place.chosen_by_route = source.addresses.empty() || source.addresses.front().empty();
  place.loopback = any_on_loopback(dialled(plan));
  place.busiest_share = busiest_share(dialled(plan));
  return place;
}

std::vector<Check> check_agent(const PlanNeed& need, const AgentPlace& place, const HostFacts& facts) {
  return {descriptors(need, place, facts), ports(place, facts)};
}

std::uint32_t agents_needed(std::uint64_t peak, std::uint64_t descriptor_limit) {
  if (peak == 0 || descriptor_limit <= kReservedDescriptors) return 1;
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(
      std::min(divided_up(peak, descriptor_limit - kReservedDescriptors), kMost));
}

std::uint64_t memory_needed(std::uint64_t connections, bool target_on_host, std::uint64_t user_bytes) {
  return connections * (kSocketBytes * (target_on_host ? 2 : 1) + user_bytes);
}

}  // namespace onrush
