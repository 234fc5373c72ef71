// Values that stand in a plan as YAML and travel as JSON: variables of GraphQL, payloads, `json:` of a
// message.
//
// Owner: one reading of one plan.
#pragma once

#include <string>
#include <string_view>

#include "core/json_template.h"
#include "core/yaml_reader.h"

namespace onrush {

/// Appends `node` as JSON; its texts are templates. `what` names it in messages. `type`: that GraphQL
/// declares for it, "" if none is: a plain figure is then a number, one in quotes a text.
void write_json(Reader& reader, const YamlNode& node, const std::string& what, JsonTemplate& out,
                std::string_view type = {});

}  // namespace onrush
