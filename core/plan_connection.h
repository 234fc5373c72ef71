// Reads `connection:` of a plan.
//
// Owner: one reading of one plan.
#pragma once

#include "core/connection.h"
#include "core/yaml_reader.h"

namespace onrush {

[[nodiscard]] Connection read_connection(Reader& reader, const YamlNode& node);

}  // namespace onrush
