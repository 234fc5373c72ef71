#include "core/json_lines.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <optional>

#include "core/nearest.h"

namespace onrush {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr std::size_t kLargestLine = 16 << 20;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

// What a string says; everything else as it stands in the line.
simdjson::error_code text_of(ondemand::value value, std::string_view& out) {
  ondemand::json_type type{};
  if (const auto error = value.type().get(type)) return error;
  auto error = simdjson::SUCCESS;
  if (type == ondemand::json_type::string) return value.get_string().get(out);
  if (type == ondemand::json_type::array) {
    ondemand::array array;
    error = value.get_array().get(array);
    if (!error) error = array.raw_json().get(out);
  } else if (type == ondemand::json_type::object) {
    ondemand::object object;
    error = value.get_object().get(object);
    if (!error) error = object.raw_json().get(out);
  } else {
    out = value.raw_json_token();
  }
  out = trimmed(out);
  return error;
}

}  // namespace

struct JsonLines::Parts {
  std::string_view text;
  std::uint64_t line = 0;
  std::string padded;
  simdjson::dom::parser checker;  // the other one looks only at what it is asked for
  ondemand::parser parser;
  std::vector<std::string> columns;
  std::vector<std::string_view> values;
  std::vector<bool> present;

  std::optional<std::string_view> next_line() {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      const std::string_view found = trimmed(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
      ++line;
      if (!found.empty()) return found;
    }
    return std::nullopt;
  }

  FeedError mistake(std::string message) const { return {line, std::move(message)}; }

  /// Calls `member(name, value)` for each of the line's object.
  template <class Member>
  Expected<bool, FeedError> read(std::string_view object, Member member) {
    if (object.size() > kLargestLine) return Unexpected{mistake("a line of more than 16 MiB")};
    padded.assign(object);
    padded.reserve(object.size() + simdjson::SIMDJSON_PADDING);
    simdjson::dom::element whole;
    if (const auto error = checker.parse(padded).get(whole))
      return Unexpected{mistake(fmt::format("not JSON: {}", simdjson::error_message(error)))};
    if (!whole.is_object()) return Unexpected{mistake("no object; each line is one, as {\"user\": \"ann\"}")};
    ondemand::document document;
    ondemand::object members;
    auto error = parser.iterate(simdjson::padded_string_view{padded.data(), object.size(), padded.capacity()})
                     .get(document);
    if (!error) error = document.get_object().get(members);
    if (error) return Unexpected{mistake(simdjson::error_message(error))};
    for (auto field : members) {
      std::string_view name;
      ondemand::value value;
      std::string_view is;
      error = field.unescaped_key().get(name);
      if (!error) error = field.value().get(value);
      if (!error) error = text_of(value, is);
      if (error) return Unexpected{mistake(simdjson::error_message(error))};
      if (auto taken = member(name, is); !taken) return taken;
    }
    return true;
  }
};

JsonLines::JsonLines(std::string_view text) : parts_{std::make_unique<Parts>()} { parts_->text = text; }
JsonLines::~JsonLines() = default;
JsonLines::JsonLines(JsonLines&&) noexcept = default;
JsonLines& JsonLines::operator=(JsonLines&&) noexcept = default;

const std::vector<std::string_view>& JsonLines::values() const noexcept { return parts_->values; }
std::uint64_t JsonLines::line() const noexcept { return parts_->line; }

Expected<std::vector<std::string>, FeedError> JsonLines::columns() {
  Parts ahead;  // the first line is the first row too
  ahead.text = parts_->text;
  const auto object = ahead.next_line();
  if (!object) return std::vector<std::string>{};
  auto read = ahead.read(*object, [&](std::string_view name, std::string_view) -> Expected<bool, FeedError> {
    parts_->columns.emplace_back(name);
    return true;
  });
  if (!read) return Unexpected{read.error()};
  parts_->values.resize(parts_->columns.size());
  parts_->present.resize(parts_->columns.size());
  return parts_->columns;
}

Expected<bool, FeedError> JsonLines::next() {
  Parts& p = *parts_;
  const auto object = p.next_line();
  if (!object) return false;
  std::fill(p.present.begin(), p.present.end(), false);
  std::size_t likely = 0;  // objects mostly have their members in the same order
  auto read =
      p.read(*object, [&](std::string_view name, std::string_view value) -> Expected<bool, FeedError> {
        std::size_t column = likely < p.columns.size() && p.columns[likely] == name ? likely : 0;
        while (column < p.columns.size() && p.columns[column] != name) ++column;
        likely = column + 1;
        if (column == p.columns.size()) return true;
        if (p.present[column])
          return Unexpected{p.mistake(fmt::format("member {} stands there twice", quoted(name)))};
        p.present[column] = true;
        p.values[column] = value;
        return true;
      });
  if (!read) return read;
  const auto absent = std::find(p.present.begin(), p.present.end(), false);
  if (absent == p.present.end()) return true;
  return Unexpected{p.mistake(fmt::format(
      "no member {}, which the first object has",
      quoted(std::string_view{p.columns[static_cast<std::size_t>(absent - p.present.begin())]})))};
}

}  // namespace onrush
