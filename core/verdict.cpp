#include "core/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "core/format.h"
#include "core/script.h"

namespace onrush {
namespace {

struct Reason {
  Verdict verdict;
  std::string text;
};

using Reasons = std::vector<Reason>;

/// How often one limit was hit, and by whom.
struct LimitHit {
  std::uint64_t count = 0;
  std::set<std::string> agents;
};

std::string who(const std::set<std::string>& agents) {
  constexpr std::size_t kMostNamed = 3;
  if (agents.size() > kMostNamed) return fmt::format("{} agents", format_count(agents.size()));
  return fmt::format("{}", fmt::join(agents, ", "));
}

bool hit_own_limit(const Aggregate& aggregate) {
  const std::vector<FailureTotal> all = aggregate.failures();
  return std::any_of(all.begin(), all.end(), [](const FailureTotal& f) { return is_own_limit(f.failure); });
}

void own_limits(const Aggregate& aggregate, Reasons& reasons) {
  std::map<Failure, LimitHit> limits;
  for (const FailureTotal& total : aggregate.failures()) {
    if (!is_own_limit(total.failure)) continue;
    LimitHit& hit = limits[total.failure];
    hit.count += total.count;
    hit.agents.insert(aggregate.agents()[total.agent].name);
  }
  for (const auto& [failure, hit] : limits) {
    const bool data = is_of_data(failure);
    std::string text = data ? fmt::format("the plan's data did not serve {} sessions of {}: {}",
                                          format_count(hit.count), who(hit.agents), describe(failure))
                            : fmt::format("a limit of our own machine was hit {} times by {}: {}",
                                          format_count(hit.count), who(hit.agents), describe(failure));
    if (const std::string_view way_out = remedy(failure); !way_out.empty())
      text += fmt::format("; {}{}", way_out, data ? "" : ", see: onrush doctor");
    reasons.push_back({Verdict::invalid, std::move(text)});
  }
}

void invalid_seconds(const Aggregate& aggregate, Reasons& reasons) {
  for (std::size_t i = 0; i < aggregate.agents().size(); ++i) {
    const AgentRecord& agent = aggregate.agents()[i];
    if (agent.invalid_seconds == 0) continue;
    const auto& all = aggregate.suspects();
    const auto first = std::find_if(all.begin(), all.end(), [&](const SuspectSecond& s) {
      return s.agent == i && s.judgement.grade == Grade::invalid;
    });
    const std::string why =
        first == all.end() ? "" : fmt::format("; second {}: {}", first->second, first->judgement.cause);
    reasons.push_back({Verdict::invalid, fmt::format("{} INVALID seconds of {}{}",
                                                     format_count(agent.invalid_seconds), agent.name, why)});
  }
}

void thresholds(const Aggregate& aggregate, Reasons& reasons) {
  for (const ThresholdResult& result : aggregate.thresholds()) {
    if (result.held) continue;
    std::string value = result.value_text;
    if (!result.doubt.empty() && result.first_failed_s)
      value += fmt::format(", first in second {}", *result.first_failed_s);
    std::string text = fmt::format("threshold missed: {} ({})", result.expression, value);
    if (!result.doubt.empty()) text += "; " + result.doubt;
    reasons.push_back({Verdict::failed, std::move(text)});
  }
}

void nothing_connected(const Aggregate& aggregate, Reasons& reasons) {
  const Counters counters = aggregate.counters();
  const std::uint64_t attempted = at(counters, Counter::attempted);
  // Attempts that never left our machine say nothing about the target.
  if (attempted > at(counters, Counter::own_failed) && at(counters, Counter::opened) == 0)
    reasons.push_back(
        {Verdict::failed, fmt::format("none of {} connections opened", format_count(attempted))});
}

void not_verified(const Plan& plan, std::vector<std::string>& warnings) {
  if (plan.targets.front().url.secure && !plan.connection.tls.verify)
    warnings.emplace_back(
        "TLS: no certificate was verified (connection.tls.verify: false), so what answered may not be the "
        "target");
}

// A run of one second may be over before the first look.
void not_observed(const Aggregate& aggregate, std::vector<std::string>& warnings) {
  if (aggregate.series().rows().size() < 2) return;
  for (std::size_t i = 0; i < aggregate.observations().size(); ++i)
    if (aggregate.observations()[i].empty()) warnings.push_back(unobserved(aggregate.plan().observe[i]));
}

/// The unit of the first `listen` that takes time stamps, wherever it stands.
std::optional<TimeUnit> unit_of_stamps(const Plan& plan) {
  for (const Scenario& scenario : plan.scenarios)
    for (const Script script = compile(scenario); const Instruction& instruction : script) {
      if (instruction.op != Op::listen) continue;
      const auto& listen = std::get<ListenStep>(instruction.step->what);
      if (!listen.sent.empty() || !listen.batch_sent.empty()) return listen.unit;
    }
  return std::nullopt;
}

void early_stamps(const Aggregate& aggregate, std::vector<std::string>& warnings) {
  constexpr std::array kUnits{"ns", "us", "ms", "s"};
  const std::uint64_t early = at(aggregate.counters(), Counter::early_stamps);
  if (early == 0) return;
  const TimeUnit unit = unit_of_stamps(aggregate.plan()).value_or(TimeUnit::us);
  warnings.push_back(fmt::format(
      "broadcasts: {} in the future, and no delivery time is taken of them: is 'unit: {}' of 'listen' "
      "right, and do the clocks of the hosts agree?",
      early == 1 ? "1 time stamp lies" : format_count(early) + " time stamps lie",
      kUnits[static_cast<std::size_t>(unit)]));
}

bool asks_for_replies(const Plan& plan) {
  return std::any_of(plan.scenarios.begin(), plan.scenarios.end(), [](const Scenario& scenario) {
    const Script script = compile(scenario);
    return std::any_of(script.begin(), script.end(),
                       [](const Instruction& instruction) { return instruction.op == Op::request; });
  });
}

/// A server that answers everything with errors did answer, but nothing works.
struct GraphqlErrors {
  std::uint64_t answers = 0, refused = 0, events = 0;
};
GraphqlErrors graphql_errors(const Aggregate& aggregate) {
  GraphqlErrors errors;
  for (const FailureTotal& total : aggregate.failures()) {
    const bool refused = total.failure.cause == Cause::operation_refused;
    if (!refused && total.failure.cause != Cause::result_errors) continue;
    (total.failure.phase == Phase::request ? errors.answers
     : refused                             ? errors.refused
                                           : errors.events) += total.count;
  }
  return errors;
}

void nothing_kept(const Aggregate& aggregate, Reasons& reasons) {
  const Counters counters = aggregate.counters();
  const std::uint64_t opened = at(counters, Counter::opened);
  if (opened > 0 && at(counters, Counter::lost) - at(counters, Counter::own_lost) == opened)
    reasons.push_back({Verdict::failed, fmt::format("all {} connections were lost", format_count(opened))});
  const std::uint64_t requests = at(counters, Counter::requests);
  const auto none = [&](std::uint64_t failed, std::uint64_t all, std::string_view what) {
    if (all > 0 && failed == all)
      reasons.push_back({Verdict::failed, fmt::format("none of {} {}", format_count(all), what)});
  };
  none(at(counters, Counter::failed_requests), requests, "requests was answered");
  none(at(counters, Counter::failed_expectations), at(counters, Counter::expectations),
       "expectations was met");
  none(at(counters, Counter::failed_pings), at(counters, Counter::pings), "pings was answered");
  const GraphqlErrors errors = graphql_errors(aggregate);
  none(errors.answers, requests, "requests was answered without errors");
  none(errors.refused, at(counters, Counter::subscriptions), "subscriptions was accepted");
  none(errors.events, at(counters, Counter::events), "events came without errors");
  // A run that ends before its requests have timed out has cut all of them short: a silent target still fails
  // it.
  const std::uint64_t sent = at(counters, Counter::messages_sent);
  if (requests == 0 && sent > 0 && at(counters, Counter::messages_received) == 0 &&
      asks_for_replies(aggregate.plan()))
    reasons.push_back(
        {Verdict::failed, fmt::format("{} messages were sent and none came back", format_count(sent))});
}

}  // namespace

std::string unobserved(const Observed& observed) {
  return fmt::format(
      "observe: no process was found that listens on port {} of the coordinator's host, so '{}' was not "
      "observed",
      observed.port, observed.name);
}

const char* name(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::internal_error: return "internal error";
    case Verdict::interrupted: return "interrupted";
    case Verdict::refused: return "refused";
    case Verdict::aborted: return "aborted";
    case Verdict::invalid: return "invalid";
    case Verdict::degraded: return "degraded";
    case Verdict::failed: return "failed";
    case Verdict::passed: return "passed";
  }
  return "unknown";
}

int exit_code(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::internal_error: return 70;
    case Verdict::interrupted: return 130;
    case Verdict::refused: return 3;
    case Verdict::aborted: return 4;
    case Verdict::invalid: return 6;
    case Verdict::degraded: return 5;
    case Verdict::failed: return 99;
    case Verdict::passed: return 0;
  }
  return 70;
}

Decision decide(const RunEvents& events, const Aggregate& aggregate) {
  Reasons reasons;
  for (const std::string& broken : aggregate.broken_identities())
    reasons.push_back({Verdict::internal_error, "our own books do not balance: " + broken});
  if (events.interrupted) reasons.push_back({Verdict::interrupted, "interrupted: " + *events.interrupted});
  for (const std::string& why : events.refused) reasons.push_back({Verdict::refused, why});
  // Too few connections may be our own doing, and then the target did not make the plan end the run.
  if (events.aborted)
    reasons.push_back({hit_own_limit(aggregate) ? Verdict::invalid : Verdict::aborted,
                       "aborted by the plan: " + *events.aborted});
  if (events.out_of_memory) reasons.push_back({Verdict::invalid, *events.out_of_memory});
  for (const std::string& agent : events.lost_agents)
    reasons.push_back({Verdict::degraded, fmt::format("agent {} was lost", agent)});
  // Of a run that never began there is nothing to promise or to doubt.
  if (events.refused.empty()) {
    own_limits(aggregate, reasons);
    invalid_seconds(aggregate, reasons);
    thresholds(aggregate, reasons);
    nothing_connected(aggregate, reasons);
    if (!events.interrupted) nothing_kept(aggregate, reasons);
  }
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const Reason& a, const Reason& b) { return a.verdict < b.verdict; });
  Decision decision;
  if (!reasons.empty()) decision.verdict = reasons.front().verdict;
  for (Reason& reason : reasons) decision.reasons.push_back(std::move(reason.text));
  decision.warnings = events.warnings;
  not_verified(aggregate.plan(), decision.warnings);
  early_stamps(aggregate, decision.warnings);
  if (events.refused.empty()) not_observed(aggregate, decision.warnings);
  return decision;
}

}  // namespace onrush
