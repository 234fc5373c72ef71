// Reads `headers`, `cookies` and `subprotocols`, of `connection:` or of a `connect` step.
//
// Owner: one reading of one plan.
#pragma once

#include "core/upgrade_head.h"
#include "core/yaml_reader.h"

namespace onrush {

[[nodiscard]] UpgradeFields read_upgrade_fields(Reader& reader, const Fields& fields);

}  // namespace onrush
