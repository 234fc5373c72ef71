// Reads `tls:` of a plan's `connection:`.
//
// Owner: one reading of one plan.
#pragma once

#include "core/feed.h"
#include "core/tls.h"
#include "core/yaml_reader.h"

namespace onrush {

/// `feeds`: of the plan, whose columns may name certificates.
[[nodiscard]] Tls read_tls(Reader& reader, const YamlNode& node, const std::string& what,
                           const std::vector<Feed>& feeds);

}  // namespace onrush
