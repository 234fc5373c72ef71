#include "core/json_field.h"

#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <charconv>

namespace onrush {

namespace ondemand = simdjson::ondemand;

static_assert(kJsonPadding >= simdjson::SIMDJSON_PADDING);

namespace {

// simdjson keeps one place a level of nesting; nobody points deeper than this.
constexpr std::size_t kMaxTokens = 64;

std::optional<std::size_t> index_of(std::string_view token) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), index);
  const bool whole = error == std::errc{} && end == token.data() + token.size();
  if (!whole || (token.size() > 1 && token.front() == '0')) return std::nullopt;
  return index;
}

// These leave a document as it was for the next pointer; after any other error simdjson has given it up, and
// even going back to its begin is not allowed.
bool is_harmless(simdjson::error_code error) {
  return error == simdjson::SUCCESS || error == simdjson::NO_SUCH_FIELD ||
         error == simdjson::INCORRECT_TYPE || error == simdjson::INDEX_OUT_OF_BOUNDS ||
         error == simdjson::NUMBER_ERROR;
}

// A number, true, false or null with the blanks behind it, as it is written.
simdjson::simdjson_result<std::string_view> raw_token(ondemand::document& document) {
  return document.raw_json_token();
}
simdjson::simdjson_result<std::string_view> raw_token(ondemand::value& value) {
  return value.raw_json_token();
}

// A token begins like what it claims to be; this looks at the rest of it.
bool is_scalar(std::string_view token) {
  if (token == "true" || token == "false" || token == "null") return true;
  return token.find_first_not_of("+-.0123456789eE") == std::string_view::npos;
}

}  // namespace

Expected<JsonPointer, std::string> JsonPointer::parse(std::string_view text) {
  JsonPointer pointer;
  if (text.empty()) return pointer;
  if (text.front() != '/') return Unexpected{"a JSON pointer begins with '/'; write /" + std::string{text}};
  while (!text.empty()) {
    text.remove_prefix(1);
    const std::string_view token = text.substr(0, text.find('/'));
    text.remove_prefix(token.size());
    std::string name;
    for (std::size_t i = 0; i < token.size(); ++i) {
      if (token[i] != '~') {
        name += token[i];
        continue;
      }
      ++i;
      if (i == token.size() || (token[i] != '0' && token[i] != '1'))
        return Unexpected{std::string{"in a JSON pointer '~' is written ~0, and '/' within a name ~1"}};
      name += token[i] == '0' ? '~' : '/';
    }
    if (pointer.tokens_.size() == kMaxTokens)
      return Unexpected{std::string{"a JSON pointer has at most 64 parts"}};
    pointer.tokens_.push_back({std::move(name), index_of(token)});
  }
  return pointer;
}

struct JsonReader::Parser {
  explicit Parser(std::size_t max_bytes) : parser{max_bytes}, max_message_bytes{max_bytes} {}

  /// Calls `read` with what the pointer points to, the document itself or a value in it, which answer alike;
  /// `read` says how that went.
  template <class Read>
  void visit(const JsonPointer& pointer, Read read) {
    if (!readable) return;
    document.rewind();
    readable = is_harmless(walk(pointer.tokens_, read));
  }

  ondemand::parser parser;
  std::size_t max_message_bytes;
  ondemand::document document;
  bool readable = false;

 private:
  template <class Read>
  simdjson::error_code walk(std::span<const JsonPointer::Token> tokens, Read& read) {
    if (tokens.empty()) return read(document);
    ondemand::value value;
    if (const auto error = step(document, tokens.front()).get(value)) return error;
    for (const JsonPointer::Token& token : tokens.subspan(1)) {
      ondemand::value inner;
      if (const auto error = step(value, token).get(inner)) return error;
      value = inner;
    }
    return read(value);
  }

  template <class Place>
  static simdjson::simdjson_result<ondemand::value> step(Place& place, const JsonPointer::Token& token) {
    ondemand::json_type type;
    if (const auto error = place.type().get(type)) return error;
    if (type == ondemand::json_type::object) {
      ondemand::object object;
      if (const auto error = place.get_object().get(object)) return error;
      return object.find_field(token.name);
    }
    if (type != ondemand::json_type::array) return simdjson::INCORRECT_TYPE;
    if (!token.index) return simdjson::NO_SUCH_FIELD;
    ondemand::array array;
    if (const auto error = place.get_array().get(array)) return error;
    return array.at(*token.index);
  }
};

JsonReader::JsonReader(std::size_t max_message_bytes)
    : parser_{std::make_unique<Parser>(max_message_bytes)} {}
JsonReader::~JsonReader() = default;
JsonReader::JsonReader(JsonReader&&) noexcept = default;
JsonReader& JsonReader::operator=(JsonReader&&) noexcept = default;

bool JsonReader::begin(std::span<const std::uint8_t> message) noexcept {
  Parser& p = *parser_;
  p.readable = false;
  if (message.empty() || message.size() > p.max_message_bytes) return false;
  // In powers of two, so that messages that grow byte by byte do not allocate each time.
  if (message.size() > p.parser.capacity()) {
    const std::size_t capacity = std::min(std::bit_ceil(message.size()), p.max_message_bytes);
    if (p.parser.allocate(capacity) != simdjson::SUCCESS) return false;
  }
  const simdjson::padded_string_view padded{message.data(), message.size(), message.size() + kJsonPadding};
  p.readable = p.parser.iterate(padded).get(p.document) == simdjson::SUCCESS;
  return p.readable;
}

std::optional<std::uint64_t> JsonReader::number(const JsonPointer& pointer) noexcept {
  std::optional<std::uint64_t> found;
  parser_->visit(pointer, [&](auto& value) {
    std::uint64_t number = 0;
    const simdjson::error_code error = value.get_uint64().get(number);
    if (error == simdjson::SUCCESS) found = number;
    return error;
  });
  return found;
}

std::optional<double> JsonReader::real(const JsonPointer& pointer) noexcept {
  std::optional<double> found;
  parser_->visit(pointer, [&](auto& value) {
    double number = 0;
    const simdjson::error_code error = value.get_double().get(number);
    if (error == simdjson::SUCCESS) found = number;
    return error;
  });
  return found;
}

std::optional<std::string_view> JsonReader::text(const JsonPointer& pointer) noexcept {
  std::optional<std::string_view> found;
  parser_->visit(pointer, [&](auto& value) -> simdjson::error_code {
    ondemand::json_type type;
    if (const auto error = value.type().get(type)) return error;
    std::string_view text;
    if (type == ondemand::json_type::string) {
      const simdjson::error_code error = value.get_string().get(text);
      if (error == simdjson::SUCCESS) found = text;
      return error;
    }
    if (type == ondemand::json_type::object || type == ondemand::json_type::array)
      return simdjson::INCORRECT_TYPE;
    if (const auto error = raw_token(value).get(text)) return error;
    text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
    if (is_scalar(text)) found = text;
    return simdjson::SUCCESS;
  });
  return found;
}

}  // namespace onrush
