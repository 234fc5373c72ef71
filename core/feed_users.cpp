#include "core/feed_users.h"

#include <algorithm>

#include "core/check.h"
#include "core/timeline.h"

namespace onrush {
namespace {

bool names(const Scenario& scenario, std::uint32_t feed) {
  return std::find(scenario.feeds.begin(), scenario.feeds.end(), feed) != scenario.feeds.end();
}

bool arrives(const Plan& plan, const StageTimeline& stage, std::uint32_t scenario) {
  return std::any_of(stage.arrivals.begin(), stage.arrivals.end(), [&](const ArrivalChange& c) {
    return c.stream == 1 + scenario || (c.stream == 0 && plan.scenarios[scenario].weight > 0);
  });
}

}  // namespace

FeedUsers::FeedUsers(const Plan& plan, std::uint32_t feed) {
  const std::vector<StageTimeline> stages = timeline(plan);
  const std::vector<std::uint64_t> bases = user_bases(plan);
  for (std::uint32_t s = 0; s < plan.scenarios.size(); ++s) {
    if (!names(plan.scenarios[s], feed)) continue;
    Block block{s, bases[s], 0};
    for (const StageTimeline& stage : stages) {
      block.users = std::max(block.users, stage.users_at_end[s]);
      arrivals_ = arrivals_ || arrives(plan, stage, s);
    }
    users_ += block.users;
    blocks_.push_back(block);
  }
}

std::uint64_t FeedUsers::first_of(const Block& block, Share share) noexcept {
  return (share.index + share.count - block.base % share.count) % share.count;
}

std::uint64_t FeedUsers::users_of(const Block& block, Share share) noexcept {
  const std::uint64_t first = first_of(block, share);
  return block.users > first ? (block.users - first - 1) / share.count + 1 : 0;
}

std::uint64_t FeedUsers::users(Share share) const noexcept {
  std::uint64_t sum = 0;
  for (const Block& block : blocks_) sum += users_of(block, share);
  return sum;
}

std::uint32_t FeedUsers::agent_of(std::uint64_t k, std::uint32_t agents) const noexcept {
  for (const Block& block : blocks_) {
    if (k < block.users) return static_cast<std::uint32_t>((block.base + k) % agents);
    k -= block.users;
  }
  ONRUSH_CHECK(false && "there is no such user");
  return 0;
}

std::uint64_t FeedUsers::place_in(Share share, std::uint32_t scenario, std::uint64_t j) const noexcept {
  std::uint64_t before = 0;
  for (const Block& block : blocks_) {
    if (block.scenario == scenario) return before + (j - first_of(block, share)) / share.count;
    before += users_of(block, share);
  }
  ONRUSH_CHECK(false && "this scenario names no column of the feed");
  return 0;
}

}  // namespace onrush
