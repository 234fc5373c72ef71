// Reads `connection:` of a plan.
//
// Owner: one reading of one plan.
#pragma once

#include "core/connection.h"
#include "core/feed.h"
#include "core/yaml_reader.h"

namespace onrush {

/// `feeds`: of the plan.
[[nodiscard]] Connection read_connection(Reader& reader, const YamlNode& node,
                                         const std::vector<Feed>& feeds);

}  // namespace onrush
