// Reads `connection.deflate` of a plan.
//
// Owner: one reading of one plan.
#pragma once

#include <optional>

#include "core/deflate.h"
#include "core/yaml_reader.h"

namespace onrush {

/// Nothing if compression is not to be offered.
[[nodiscard]] std::optional<DeflateOffer> read_deflate(Reader& reader, const YamlNode& node);

}  // namespace onrush
