#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/plan_search.h"
#include "core/plan_stages.h"
#include "core/units.h"

namespace onrush {
namespace {

constexpr double kUnitsPerArrival = 100;

/// Figures of connections being made.
bool is_of_connecting(const Subject& subject) {
  if (const auto* figure = std::get_if<Figure>(&subject))
    return *figure == Figure::failed_connections || *figure == Figure::lost_connections ||
           *figure == Figure::connect_rate || *figure == Figure::connect_pace;
  switch (std::get<TimeStatistic>(subject).time) {
    case Time::tcp_connect:
    case Time::tls:
    case Time::tls_resumed:
    case Time::upgrade:
    case Time::handshake:
    case Time::failed_handshake:
    case Time::start_lag: return true;
    default: return false;
  }
}

}  // namespace

double units_per_load(SearchPlan::Raise raise) noexcept {
  return raise == SearchPlan::Raise::users ? 1 : kUnitsPerArrival;
}

std::optional<std::string> take_search_load(std::vector<std::pair<std::string, std::string>>& settings) {
  std::optional<std::string> load;
  for (const auto& [key, value] : settings)
    if (key == kSearchLoad) load = value;
  settings.erase(std::remove_if(settings.begin(), settings.end(),
                                [](const auto& setting) { return setting.first == kSearchLoad; }),
                 settings.end());
  return load;
}

void set_trial(Plan& plan, Reader& reader, const std::string& load) {
  const auto refuse = [&](const std::string& why) {
    reader.add({0, 0, fmt::format("--set {}={}: {}", kSearchLoad, load.substr(0, 64), why)});
  };
  if (!plan.search) return refuse("the plan has no 'search'");
  double value = 0;
  if (plan.search->raise == SearchPlan::Raise::users) {
    const auto users = parse_count(load);
    if (!users) return refuse(users.error());
    value = static_cast<double>(*users);
  } else {
    const auto rate = parse_rate(load);
    if (!rate) return refuse(rate.error());
    value = *rate;
  }
  const double units = std::round(value * units_per_load(plan.search->raise));
  if (!(units >= 1 && units <= static_cast<double>(kMostUsers) * kUnitsPerArrival))
    return refuse("there is no such load");
  set_trial(plan, static_cast<std::uint64_t>(units));
}

void set_trial(Plan& plan, std::uint64_t units) {
  const SearchPlan& search = *plan.search;
  Stage raise;
  raise.name = kRaiseStage;
  raise.over_ns = search.over_ns;
  raise.users = search.beside;
  const double load = load_of(search, units);
  if (search.raise == SearchPlan::Raise::arrivals && search.scenario)
    raise.arrivals_by_scenario[*search.scenario] = load;
  else if (search.raise == SearchPlan::Raise::arrivals)
    raise.arrivals = load;
  else if (search.scenario)
    raise.users[*search.scenario] = units;
  else {
    std::vector<double> weights;
    for (const Scenario& s : plan.scenarios) weights.push_back(s.weight);
    const auto parts = apportion(units, weights);
    for (std::size_t i = 0; i < parts.size(); ++i) raise.users[static_cast<std::uint32_t>(i)] = parts[i];
  }
  Stage hold;
  hold.name = kHoldStage;
  hold.for_ns = search.hold_ns;
  plan.stages = {std::move(raise), std::move(hold)};
  plan.thresholds = judged(search);
  // An abort that names a stage of the plan means nothing in a trial, whose stages are its own.
  plan.abort.erase(std::remove_if(plan.abort.begin(), plan.abort.end(),
                                  [](const Expression& e) { return !e.stage.empty(); }),
                   plan.abort.end());
}

std::string judged_in(const SearchPlan& search, const Expression& promise) {
  const bool whole = std::holds_alternative<Counter>(promise.subject) ||
                     (search.raise == SearchPlan::Raise::users && is_of_connecting(promise.subject));
  return promise.stage.empty() && !whole ? std::string{kHoldStage} : promise.stage;
}

std::vector<Expression> judged(const SearchPlan& search) {
  std::vector<Expression> promises = search.keep;
  for (Expression& promise : promises) promise.stage = judged_in(search, promise);
  return promises;
}

SearchRange range_of(const SearchPlan& search) {
  const double per_load = units_per_load(search.raise);
  const auto units = [&](double load) {
    return static_cast<std::uint64_t>(std::max(std::round(load * per_load), 1.0));
  };
  return {.from = units(search.from),
          .to = std::max(units(search.to), units(search.from)),
          .factor = search.factor,
          .step = units(search.step),
          .step_share = search.step_share,
          .trial_ns = search.over_ns + search.hold_ns + search.rest_ns,
          .at_most_ns = search.at_most_ns};
}

double load_of(const SearchPlan& search, std::uint64_t units) {
  return static_cast<double>(units) / units_per_load(search.raise);
}

std::string load_text(const SearchPlan& search, std::uint64_t units) {
  if (search.raise == SearchPlan::Raise::users) return fmt::format("{}", units);
  return fmt::format("{}.{:02}/s", units / 100, units % 100);
}

}  // namespace onrush
