// Any bytes as a server's GraphQL message, as a document and as a value put into JSON: no crash, an id only
// if it is written as ours are, and a value that comes back from the JSON as it went in.
#include "core/graphql.h"
#include "core/graphql_document.h"
#include "core/json_template.h"
#include "core/utf8.h"
#include "tests/fuzz/fuzz.h"

using namespace onrush;

namespace {

std::vector<std::uint8_t> padded(std::string_view text) {
  std::vector<std::uint8_t> bytes(text.begin(), text.end());
  bytes.resize(text.size() + kJsonPadding);
  bytes.shrink_to_fit();
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  static JsonReader json{1 << 16};
  static const GraphqlReader reader;
  const std::vector<std::uint8_t> bytes = padded(text);
  const GraphqlMessage message = reader.read(json, std::span{bytes}.first(size));
  if (message.id != 0) {
    ONRUSH_CHECK(text.find(std::to_string(message.id)) != std::string_view::npos);
    ONRUSH_CHECK(message.type != GraphqlType::none);
  }
  ONRUSH_CHECK(message.payload.size() <= size);

  const auto document = parse_graphql(text);
  if (document)
    for (const GraphqlVariable& variable : document->variables)
      ONRUSH_CHECK(!variable.name.empty() && !variable.type.empty() &&
                   document->find(variable.name) != nullptr);
  else
    ONRUSH_CHECK(document.error().offset <= size && !document.error().message.empty());

  std::string quoted;
  append_json_string(text, quoted);
  if (size > 1000 || !is_utf8(text)) return 0;
  const std::vector<std::uint8_t> again = padded("{\"v\":" + quoted + "}");
  static const JsonPointer kValue = JsonPointer::parse("/v").value();
  ONRUSH_CHECK(json.begin(std::span{again}.first(again.size() - kJsonPadding)));
  const auto value = json.string(kValue);
  ONRUSH_CHECK(value && *value == text);
  return 0;
}
