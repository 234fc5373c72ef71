// JSON lines: one object a line, read as the row of a feed.
//
// Owner: one thread; the text must outlive the reader. Always: any bytes give rows or one mistake with its
// line; memory is one line's. The members of the first object are the columns; every other has them too, and
// what else it has is passed over. A string stands for its text, everything else for what is written there.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/csv.h"
#include "core/expected.h"

namespace onrush {

class JsonLines {
 public:
  explicit JsonLines(std::string_view text);
  ~JsonLines();
  JsonLines(JsonLines&&) noexcept;
  JsonLines& operator=(JsonLines&&) noexcept;

  /// Columns of the first object; empty if there is none. Once, before the first row.
  Expected<std::vector<std::string>, FeedError> columns();
  /// Reads a row; false if there is none left.
  Expected<bool, FeedError> next();

  /// Values of the row that was read, a column each, until the next call.
  [[nodiscard]] const std::vector<std::string_view>& values() const noexcept;
  [[nodiscard]] std::uint64_t line() const noexcept;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace onrush
