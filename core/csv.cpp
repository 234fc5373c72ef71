#include "core/csv.h"

#include <fmt/format.h>

#include <algorithm>

namespace onrush {
namespace {

constexpr std::size_t kMostCells = 10'000;

}  // namespace

Expected<bool, FeedError> CsvReader::next() {
  cells_.clear();
  used_ = 0;
  for (; at_ < text_.size(); ++line_) {  // empty lines
    if (text_[at_] == '\n')
      at_ += 1;
    else if (text_.substr(at_, 2) == "\r\n")
      at_ += 2;
    else
      break;
  }
  if (at_ == text_.size()) return false;
  record_line_ = line_;
  while (true) {
    if (cells_.size() == kMostCells)
      return Unexpected{FeedError{line_, fmt::format("a row has more than {} cells", kMostCells)}};
    const bool quoted = at_ < text_.size() && text_[at_] == '"';
    if (auto cell = quoted ? quoted_cell() : bare_cell(); !cell) return cell;
    if (at_ == text_.size()) return true;
    const char end = text_[at_++];
    if (end == ',') continue;
    if (end == '\r') ++at_;  // of CRLF
    ++line_;
    return true;
  }
}

// Leaves at_ at what ends the cell: a comma, a line end or the end of the text.
Expected<bool, FeedError> CsvReader::bare_cell() {
  const std::size_t end = std::min(text_.find_first_of(",\n\r\"", at_), text_.size());
  if (end < text_.size() && text_[end] == '"')
    return Unexpected{FeedError{
        line_,
        "a quote within a cell that is not quoted; put the whole cell into quotes and double this one"}};
  if (end < text_.size() && text_[end] == '\r' && text_.substr(end, 2) != "\r\n")
    return Unexpected{FeedError{line_, "a carriage return that ends no line; lines end with LF or CRLF"}};
  cells_.push_back(text_.substr(at_, end - at_));
  at_ = end;
  return true;
}

Expected<bool, FeedError> CsvReader::quoted_cell() {
  const std::uint64_t begun = line_;
  const std::size_t begin = ++at_;
  std::string* copy = nullptr;
  std::size_t copied = begin;
  while (true) {
    const std::size_t quote = text_.find('"', at_);
    if (quote == std::string_view::npos)
      return Unexpected{FeedError{begun, "a quote that begins here is never closed"}};
    line_ += static_cast<std::uint64_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                                   text_.begin() + static_cast<std::ptrdiff_t>(quote), '\n'));
    at_ = quote + 1;
    if (at_ == text_.size() || text_[at_] != '"') {
      if (copy == nullptr) {
        cells_.push_back(text_.substr(begin, quote - begin));
      } else {
        copy->append(text_, copied, quote - copied);
        cells_.emplace_back(*copy);
      }
      break;
    }
    if (copy == nullptr) {
      if (used_ == unquoted_.size()) unquoted_.emplace_back();
      copy = &unquoted_[used_++];
      copy->clear();
    }
    copy->append(text_, copied, at_ - copied);  // with one of the two quotes
    copied = ++at_;
  }
  if (at_ == text_.size() || text_[at_] == ',' || text_[at_] == '\n' || text_.substr(at_, 2) == "\r\n")
    return true;
  return Unexpected{FeedError{line_, "text behind a cell's closing quote; double a quote within a cell"}};
}

void append_csv_cell(std::string_view cell, bool first, std::string& out) {
  if (!first) out += ',';
  const bool plain = cell.find_first_of(",\"\r\n") == std::string_view::npos;
  // What would be an empty line, or a byte order mark, is put into quotes.
  const bool passed_over = first && (cell.empty() || cell.starts_with("\xef\xbb\xbf"));
  if (plain && !passed_over) {
    out += cell;
    return;
  }
  out += '"';
  for (const char c : cell) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

}  // namespace onrush
