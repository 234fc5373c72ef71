// What agents keep of each user beside his session, in tables that only plans have which need them.
//
// Why: a session is 128 bytes; a plan that speaks GraphQL or keeps long values has users many times as large,
// and the preflight must know before they connect. Owner: pure. Always: what agents make their tables of is
// what is reckoned with here.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/plan.h"

namespace onrush {

/// GraphQL: ids, operations under way; and of each subscription that the script with most of them names.
inline constexpr std::size_t kGraphqlUserBytes = 40;
inline constexpr std::size_t kSubscriptionBytes = 16;
/// A kept value begins with its length.
inline constexpr std::size_t kKeptLengthBytes = 2;

/// Subscriptions that a script of the plan names at most.
[[nodiscard]] std::size_t most_subscriptions(const Plan& plan);
/// Room for all values that a user of the scenario may keep.
[[nodiscard]] std::size_t kept_bytes(const Scenario& scenario);
/// Of a user in all those tables, at most; 0 for a plan that needs none.
[[nodiscard]] std::size_t table_bytes(const Plan& plan);

}  // namespace onrush
