// The stages of a plan, from YAML, and whether they make sense one after the other.
//
// Owner: one reading of one plan.
#pragma once

#include <vector>

#include "core/plan.h"
#include "core/yaml_reader.h"

namespace onrush {

inline constexpr std::size_t kMostStages = 256;
inline constexpr std::uint64_t kMostUsers = 10'000'000;

/// All stages in the order of the file. What has mistakes comes incomplete.
[[nodiscard]] std::vector<Stage> read_stages(Reader& reader, const YamlNode& node,
                                             const std::vector<Scenario>& scenarios);

/// `total` shared out by weight with largest remainders (earlier ones first among equals): the parts add up
/// exactly.
[[nodiscard]] std::vector<std::uint64_t> apportion(std::uint64_t total, const std::vector<double>& weights);

}  // namespace onrush
