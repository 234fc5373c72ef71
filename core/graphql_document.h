// A GraphQL document as far as a client must know it: which operation it holds and what its variables are.
//
// Why: a mistake in a query of a plan would otherwise be reported ten thousand times by the target; and only
// the declared type says whether `${now_us}` is to be sent as a number or as a text. Grammar: GraphQL
// (October 2021) section 2, of which selections and values are only held to balance. Owner: pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/expected.h"
#include "core/template.h"

namespace onrush {

inline constexpr std::size_t kLongestGraphql = 64 * 1024;  ///< bytes of a document
inline constexpr std::size_t kMostGraphqlVariables = 256;
inline constexpr std::size_t kDeepestGraphql = 64;  ///< brackets within brackets

enum class GraphqlOperation : std::uint8_t { query, mutation, subscription };
[[nodiscard]] const char* name(GraphqlOperation operation) noexcept;

struct GraphqlVariable {
  std::string name;  ///< without the $
  std::string type;  ///< the innermost named type: "String" of [String!]!
  bool required;     ///< not null, and without a default
};

struct GraphqlDocument {
  GraphqlOperation operation;
  std::vector<GraphqlVariable> variables;

  [[nodiscard]] const GraphqlVariable* find(std::string_view variable) const noexcept;
};

/// The one operation of a document, which may have fragments beside it. The error says where and what.
[[nodiscard]] Expected<GraphqlDocument, TemplateError> parse_graphql(std::string_view text);

}  // namespace onrush
