#include "coordinator/check_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/feed_users.h"
#include "core/format.h"
#include "core/timeline.h"

namespace onrush {
namespace {

bool names(const Scenario& scenario, std::uint32_t feed) {
  return std::find(scenario.feeds.begin(), scenario.feeds.end(), feed) != scenario.feeds.end();
}

// Sessions that arrive and take a row; only if every scenario does, as it would be a guess otherwise.
std::uint64_t arrivals_that_take(const Plan& plan, std::uint32_t feed) {
  const bool all = std::all_of(plan.scenarios.begin(), plan.scenarios.end(),
                               [&](const Scenario& scenario) { return names(scenario, feed); });
  if (!all) return 0;
  const std::vector<std::uint64_t> by_stage = arrivals_by_stage(plan);
  return std::accumulate(by_stage.begin(), by_stage.end(), std::uint64_t{0});
}

}  // namespace

void note_data(const Plan& plan, std::vector<std::string>& notes) {
  for (std::uint32_t f = 0; f < plan.data.size(); ++f) {
    const Feed& feed = plan.data[f];
    const bool used = std::any_of(plan.scenarios.begin(), plan.scenarios.end(),
                                  [&](const Scenario& scenario) { return names(scenario, f); });
    if (!used) notes.push_back(fmt::format("nothing names a column of feed '{}'", feed.name));
    if (!used || feed.take != Feed::Take::once) continue;
    const FeedUsers takers(plan, f);
    const std::uint64_t wanted = takers.users() + arrivals_that_take(plan, f);
    if (wanted <= feed.rows) continue;
    notes.push_back(fmt::format(
        "feed '{}' has {} rows, and {} sessions take one each: {} will find none and {}", feed.name,
        format_count(feed.rows), format_count(wanted), format_count(wanted - feed.rows),
        feed.on_end == Feed::OnEnd::fail ? "fail (take: cycle gives rows again)" : "not begin"));
  }
}

}  // namespace onrush
