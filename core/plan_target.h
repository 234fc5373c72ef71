// Reads `target:` of a plan, and --target.
//
// Owner: one reading of one plan.
#pragma once

#include "core/target.h"
#include "core/yaml_reader.h"

namespace onrush {

/// An address; a map of it and how to reach it; or a list of either. Always at least one, perhaps empty after
/// a mistake.
[[nodiscard]] std::vector<Target> read_targets(Reader& reader, const YamlNode& node);
/// What --target says.
[[nodiscard]] std::vector<Target> read_given_target(Reader& reader, const std::string& text);

}  // namespace onrush
