#include "core/delivery.h"

#include <algorithm>

namespace onrush {
namespace {

// Numbers further apart than this do not count broadcasts one by one, whatever the plan says of them.
constexpr std::uint64_t kMostMissing = 1'000'000;

}  // namespace

std::optional<double> DeliverySummary::reach() const noexcept {
  if (expected == 0) return std::nullopt;
  return static_cast<double>(received) / static_cast<double>(expected);
}

Deliveries::Deliveries(std::uint32_t agents, std::uint32_t scenarios, std::uint32_t listening_scenarios)
    : listening_scenarios_{listening_scenarios}, listeners_(agents), streams_(scenarios) {
  for (Stream& stream : streams_) stream.last_expected.resize(agents);
}

void Deliveries::listening(std::uint32_t agent, std::uint32_t second, std::uint64_t listeners) {
  std::vector<std::uint32_t>& history = listeners_[agent];
  const std::uint32_t before = history.empty() ? 0 : history.back();
  history.resize(std::max<std::size_t>(history.size(), second + 1), before);
  history[second] = static_cast<std::uint32_t>(std::min<std::uint64_t>(listeners, UINT32_MAX));
}

void Deliveries::add(std::uint32_t agent, std::uint32_t second, const BroadcastCount& count) {
  Stream& stream = streams_[count.scenario];
  if (count.expected > 0) stream.last_expected[agent] = count.expected;
  if (stream.folded_until && count.sequence <= *stream.folded_until) {
    Folded& folded = folded_[count.stage];
    folded.expected += count.expected;
    folded.received += count.received;
    return;
  }
  const auto [place, is_new] = stream.kept.try_emplace(count.sequence);
  Broadcast& broadcast = place->second;
  if (is_new) {
    broadcast.stage = count.stage;
    broadcast.second = second;
    broadcast.seen_by.resize(listeners_.size());
    ++kept_;
  } else if (second < broadcast.second) {
    broadcast.second = second;
    broadcast.stage = count.stage;
  }
  broadcast.expected += count.expected;
  broadcast.received += count.received;
  if (count.received > 0) {
    broadcast.first_us = std::min(broadcast.first_us, count.first_us);
    broadcast.last_us = std::max(broadcast.last_us, count.last_us);
  }
  broadcast.seen_by[agent] = true;
  while (kept_ > kKept) {
    const auto fullest =
        std::max_element(streams_.begin(), streams_.end(),
                         [](const Stream& a, const Stream& b) { return a.kept.size() < b.kept.size(); });
    fold_oldest(*fullest);
  }
}

/// Listeners of an agent that listened from one second to another without a break, as far as the gauge tells:
/// it is taken at each second's end, so who came or went within a second is not held to have been entitled.
std::uint64_t Deliveries::heard(std::uint32_t agent, std::uint32_t from, std::uint32_t to) const {
  const std::vector<std::uint32_t>& history = listeners_[agent];
  if (from == 0 || to >= history.size()) return 0;
  return *std::min_element(history.begin() + from - 1, history.begin() + to + 1);
}

/// What agents were entitled to that saw nothing of a broadcast.
std::uint64_t Deliveries::unseen(const Stream& stream, const Broadcast& broadcast) const {
  std::uint64_t expected = 0;
  for (std::uint32_t agent = 0; agent < listeners_.size(); ++agent) {
    if (broadcast.seen_by[agent]) continue;
    const std::uint64_t listeners = heard(agent, broadcast.second, broadcast.second);
    // The gauge does not tell the listeners of two scenarios apart; what the agent last expected does.
    expected += listening_scenarios_ > 1 ? std::min(listeners, stream.last_expected[agent]) : listeners;
  }
  return expected;
}

/// What was expected of numbers that nobody saw, between broadcasts seen in two seconds.
std::uint64_t Deliveries::missing(const Stream& stream, std::uint32_t from, std::uint32_t to,
                                  std::uint64_t numbers) const {
  if (numbers == 0 || numbers > kMostMissing) return 0;
  std::uint64_t listeners = 0;
  for (std::uint32_t agent = 0; agent < listeners_.size(); ++agent) {
    const std::uint64_t all = heard(agent, from, std::max(from, to));
    listeners += listening_scenarios_ > 1 ? std::min(all, stream.last_expected[agent]) : all;
  }
  return listeners * numbers;
}

void Deliveries::account(const Stream& stream, const Broadcast& broadcast, Folded& into) const {
  ++into.broadcasts;
  into.expected += std::max(broadcast.received, broadcast.expected + unseen(stream, broadcast));
  into.received += broadcast.received;
  if (broadcast.received > 0) into.spreads.record(broadcast.last_us - broadcast.first_us);
}

void Deliveries::fold_oldest(Stream& stream) {
  const auto oldest = stream.kept.begin();
  const auto& [sequence, broadcast] = *oldest;
  Folded& folded = folded_[broadcast.stage];
  account(stream, broadcast, folded);
  if (stream.folded_until)
    folded.expected +=
        missing(stream, stream.folded_second, broadcast.second, sequence - *stream.folded_until - 1);
  stream.folded_until = sequence;
  stream.folded_second = broadcast.second;
  stream.kept.erase(oldest);
  --kept_;
}

DeliverySummary Deliveries::summary(std::optional<std::uint32_t> stage) const {
  Folded sum;
  const auto wanted = [&](std::uint32_t of) { return !stage || *stage == of; };
  for (const auto& [of, folded] : folded_) {
    if (!wanted(of)) continue;
    sum.broadcasts += folded.broadcasts;
    sum.expected += folded.expected;
    sum.received += folded.received;
    sum.spreads.add(folded.spreads);
  }
  for (const Stream& stream : streams_) {
    std::optional<std::uint64_t> before = stream.folded_until;
    std::uint32_t second_before = stream.folded_second;
    for (const auto& [sequence, broadcast] : stream.kept) {
      if (wanted(broadcast.stage)) {
        account(stream, broadcast, sum);
        if (before) sum.expected += missing(stream, second_before, broadcast.second, sequence - *before - 1);
      }
      before = sequence;
      second_before = broadcast.second;
    }
  }
  DeliverySummary result{sum.broadcasts, std::max(sum.expected, sum.received), sum.received, {}, {}};
  if (sum.spreads.count() > 0) {
    result.spread_p50_us = sum.spreads.quantile_us(0.5);
    result.spread_max_us = sum.spreads.max_us();
  }
  return result;
}

}  // namespace onrush
