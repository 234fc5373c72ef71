// A small terminal for tests: takes what is written to it and keeps the characters that a user would see.
//
// Why: the bytes of a redraw say little; where they leave the characters is what matters. Wraps at its right
// edge and scrolls at its bottom as terminals do. Knows what Terminal may send and fails on anything else.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace onrush {

class Screen {
 public:
  Screen(std::size_t columns, std::size_t rows) : columns_{columns}, rows_{rows} {}

  void write(std::string_view bytes) {
    for (std::size_t i = 0; i < bytes.size();) {
      const char c = bytes[i];
      if (c == '\x1b') {
        i = escape(bytes, i);
      } else if (c == '\r') {
        column_ = 0, ++i;
      } else if (c == '\n') {
        new_line(), ++i;
      } else {
        std::size_t end = i + 1;
        while (end < bytes.size() && (static_cast<unsigned char>(bytes[end]) & 0xC0U) == 0x80U) ++end;
        put(bytes.substr(i, end - i));
        i = end;
      }
    }
  }

  /// Breaks lines as a terminal does that became narrower.
  void narrow_to(std::size_t columns) {
    std::vector<Row> broken;
    for (std::size_t r = 0; r < lines_.size(); ++r) {
      if (r == line_) line_ = broken.size();
      Row& row = lines_[r];
      while (!row.empty() && row.back() == " ") row.pop_back();
      for (std::size_t begin = 0; begin == 0 || begin < row.size(); begin += columns)
        broken.emplace_back(row.begin() + static_cast<std::ptrdiff_t>(std::min(begin, row.size())),
                            row.begin() + static_cast<std::ptrdiff_t>(std::min(begin + columns, row.size())));
      if (line_ == lines_.size()) line_ = broken.size();
    }
    lines_ = std::move(broken);
    columns_ = columns;
  }

  /// Everything since the beginning, scrolled away or not, without trailing blanks and empty last lines.
  [[nodiscard]] std::string text() const {
    std::string text;
    for (const Row& row : lines_) {
      std::string line;
      for (const std::string& cell : row) line += cell;
      line.erase(line.find_last_not_of(' ') + 1);
      (text += line) += '\n';
    }
    while (text.size() > 1 && text.ends_with("\n\n")) text.pop_back();
    return text == "\n" ? "" : text;
  }
  [[nodiscard]] std::size_t cursor_column() const { return column_; }
  [[nodiscard]] std::size_t cursor_line() const { return line_; }

 private:
  using Row = std::vector<std::string>;

  std::size_t escape(std::string_view bytes, std::size_t at) {
    const std::size_t end = bytes.find_first_of("AJKmhl", at);
    if (end == std::string_view::npos || bytes[at + 1] != '[') {
      ADD_FAILURE() << "an escape sequence that is not expected";
      return bytes.size();
    }
    const std::string number{bytes.substr(at + 2, end - at - 2)};
    if (bytes[end] == 'A') {
      // Never beyond the top of what is on the screen.
      const std::size_t top = lines_.size() > rows_ ? lines_.size() - rows_ : 0;
      line_ = std::max(top, line_ - std::min(line_, static_cast<std::size_t>(std::atoi(number.c_str()))));
    } else if (bytes[end] == 'K') {
      lines_[line_].resize(number == "2" ? 0 : std::min(lines_[line_].size(), column_));
    } else if (bytes[end] == 'J') {
      lines_[line_].resize(std::min(lines_[line_].size(), column_));
      lines_.resize(line_ + 1);
    } else if (bytes[end] != 'm') {
      ADD_FAILURE() << "changes a state of the terminal: " << bytes.substr(at + 1, end - at);
    }
    return end + 1;
  }

  void new_line() {
    if (++line_ == lines_.size()) lines_.emplace_back();
  }

  void put(std::string_view character) {
    if (column_ == columns_) column_ = 0, new_line();
    Row& row = lines_[line_];
    if (row.size() <= column_) row.resize(column_ + 1, " ");
    row[column_++] = character;
  }

  std::size_t columns_;
  std::size_t rows_;
  std::size_t line_ = 0;
  std::size_t column_ = 0;
  std::vector<Row> lines_{1};
};

}  // namespace onrush
