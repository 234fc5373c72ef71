#include "core/user_tables.h"

#include <algorithm>

namespace onrush {
namespace {

std::size_t most_subscriptions(const Steps& steps) {
  std::size_t most = 0;
  for (const Step& step : steps) {
    if (const auto* subscribe = std::get_if<SubscribeStep>(&step.what))
      most = std::max(most, subscribe->place + std::size_t{1});
    if (const auto* repeat = std::get_if<RepeatStep>(&step.what))
      most = std::max(most, most_subscriptions(repeat->body));
    if (const auto* choose = std::get_if<ChooseStep>(&step.what))
      for (const ChooseStep::Branch& branch : choose->branches)
        most = std::max(most, most_subscriptions(branch.body));
  }
  return most;
}

}  // namespace

std::size_t most_subscriptions(const Plan& plan) {
  std::size_t most = 0;
  for (const Scenario& scenario : plan.scenarios) most = std::max(most, most_subscriptions(scenario.script));
  return most;
}

std::size_t kept_bytes(const Scenario& scenario) {
  std::size_t sum = 0;
  for (const CaptureName& capture : scenario.captures) sum += kKeptLengthBytes + capture.at_most;
  return sum;
}

std::size_t table_bytes(const Plan& plan) {
  std::size_t bytes = 0;
  for (const Scenario& scenario : plan.scenarios) bytes = std::max(bytes, kept_bytes(scenario));
  if (plan.connection.graphql) bytes += kGraphqlUserBytes + most_subscriptions(plan) * kSubscriptionBytes;
  return bytes;
}

}  // namespace onrush
