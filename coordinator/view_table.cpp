#include "coordinator/view_table.h"

#include <algorithm>
#include <cstddef>

#include "core/check.h"

namespace onrush {
namespace {

constexpr int kGap = 2;
constexpr int kLeastText = 12;  // below, a cut text says nothing

void put(Line& line, const Line& cell, int begin, const Column& column, int width) {
  const Line shown = cell.cut_to(width);
  line.pad_to(column.align == Align::right ? begin + width - shown.width() : begin).add(shown);
}

}  // namespace

void Table::add_row(std::vector<Line> cells) {
  ONRUSH_CHECK(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

void Table::add_note(std::size_t column, Line note) {
  ONRUSH_CHECK(!rows_.empty() && column < columns_.size());
  notes_.push_back({rows_.size() - 1, column, std::move(note)});
}

void Table::add_words(std::size_t column, int further, std::string_view text, Tone tone) {
  add_note(column, Line{unicode_});
  Note& note = notes_.back();
  note.words = text;
  note.further = further;
  note.tone = tone;
}

Line Table::cell(std::string_view text, Tone tone) const { return Line{unicode_}.add(text, tone); }

int Table::width_of(std::size_t column) const {
  int width = display_width(columns_[column].title);
  for (const auto& row : rows_) width = std::max(width, row[column].width());
  return std::min(width, columns_[column].at_most);
}

std::vector<bool> Table::shown(const std::vector<int>& widths, int width) const {
  std::vector<bool> shown(columns_.size(), true);
  for (;;) {
    int total = indent_ - kGap;
    std::size_t least = columns_.size();
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (!shown[c]) continue;
      total += widths[c] + kGap;
      if (columns_[c].wanted == 0) continue;
      if (least == columns_.size() || columns_[c].wanted < columns_[least].wanted) least = c;
    }
    if (total <= width || least == columns_.size()) return shown;
    shown[least] = false;
  }
}

void Table::shorten(std::vector<int>& widths, const std::vector<bool>& shown, int width) const {
  int excess = indent_ - kGap - width;
  for (std::size_t c = 0; c < columns_.size(); ++c)
    if (shown[c]) excess += widths[c] + kGap;
  while (excess > 0) {
    std::size_t widest = columns_.size();
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (!shown[c] || columns_[c].align == Align::right || widths[c] <= kLeastText) continue;
      if (widest == columns_.size() || widths[c] > widths[widest]) widest = c;
    }
    if (widest == columns_.size()) return;
    const int step = std::min(excess, widths[widest] - kLeastText);
    widths[widest] -= step;
    excess -= step;
  }
}

std::vector<Line> Table::lay_out(const ViewStyle& style) const {
  std::vector<int> widths(columns_.size());
  for (std::size_t c = 0; c < columns_.size(); ++c) widths[c] = width_of(c);
  const std::vector<bool> shown = this->shown(widths, style.width);
  shorten(widths, shown, style.width);
  std::vector<int> begins(columns_.size(), indent_);
  std::vector<Line> lines;
  Line head{unicode_};
  int begin = indent_;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (!shown[c]) continue;
    begins[c] = begin;
    put(head, cell(columns_[c].title, Tone::dim), begin, columns_[c], widths[c]);
    begin += widths[c] + kGap;
  }
  lines.push_back(std::move(head));
  auto note = notes_.begin();
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    Line line{unicode_};
    for (std::size_t c = 0; c < columns_.size(); ++c)
      if (shown[c]) put(line, rows_[r][c], begins[c], columns_[c], widths[c]);
    lines.push_back(std::move(line));
    for (; note != notes_.end() && note->row == r; ++note) {
      Line indented = Line{unicode_}.pad_to(begins[note->column] + note->further);
      if (note->words.empty()) {
        lines.push_back(indented.add(note->line));
        continue;
      }
      for (Line& one : flow_words(std::move(indented), note->words, style, note->tone))
        lines.push_back(std::move(one));
    }
  }
  return lines;
}

}  // namespace onrush
