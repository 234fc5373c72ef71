#include "agent/feed_rows.h"

#include "core/random.h"

namespace onrush {

FeedRows::FeedRows(const Program& program, Share agent, Share worker, std::uint32_t slots)
    : program_{program}, agent_{agent}, worker_{worker.index / agent.count, worker.count / agent.count} {
  for (std::uint32_t feed = 0; feed < program.feeds.size(); ++feed) {
    FeedUsers takers(program.plan, feed);
    const std::uint64_t users = takers.users(agent);
    feeds_.push_back({std::move(takers), users});
  }
  rows_.resize(std::size_t{slots} * feeds_.size());
}

std::optional<std::uint32_t> FeedRows::take(std::uint32_t slot, std::uint32_t scenario,
                                            std::optional<std::uint64_t> j, std::uint64_t user) noexcept {
  const std::vector<std::uint32_t>& named = program_.plan.scenarios[scenario].feeds;
  std::uint32_t* const rows = rows_.data() + std::size_t{slot} * feeds_.size();
  for (const std::uint32_t feed : named) {
    const auto row = row_of(feed, scenario, j, user);
    if (!row) return feed;
    rows[feed] = static_cast<std::uint32_t>(*row);
  }
  if (!j)
    for (const std::uint32_t feed : named) ++feeds_[feed].arrived;
  return std::nullopt;
}

std::optional<std::uint64_t> FeedRows::row_of(std::uint32_t feed, std::uint32_t scenario,
                                              std::optional<std::uint64_t> j,
                                              std::uint64_t user) const noexcept {
  const Cursor& cursor = feeds_[feed];
  const std::uint64_t rows = program_.feeds[feed].rows();
  if (rows == 0) return std::nullopt;
  const Feed::Take take = program_.plan.data[feed].take;
  if (take == Feed::Take::random) {
    const std::uint64_t number = mix(program_.plan.seed ^ mix(user ^ mix(~std::uint64_t{feed})));
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(number) * rows) >> 64);
  }
  const std::uint64_t place = j ? cursor.takers.place_in(agent_, scenario, *j)
                                : cursor.users + worker_.index + cursor.arrived * worker_.count;
  if (take == Feed::Take::cycle) return place % rows;
  return place < rows ? std::optional{place} : std::nullopt;
}

}  // namespace onrush
