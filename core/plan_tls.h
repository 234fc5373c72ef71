// Reads `tls:` of a plan's `connection:`.
//
// Owner: one reading of one plan.
#pragma once

#include "core/tls.h"
#include "core/yaml_reader.h"

namespace onrush {

[[nodiscard]] Tls read_tls(Reader& reader, const YamlNode& node, const std::string& what);

}  // namespace onrush
