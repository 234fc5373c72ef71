// Any bytes as a JSON message and any text as a pointer: no crash, and for a valid document the same answer
// as simdjson's other parser gives. Input: the pointer, a line end, the message.
#include <simdjson.h>

#include <algorithm>

#include "core/json_field.h"
#include "tests/fuzz/fuzz.h"

using namespace onrush;

namespace {

std::vector<std::uint8_t> padded(std::string_view text) {
  std::vector<std::uint8_t> bytes(text.begin(), text.end());
  bytes.resize(text.size() + kJsonPadding);
  bytes.shrink_to_fit();
  return bytes;
}

// Names are compared as they are written here and unescaped there, so documents with an escape are left out;
// -0 is a negative number here and 0 there.
void compare(std::string_view message, const std::string& pointer, std::optional<std::uint64_t> number) {
  if (message.find('\\') != std::string_view::npos || message.find("-0") != std::string_view::npos) return;
  simdjson::dom::parser parser;
  simdjson::dom::element root, found;
  if (parser.parse(message.data(), message.size()).get(root) != simdjson::SUCCESS) return;
  std::uint64_t expected = 0;
  const bool is_number = root.at_pointer(pointer).get(found) == simdjson::SUCCESS &&
                         found.get_uint64().get(expected) == simdjson::SUCCESS;
  ONRUSH_CHECK(number == (is_number ? std::optional{expected} : std::nullopt));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input{reinterpret_cast<const char*>(data), size};
  const std::size_t line_end = std::min(input.find('\n'), input.size());
  const std::string pointer_text{input.substr(0, line_end)};
  const std::string_view message = input.substr(std::min(line_end + 1, input.size()));
  const auto pointer = JsonPointer::parse(pointer_text);
  static const JsonPointer kSequence = JsonPointer::parse("/seq").value();

  static JsonReader reader{1 << 16};
  const std::vector<std::uint8_t> bytes = padded(message);
  const bool readable = reader.begin(std::span{bytes}.first(message.size()));
  const std::optional<std::uint64_t> first = reader.number(kSequence);
  if (pointer) {
    const std::optional<std::uint64_t> number = reader.number(*pointer);
    if (number) ONRUSH_CHECK(reader.real(*pointer) == static_cast<double>(*number));
    if (const auto text = reader.text(*pointer)) ONRUSH_CHECK(text->size() <= message.size());
    if (readable && message.size() <= 1 << 16) compare(message, pointer_text, number);
  }
  // What was asked between makes no difference, unless it found the message broken.
  const std::optional<std::uint64_t> again = reader.number(kSequence);
  ONRUSH_CHECK(again == first || !again);
  return 0;
}
