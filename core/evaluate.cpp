#include "core/evaluate.h"

#include <cmath>

#include "core/format.h"

namespace onrush {
namespace {

std::optional<double> ratio(double part, double whole) {
  if (!(whole > 0)) return std::nullopt;
  return part / whole;
}

std::optional<double> value_of_time(const TimeStatistic& statistic, const Histogram& samples) {
  if (statistic.kind == TimeStatistic::Kind::count) return static_cast<double>(samples.count());
  if (samples.count() == 0) return std::nullopt;
  switch (statistic.kind) {
    case TimeStatistic::Kind::mean: return samples.mean_us();
    case TimeStatistic::Kind::min: return static_cast<double>(samples.min_us());
    case TimeStatistic::Kind::max: return static_cast<double>(samples.max_us());
    case TimeStatistic::Kind::quantile: return static_cast<double>(samples.quantile_us(statistic.quantile));
    case TimeStatistic::Kind::count: break;
  }
  return std::nullopt;
}

std::optional<double> value_of_figure(Figure figure, bool share, const Evidence& evidence) {
  const auto count = [&](Counter counter) { return static_cast<double>(at(evidence.counters, counter)); };
  // What a limit of our own machine has stopped never reached the target, and what the plan has ended was not
  // answered yet: none of its failures.
  const auto of_target = [&](Counter attempts) {
    return count(attempts) - count(Counter::own_failed) - count(Counter::cancelled);
  };
  const auto part = [&](Counter counter, Counter of) -> std::optional<double> {
    return share ? ratio(count(counter), count(of)) : count(counter);
  };
  switch (figure) {
    case Figure::failed_connections: {
      const double failed = of_target(Counter::failed);
      return share ? ratio(failed, of_target(Counter::attempted)) : failed;
    }
    case Figure::lost_connections: {
      const double lost = count(Counter::lost) - count(Counter::own_lost);
      return share ? ratio(lost, count(Counter::opened)) : lost;
    }
    case Figure::failed_requests: return part(Counter::failed_requests, Counter::requests);
    case Figure::open: return static_cast<double>(evidence.open);
    case Figure::reach:
      return ratio(static_cast<double>(evidence.received), static_cast<double>(evidence.expected));
    case Figure::connect_rate: return ratio(count(Counter::opened), evidence.seconds);
    case Figure::connect_pace: return ratio(static_cast<double>(evidence.opened_of_asked), evidence.asked);
    case Figure::send_rate: return ratio(count(Counter::messages_sent), evidence.seconds);
    case Figure::receive_rate: return ratio(count(Counter::messages_received), evidence.seconds);
  }
  return std::nullopt;
}

bool is_rate(const Expression& expression) {
  const auto* figure = std::get_if<Figure>(&expression.subject);
  return figure != nullptr &&
         (*figure == Figure::connect_rate || *figure == Figure::send_rate || *figure == Figure::receive_rate);
}

bool is_share(const Expression& expression) {
  const auto* figure = std::get_if<Figure>(&expression.subject);
  return expression.share ||
         (figure != nullptr && (*figure == Figure::reach || *figure == Figure::connect_pace));
}

}  // namespace

std::optional<Time> time_of(const Expression& expression) noexcept {
  const auto* statistic = std::get_if<TimeStatistic>(&expression.subject);
  if (statistic == nullptr) return std::nullopt;
  return statistic->time;
}

std::optional<double> value_of(const Expression& expression, const Evidence& evidence) {
  if (const auto* statistic = std::get_if<TimeStatistic>(&expression.subject))
    return value_of_time(*statistic, evidence.samples);
  if (const auto* counter = std::get_if<Counter>(&expression.subject))
    return static_cast<double>(at(evidence.counters, *counter));
  return value_of_figure(std::get<Figure>(expression.subject), expression.share, evidence);
}

bool holds(const Expression& expression, std::optional<double> value) noexcept {
  return value && compare(*value, expression.comparison, expression.value);
}

std::string describe_value(const Expression& expression, std::optional<double> value) {
  if (!value) return "no samples";
  if (is_share(expression)) return format_share(*value);
  if (is_rate(expression)) return format_rate(*value);
  const auto* statistic = std::get_if<TimeStatistic>(&expression.subject);
  if (statistic != nullptr && statistic->kind != TimeStatistic::Kind::count)
    return format_time_us(std::llround(*value));
  return format_count(static_cast<std::uint64_t>(*value));
}

}  // namespace onrush
