#include "core/plan_graphql.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/nearest.h"
#include "core/plan_json.h"

namespace onrush {
namespace {

void write_variables(Reader& reader, const YamlNode& node, const std::string& what,
                     const GraphqlDocument& document, JsonTemplate& out) {
  refuse_repeated_names(reader, node, what);
  std::vector<std::string_view> names;
  for (const GraphqlVariable& variable : document.variables) names.push_back(variable.name);
  out.append_json("{");
  for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
    const YamlNode& key = *node.children[i];
    const GraphqlVariable* variable = document.find(key.text);
    if (variable == nullptr) {
      std::string hint = did_you_mean(key.text, names);
      if (hint.empty())
        hint = names.empty() ? "; it declares none" : fmt::format("; it declares {}", all_of(names));
      reader.complain(key,
                      fmt::format("{}: the query declares no variable {}{}", what, quoted(key.text), hint));
    }
    std::string name;
    append_json_string(key.text, name);
    out.append_json(i > 0 ? "," + name + ":" : name + ":");
    write_json(reader, *node.children[i + 1], fmt::format("'{}' of {}", key.text, what), out,
               variable != nullptr ? std::string_view{variable->type} : "");
  }
  out.append_json("}");
}

bool is_given(const YamlNode* variables, std::string_view name) {
  if (variables == nullptr) return false;
  for (std::size_t i = 0; i + 1 < variables->children.size(); i += 2)
    if (variables->children[i]->text == name) return true;
  return false;
}

std::optional<GraphqlDocument> read_query(Reader& reader, const YamlNode& node, const std::string& what) {
  const std::string* text = reader.text(node, what);
  if (text == nullptr) return std::nullopt;
  if (const auto placeholder = next_placeholder(*text, 0)) {
    reader.complain_within(
        node, placeholder->begin,
        fmt::format("{} takes no '${{...}}'; declare a variable and put the template into 'variables'",
                    what));
    return std::nullopt;
  }
  auto document = parse_graphql(*text);
  if (document) return std::move(*document);
  reader.complain_within(node, document.error().offset,
                         fmt::format("{}: {}", what, document.error().message));
  return std::nullopt;
}

std::vector<Subprotocol> read_protocols(Reader& reader, const YamlNode& node, const std::string& what) {
  std::vector<Subprotocol> protocols;
  const auto take = [&](const YamlNode& item) {
    const auto word = reader.word(item, what, kSubprotocolNames);
    if (!word) return;
    const auto protocol = static_cast<Subprotocol>(*word);
    if (std::find(protocols.begin(), protocols.end(), protocol) != protocols.end())
      return reader.complain(item, fmt::format("{} names {} twice", what, quoted(item.text)));
    protocols.push_back(protocol);
  };
  if (node.kind == YamlNode::Kind::sequence) {
    if (node.children.empty()) reader.complain(node, fmt::format("{} is empty; name one", what));
    for (const YamlNode* item : node.children) take(*item);
  } else {
    take(node);
  }
  if (protocols.empty()) protocols.push_back(Subprotocol::graphql_transport_ws);
  return protocols;
}

}  // namespace

std::optional<GraphqlConnection> read_graphql_connection(Reader& reader, const Fields& fields) {
  const YamlNode* protocol = fields.find("protocol");
  if (protocol == nullptr) {
    for (const std::string_view key : {"init", "ack_timeout", "on_protocol_error"})
      if (const YamlNode* node = fields.find(key))
        reader.complain(
            *node, fmt::format("{} belongs to a GraphQL connection; write protocol: graphql-transport-ws",
                               fields.what(key)));
    return std::nullopt;
  }
  GraphqlConnection connection;
  connection.offered = read_protocols(reader, *protocol, fields.what("protocol"));
  if (const YamlNode* init = fields.find("init");
      init != nullptr && reader.is_map(*init, fields.what("init"), "{token: \"...\"}"))
    write_json(reader, *init, fields.what("init"), connection.init);
  if (const YamlNode* time = fields.find("ack_timeout"))
    connection.ack_timeout_ns = reader.duration_ns(*time, fields.what("ack_timeout"), Zero::refused)
                                    .value_or(connection.ack_timeout_ns);
  constexpr std::array<std::string_view, 2> kOnError{"count", "close"};
  if (const YamlNode* node = fields.find("on_protocol_error"))
    connection.closes_on_error =
        reader.word(*node, fields.what("on_protocol_error"), kOnError).value_or(0) == 1;
  return connection;
}

GraphqlPayload read_graphql_payload(Reader& reader, const Fields& fields, GraphqlOperation wanted,
                                    const GraphqlStepAt& where) {
  GraphqlPayload payload;
  const YamlNode* query = fields.find("query");
  const YamlNode* variables = fields.find("variables");
  if (query == nullptr) {
    if (fields.intact())
      reader.complain(where.at, fmt::format("{} is missing; write query: '{} {{ ... }}'",
                                            fields.what("query"), name(wanted)));
    return payload;
  }
  const auto document = read_query(reader, *query, fields.what("query"));
  if (!document) return payload;
  if (document->operation != wanted) {
    constexpr std::array<const char*, 3> kSteps{"query", "mutate", "subscribe"};
    reader.complain(*query, fmt::format("{} is a {}; write the step '{}'", fields.what("query"),
                                        name(document->operation),
                                        kSteps[static_cast<std::size_t>(document->operation)]));
  }
  for (const GraphqlVariable& variable : document->variables)
    if (variable.required && !is_given(variables, variable.name))
      reader.complain(*query, fmt::format("{} wants ${}, and 'variables' has no '{}'", fields.what("query"),
                                          variable.name, variable.name));
  std::string json;
  append_json_string(query->text, json);
  payload.json.append_json("{\"query\":" + json);
  if (variables != nullptr &&
      reader.is_map(*variables, fields.what("variables"), "{channel: \"user-${user}\"}")) {
    payload.json.append_json(",\"variables\":");
    write_variables(reader, *variables, fields.what("variables"), *document, payload.json);
  }
  payload.json.append_json("}");
  return payload;
}

}  // namespace onrush
