// `parameters` of a plan and `--set`: `${name}` is replaced in every scalar before anything is typed.
//
// Why: one plan serves a laptop and a cluster; what differs is a number or two.
// Owner: one reading of one plan. Always: text is replaced once and what a parameter brings is not searched
// again for parameters, so nothing can grow without bound.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/yaml_reader.h"

namespace onrush {

using Settings = std::vector<std::pair<std::string, std::string>>;

/// Replaces parameters in all values below `root`, and reports names that are neither parameters nor
/// variables. Returns what they were replaced by, but for variables of the environment, which may be secrets
/// and stay names.
std::map<std::string, std::string> substitute_parameters(YamlTree& tree, const Settings& settings,
                                                         Reader& reader);

}  // namespace onrush
