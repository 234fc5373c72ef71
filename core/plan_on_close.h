// Reads `on_close:` of a scenario: what a user does whose connection was lost.
//
// Owner: one reading of one plan.
#pragma once

#include <optional>
#include <string>

#include "core/backoff.h"
#include "core/yaml_reader.h"

namespace onrush {

inline constexpr std::uint32_t kMostAttempts = 1'000'000;
inline constexpr double kLargestFactor = 100;

/// `reconnect` or `{reconnect: {backoff: 100ms..10s, ...}}`. `owner` names the scenario in messages. What has
/// mistakes comes with its defaults.
[[nodiscard]] std::optional<Backoff> read_on_close(Reader& reader, const YamlNode& node,
                                                   const std::string& owner);

}  // namespace onrush
