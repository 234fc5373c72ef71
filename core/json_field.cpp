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

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

// RFC 8259 section 6.
bool is_number(std::string_view text) {
  std::size_t at = 0;
  const auto take = [&](char c) { return at < text.size() && text[at] == c ? (++at, true) : false; };
  const auto take_digits = [&] {
    const std::size_t begin = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return at > begin;
  };
  take('-');
  if (!take('0') && !take_digits()) return false;
  if (take('.') && !take_digits()) return false;
  if (take('e') || take('E')) {
    if (!take('+')) take('-');
    if (!take_digits()) return false;
  }
  return at == text.size();
}

std::string_view token_of(ondemand::value& value) { return value.raw_json_token(); }
std::string_view token_of(ondemand::document&) { return {}; }  // asked of members only

template <class Number>
std::optional<Number> read_number(std::optional<std::string_view> text) {
  Number number{};
  if (!text || !is_number(*text)) return std::nullopt;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc{} || end != text->data() + text->size()) return std::nullopt;
  return number;
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

// Numbers are read here from how they are written: simdjson's readers of a document that is a single number
// do not take 20 digits with a blank behind them, and look beyond their buffer at 21.
struct JsonReader::Parser {
  explicit Parser(std::size_t max_bytes) : parser{max_bytes}, max_message_bytes{max_bytes} {}

  /// Calls `read` with what the pointer points to, the document itself or a value in it, which answer alike;
  /// `read` says how that went.
  template <class Read>
  void visit(const JsonPointer& pointer, Read read) {
    if (!readable) return;
    document.rewind();
    // A document in which simdjson met a fault is given up, and must not even be wound back.
    readable = is_harmless(walk(pointer.tokens_, read)) && document.is_alive();
  }

  /// A number, true, false or null as it is written, or what stands in its place.
  std::optional<std::string_view> scalar(const JsonPointer& pointer) {
    std::optional<std::string_view> found;
    if (!readable) return found;
    if (pointer.tokens_.empty()) return message;
    visit(pointer, [&](auto& value) {
      found = trimmed(token_of(value));
      return simdjson::SUCCESS;
    });
    return found;
  }

  ondemand::parser parser;
  std::size_t max_message_bytes;
  ondemand::document document;
  std::string_view message;  ///< without blanks around it
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
    std::size_t index = 0;
    for (auto element : array)  // array.at() would take a fault on the way for the end
      if (element.error() != simdjson::SUCCESS || index++ == *token.index) return element;
    return simdjson::INDEX_OUT_OF_BOUNDS;
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
  p.message = trimmed({reinterpret_cast<const char*>(message.data()), message.size()});
  if (p.message.empty() || message.size() > p.max_message_bytes) return false;
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
  return read_number<std::uint64_t>(parser_->scalar(pointer));
}

std::optional<double> JsonReader::real(const JsonPointer& pointer) noexcept {
  return read_number<double>(parser_->scalar(pointer));
}

std::optional<std::string_view> JsonReader::string(const JsonPointer& pointer) noexcept {
  std::optional<std::string_view> found;
  parser_->visit(pointer, [&](auto& value) {
    std::string_view text;
    const simdjson::error_code error = value.get_string().get(text);
    if (error == simdjson::SUCCESS) found = text;
    return error;
  });
  return found;
}

bool JsonReader::is_object(const JsonPointer& pointer) noexcept {
  ondemand::json_type found{};
  parser_->visit(pointer, [&](auto& value) { return value.type().get(found); });
  return found == ondemand::json_type::object;
}

std::optional<std::string_view> JsonReader::raw(const JsonPointer& pointer) noexcept {
  std::optional<std::string_view> found;
  parser_->visit(pointer, [&](auto& value) {
    std::string_view text;
    const simdjson::error_code error = simdjson::to_json_string(value).get(text);
    if (error == simdjson::SUCCESS) found = trimmed(text);
    return error;
  });
  return found;
}

std::optional<std::string_view> JsonReader::text(const JsonPointer& pointer) noexcept {
  std::optional<std::string_view> found = string(pointer);
  if (found) return found;
  found = parser_->scalar(pointer);
  const bool valid = found && (found == "true" || found == "false" || found == "null" || is_number(*found));
  return valid ? found : std::nullopt;
}

}  // namespace onrush
