// Comma-separated values as RFC 4180 has them, one record after another.
//
// Why: a line reader breaks quoted cells at their commas and line ends, and takes what follows an unclosed
// quote for one giant cell. Owner: one thread; the text must outlive the reader. Always: any bytes give
// records or one mistake with the line where it begins; memory is one record's. Lines end with LF or CRLF;
// empty lines are passed over; a quote stands only around a whole cell, doubled within it.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "core/expected.h"

namespace onrush {

/// A mistake in a feed's file.
struct FeedError {
  std::uint64_t line;  ///< from 1
  std::string message;
};

class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : text_{text} {}

  /// Reads a record; false if there is none left.
  Expected<bool, FeedError> next();

  /// Cells of the record that was read, until the next call.
  [[nodiscard]] const std::vector<std::string_view>& cells() const noexcept { return cells_; }
  /// Line where it begins.
  [[nodiscard]] std::uint64_t line() const noexcept { return record_line_; }

 private:
  Expected<bool, FeedError> quoted_cell();
  Expected<bool, FeedError> bare_cell();

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint64_t line_ = 1;
  std::uint64_t record_line_ = 1;
  std::vector<std::string_view> cells_;
  std::deque<std::string>
      unquoted_;  ///< cells whose doubled quotes were taken out; the first used_ are in use
  std::size_t used_ = 0;
};

/// Puts a cell behind others of its record, quoted if it has to be. A record of one empty cell is no empty
/// line.
void append_csv_cell(std::string_view cell, bool first, std::string& out);

}  // namespace onrush
