#include "coordinator/check_script.h"

#include <algorithm>
#include <cmath>

namespace onrush {

namespace {

void look(const Steps& steps, bool paced, ScriptFacts& facts) {
  for (const Step& step : steps) {
    const bool request =
        std::holds_alternative<RequestStep>(step.what) || std::holds_alternative<OperateStep>(step.what);
    facts.subscribes |= std::holds_alternative<SubscribeStep>(step.what);
    if (request || std::holds_alternative<SendStep>(step.what)) {
      facts.sends = true;
      facts.requests |= request;
      facts.paced |= paced;
      facts.paced_requests |= paced && request;
      facts.paced_sends |= paced && !request;
    }
    facts.expects |= std::holds_alternative<ExpectStep>(step.what);
    facts.pings |= std::holds_alternative<PingStep>(step.what);
    if (const auto* listen = std::get_if<ListenStep>(&step.what)) {
      facts.listens = true;
      facts.numbers_broadcasts |= !listen->sequence.empty();
      facts.stamped |= !listen->sent.empty();
      facts.batch_stamped |= !listen->batch_sent.empty();
    }
    if (const auto* choose = std::get_if<ChooseStep>(&step.what))
      for (const ChooseStep::Branch& branch : choose->branches) look(branch.body, paced, facts);
    if (const auto* repeat = std::get_if<RepeatStep>(&step.what))
      look(repeat->body, paced || repeat->every_ns.has_value(), facts);
  }
}

std::uint64_t messages_of(const Steps& steps);

// Whichever branch is taken: at least so many.
std::uint64_t messages_of(const ChooseStep& choose) {
  std::uint64_t least = UINT64_MAX;
  for (const ChooseStep::Branch& branch : choose.branches) least = std::min(least, messages_of(branch.body));
  return choose.branches.empty() ? 0 : least;
}

std::uint64_t messages_of(const Steps& steps) {
  std::uint64_t sum = 0;
  for (const Step& step : steps) {
    const bool sends = std::holds_alternative<SendStep>(step.what) ||
                       std::holds_alternative<RequestStep>(step.what) ||
                       std::holds_alternative<OperateStep>(step.what);
    sum += sends ? 1 : 0;
    if (const auto* repeat = std::get_if<RepeatStep>(&step.what))
      sum += repeat->times.value_or(1) * messages_of(repeat->body);
    if (const auto* choose = std::get_if<ChooseStep>(&step.what)) sum += messages_of(*choose);
  }
  return sum;
}

}  // namespace

ScriptFacts facts_of(const Scenario& scenario) {
  ScriptFacts facts;
  look(scenario.script, false, facts);
  for (const Step& step : scenario.script) {
    const auto* repeat = std::get_if<RepeatStep>(&step.what);
    if (repeat == nullptr || !repeat->every_ns || *repeat->every_ns <= 0) continue;
    const std::uint64_t messages = messages_of(repeat->body);
    if (messages > 0 && !facts.pace)
      facts.pace = Pace{*repeat->every_ns, repeat->times, repeat->for_ns, messages};
  }
  return facts;
}

std::uint64_t messages_within(const Pace& pace, double length_s) {
  if (pace.for_ns) length_s = std::min(length_s, static_cast<double>(*pace.for_ns) / 1e9);
  // Iteration n is due at n * every, and one due when the time is over is not begun.
  const double iterations = std::ceil(length_s * 1e9 / static_cast<double>(pace.every_ns) - 1e-9);
  auto whole = static_cast<std::uint64_t>(std::fmax(iterations, 0));
  if (pace.times) whole = std::min<std::uint64_t>(whole, *pace.times);
  return whole * pace.messages;
}

}  // namespace onrush
