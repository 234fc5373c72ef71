// The rows of a feed's file, whatever its form.
//
// Owner: one thread; the bytes must outlive the reader. Always: any bytes give rows that have a value in each
// column, or one mistake with its line. They are UTF-8 without NUL; a byte order mark is passed over.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/csv.h"
#include "core/expected.h"
#include "core/feed.h"
#include "core/json_lines.h"

namespace onrush {

class FeedReader {
 public:
  /// Reads what comes before the rows. Errors: no UTF-8, no header, a column without a name or of a name that
  /// there is already.
  static Expected<FeedReader, FeedError> open(FeedForm form, std::string_view bytes);

  [[nodiscard]] const std::vector<std::string>& columns() const noexcept { return columns_; }
  /// Reads a row; false if there is none left. Errors: what the form forbids, a row that is longer or shorter
  /// than the header.
  Expected<bool, FeedError> next();
  /// Of the row that was read, a column each, until the next call.
  [[nodiscard]] const std::vector<std::string_view>& values() const noexcept;
  [[nodiscard]] std::uint64_t line() const noexcept;

 private:
  using Rows = std::variant<CsvReader, JsonLines>;
  explicit FeedReader(Rows rows) : rows_{std::move(rows)} {}

  Rows rows_;
  std::vector<std::string> columns_;
};

/// Reads all rows: how many there are, or the first mistake.
[[nodiscard]] Expected<std::uint64_t, FeedError> count_rows(FeedReader& reader);

}  // namespace onrush
