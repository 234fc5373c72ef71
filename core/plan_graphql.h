// What a plan says of GraphQL, from YAML to values: the protocol of its connections, and the payload of an
// operation.
//
// Owner: one reading of one plan.
#pragma once

#include <optional>

#include "core/plan.h"
#include "core/yaml_reader.h"

namespace onrush {

/// The GraphQL part of `connection`; nothing without `protocol`.
[[nodiscard]] std::optional<GraphqlConnection> read_graphql_connection(Reader& reader, const Fields& fields);

/// `query` and `variables` of a step, which wants this kind of operation. `step` is its name for messages,
/// `at` where it stands.
struct GraphqlStepAt {
  std::string_view step;
  const YamlNode& at;
};
[[nodiscard]] GraphqlPayload read_graphql_payload(Reader& reader, const Fields& fields,
                                                  GraphqlOperation wanted, const GraphqlStepAt& where);

}  // namespace onrush
