// Reads `data:` of a plan: the feeds, and what is wrong with their files.
//
// Owner: one reading of one plan. Read before whatever may name a column.
#pragma once

#include <vector>

#include "core/feed.h"
#include "core/yaml_reader.h"

namespace onrush {

/// Tells the reader's templates of the feeds as well.
[[nodiscard]] std::vector<Feed> read_data(Reader& reader, const YamlNode& node);

}  // namespace onrush
