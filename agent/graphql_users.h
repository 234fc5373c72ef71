// What the users of one worker have under way over GraphQL: ids, subscriptions, the operation that is waited
// for.
//
// Why: a Session has no room for it and a plain connection no use, so it lies beside the slab, by slot, and
// exists only if the plan speaks GraphQL. Owner: one worker. Always: an id is given once on a connection,
// from 1 up; an operation that has ended on either side has no id here any more.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/graphql.h"
#include "core/session.h"
#include "core/user_tables.h"

namespace onrush {

struct GraphqlUser {
  std::int64_t result_ns;  ///< when the awaited operation's result came; 0: not yet
  std::uint32_t last_id;   ///< the latest given on this connection
  std::uint32_t awaited;   ///< the operation that the step waits for; 0: none, or it is complete
  /// Operations whose step is over and whose complete has not come, the oldest first; 0: no more. What
  /// exceeds them is forgotten, and its messages count as late.
  std::array<std::uint32_t, 4> in_flight;
  Subprotocol protocol;

  void keep(std::uint32_t id) noexcept {
    auto place = std::find(in_flight.begin(), in_flight.end(), 0u);
    if (place == in_flight.end()) {
      std::move(in_flight.begin() + 1, in_flight.end(), in_flight.begin());
      place = in_flight.end() - 1;
    }
    *place = id;
  }
  [[nodiscard]] bool has_in_flight(std::uint32_t id) const noexcept {
    return std::find(in_flight.begin(), in_flight.end(), id) != in_flight.end();
  }
  void forget(std::uint32_t id) noexcept {
    const auto place = std::find(in_flight.begin(), in_flight.end(), id);
    if (place == in_flight.end()) return;
    std::move(place + 1, in_flight.end(), place);
    in_flight.back() = 0;
  }
};

struct GraphqlSubscription {
  std::int64_t begun_ns;
  std::uint32_t id;  ///< 0: not subscribed
  bool has_events;
};

static_assert(sizeof(GraphqlUser) == kGraphqlUserBytes);
static_assert(sizeof(GraphqlSubscription) == kSubscriptionBytes);

class GraphqlUsers {
 public:
  /// `subscriptions`: that a script of the plan names at most.
  GraphqlUsers(std::uint32_t capacity, std::size_t subscriptions)
      : users_(std::size_t{capacity} + 1),
        subscriptions_((std::size_t{capacity} + 1) * subscriptions),
        subscriptions_each_{subscriptions} {
    for (std::string* text : {&message, &scratch}) text->reserve(4096);
  }

  /// A new connection: nothing is under way.
  void connected(SlotIndex slot, Subprotocol protocol) noexcept {
    users_[slot] = {};
    users_[slot].protocol = protocol;
    for (std::size_t place = 0; place < subscriptions_each_; ++place) subscription(slot, place) = {};
  }

  [[nodiscard]] GraphqlUser& at(SlotIndex slot) noexcept { return users_[slot]; }
  [[nodiscard]] GraphqlSubscription& subscription(SlotIndex slot, std::size_t place) noexcept {
    return subscriptions_[slot * subscriptions_each_ + place];
  }
  /// The place of the subscription with this id, or the number of places.
  [[nodiscard]] std::size_t place_of(SlotIndex slot, std::uint32_t id) noexcept {
    std::size_t place = 0;
    while (place < subscriptions_each_ && subscription(slot, place).id != id) ++place;
    return place;
  }
  [[nodiscard]] std::size_t places() const noexcept { return subscriptions_each_; }

  GraphqlReader reader;
  std::string message;  ///< being rendered
  std::string scratch;

 private:
  std::vector<GraphqlUser> users_;
  std::vector<GraphqlSubscription> subscriptions_;
  std::size_t subscriptions_each_;
};

}  // namespace onrush
