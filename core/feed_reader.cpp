#include "core/feed_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "core/nearest.h"
#include "core/yaml_text.h"

namespace onrush {
namespace {

constexpr std::size_t kMostColumns = 1'000;
constexpr std::string_view kMark = "\xef\xbb\xbf";

FeedError at_byte(std::string_view bytes, std::size_t place, std::string message) {
  const auto lines = std::count(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(place), '\n');
  return {static_cast<std::uint64_t>(lines) + 1, std::move(message)};
}

std::optional<FeedError> wrong_encoding(std::string_view bytes) {
  const std::size_t nul = bytes.find('\0');
  if (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff") || nul < 2)
    return FeedError{1, "this is UTF-16, not UTF-8; save it as UTF-8"};
  if (nul != std::string_view::npos) return at_byte(bytes, nul, "a NUL byte, which no text has");
  const std::size_t bad = find_bad_utf8(bytes);
  if (bad != std::string_view::npos)
    return at_byte(bytes, bad, "a byte that is not UTF-8; save the file as UTF-8");
  return std::nullopt;
}

// Only JSON can bring one, escaped; as CSV, which agents get their rows in, it would be no text.
bool has_nul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

std::optional<FeedError> wrong_columns(const std::vector<std::string>& columns, std::uint64_t line) {
  if (columns.size() > kMostColumns)
    return FeedError{line, fmt::format("{} columns; at most {}", columns.size(), kMostColumns)};
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].empty()) return FeedError{line, fmt::format("column {} has no name", i + 1)};
    if (has_nul(columns[i]))
      return FeedError{line,
                       fmt::format("a NUL character in the name of column {}, which no text has", i + 1)};
    if (!seen.insert(columns[i]).second)
      return FeedError{line, fmt::format("two columns have the name {}", quoted(columns[i]))};
  }
  return std::nullopt;
}

Expected<std::vector<std::string>, FeedError> read_columns(CsvReader& csv) {
  const auto header = csv.next();
  if (!header) return Unexpected{header.error()};
  if (!*header) return std::vector<std::string>{};
  return std::vector<std::string>{csv.cells().begin(), csv.cells().end()};
}

Expected<std::vector<std::string>, FeedError> read_columns(JsonLines& lines) { return lines.columns(); }

}  // namespace

Expected<FeedReader, FeedError> FeedReader::open(FeedForm form, std::string_view bytes) {
  if (auto mistake = wrong_encoding(bytes)) return Unexpected{std::move(*mistake)};
  if (bytes.starts_with(kMark)) bytes.remove_prefix(kMark.size());
  FeedReader reader{form == FeedForm::csv ? Rows{CsvReader{bytes}} : Rows{JsonLines{bytes}}};
  auto columns = std::visit([](auto& rows) { return read_columns(rows); }, reader.rows_);
  if (!columns) return Unexpected{columns.error()};
  if (columns->empty())
    return Unexpected{FeedError{
        1, form == FeedForm::csv ? "the file is empty; its first line names the columns"
                                 : "the file is empty; each line is an object, as {\"user\": \"ann\"}"}};
  reader.columns_ = std::move(*columns);
  if (auto mistake = wrong_columns(reader.columns_, std::max<std::uint64_t>(reader.line(), 1)))
    return Unexpected{std::move(*mistake)};
  return reader;
}

Expected<bool, FeedError> FeedReader::next() {
  auto read = std::visit([](auto& rows) { return rows.next(); }, rows_);
  if (!read || !*read) return read;
  for (std::size_t i = 0; i < std::min(values().size(), columns_.size()); ++i)
    if (has_nul(values()[i]))
      return Unexpected{
          FeedError{line(), fmt::format("a NUL character in {}, which no text has", quoted(columns_[i]))}};
  if (values().size() == columns_.size()) return read;
  return Unexpected{FeedError{line(), fmt::format("{} cell{}, where the header has {}", values().size(),
                                                  values().size() == 1 ? "" : "s", columns_.size())}};
}

const std::vector<std::string_view>& FeedReader::values() const noexcept {
  if (const auto* csv = std::get_if<CsvReader>(&rows_)) return csv->cells();
  return std::get_if<JsonLines>(&rows_)->values();
}

std::uint64_t FeedReader::line() const noexcept {
  return std::visit([](const auto& rows) { return rows.line(); }, rows_);
}

Expected<std::uint64_t, FeedError> count_rows(FeedReader& reader) {
  for (std::uint64_t rows = 0;; ++rows) {
    auto read = reader.next();
    if (!read) return Unexpected{read.error()};
    if (!*read) return rows;
  }
}

}  // namespace onrush
