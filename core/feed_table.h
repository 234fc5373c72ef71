// The rows of a data feed, ready to be put into messages: values of all rows and columns in one piece of
// memory.
//
// Why: a million rows cost their text and four bytes a value, and a value is found by its place. Owner: the
// agent's program; immutable once filled, read by all workers. Always: every row has a value in each column.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace onrush {

class FeedTable {
 public:
  explicit FeedTable(std::uint32_t columns = 0) : columns_{columns} {}

  /// The values of a row, one a column, in order. All rows together have less than 4 GiB.
  void add(std::string_view value) {
    text_.append(value);
    ends_.push_back(static_cast<std::uint32_t>(text_.size()));
  }
  void trim() {
    text_.shrink_to_fit();
    ends_.shrink_to_fit();
  }

  [[nodiscard]] std::uint32_t rows() const noexcept {
    return columns_ == 0 ? 0 : static_cast<std::uint32_t>((ends_.size() - 1) / columns_);
  }
  [[nodiscard]] std::string_view value(std::uint32_t row, std::uint32_t column) const noexcept {
    const std::size_t place = std::size_t{row} * columns_ + column;
    return std::string_view{text_}.substr(ends_[place], ends_[place + 1] - ends_[place]);
  }
  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    return text_.capacity() + ends_.capacity() * sizeof(std::uint32_t);
  }

 private:
  std::uint32_t columns_;
  std::string text_;
  std::vector<std::uint32_t> ends_{0};  ///< of the values, the first being where the first begins
};

}  // namespace onrush
