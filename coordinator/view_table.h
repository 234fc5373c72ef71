// A table whose columns take the room that their cells need, and that gives up its least wanted columns when
// narrow.
//
// When those are gone, texts (columns to the left) are shortened.
//
// Why: a figure that is cut in two misleads; a column that is not there does not.
// Owner: any thread; a value. Always: no line is wider than the style's width unless the columns marked to
// stay already are (the line is cut then).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "coordinator/view_text.h"

namespace onrush {

enum class Align : unsigned char { left, right };

struct Column {
  std::string title;
  Align align = Align::left;
  int wanted = 0;    ///< 0 stays whatever happens; of the others, the smallest goes first
  int at_most = 44;  ///< wider cells are cut
};

class Table {
 public:
  Table(std::vector<Column> columns, int indent, bool unicode)
      : columns_{std::move(columns)}, indent_{indent}, unicode_{unicode} {}

  /// One cell a column.
  void add_row(std::vector<Line> cells);
  /// Lines that follow the last row, indented to the begin of `column` if that is shown, else to the table's
  /// indent.
  void add_note(std::size_t column, Line note);
  /// The same with the words of a text, on as many lines as they need, `further` columns to the right.
  void add_words(std::size_t column, int further, std::string_view text, Tone tone = Tone::plain);

  [[nodiscard]] std::vector<Line> lay_out(const ViewStyle& style) const;
  [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }

  /// A cell.
  [[nodiscard]] Line cell(std::string_view text, Tone tone = Tone::plain) const;

 private:
  struct Note {
    std::size_t row;
    std::size_t column;
    Line line;
    std::string words = {};  ///< instead of the line
    int further = 0;
    Tone tone = Tone::plain;
  };
  [[nodiscard]] int width_of(std::size_t column) const;
  [[nodiscard]] std::vector<bool> shown(const std::vector<int>& widths, int width) const;
  void shorten(std::vector<int>& widths, const std::vector<bool>& shown, int width) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Line>> rows_;
  std::vector<Note> notes_;
  int indent_;
  bool unicode_;
};

}  // namespace onrush
