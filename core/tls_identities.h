// Client certificates by data feed: which files the row of a user names.
//
// Why: a service that knows its devices by their certificates sees a thousand users as one if all of them
// show the same. Owner: part of a Plan; immutable. Always: both templates name columns of `feed` alone, or
// none.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/template.h"

namespace onrush {

/// Different ones in a plan: each is parsed before the run, and held by the agents whose users show it.
inline constexpr std::size_t kMostIdentities = 100'000;

/// What one user shows, as names of files.
struct IdentityFiles {
  std::string certificate;
  std::string key;
  friend auto operator<=>(const IdentityFiles&, const IdentityFiles&) = default;
};

struct TlsIdentities {
  std::uint32_t feed;  ///< place in Plan::data
  Template certificate;
  Template key;
};

/// The files of the user whose row has these values, a column each.
[[nodiscard]] IdentityFiles files_of_row(const TlsIdentities& identities,
                                         std::span<const std::string_view> row);

}  // namespace onrush
