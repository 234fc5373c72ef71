// Any bytes as a feed's file, CSV and JSON lines: rows that have a value in each column, or a mistake with
// its line; and what is read can be written and read again.
#include "core/feed_reader.h"
#include "tests/fuzz/fuzz.h"

using namespace onrush;

namespace {

void look_at(const FeedError& error, std::string_view bytes) {
  ONRUSH_CHECK(!error.message.empty() && error.line >= 1 && error.line <= bytes.size() + 1);
}

void read(FeedForm form, std::string_view bytes) {
  auto reader = FeedReader::open(form, bytes);
  if (!reader) return look_at(reader.error(), bytes);
  ONRUSH_CHECK(!reader->columns().empty());
  std::vector<std::string> kept;
  std::string written;
  for (std::size_t i = 0; i < reader->columns().size(); ++i)
    append_csv_cell(reader->columns()[i], i == 0, written);
  written += '\n';
  while (true) {
    const auto more = reader->next();
    if (!more) return look_at(more.error(), bytes);
    if (!*more) break;
    ONRUSH_CHECK(reader->values().size() == reader->columns().size());
    for (std::size_t i = 0; i < reader->values().size(); ++i) {
      kept.emplace_back(reader->values()[i]);
      append_csv_cell(kept.back(), i == 0, written);
    }
    written += '\n';
  }
  auto again = FeedReader::open(FeedForm::csv, written);
  ONRUSH_CHECK(again.has_value() && again->columns() == reader->columns());
  std::size_t place = 0;
  while (true) {
    const auto more = again->next();
    ONRUSH_CHECK(more.has_value());
    if (!*more) break;
    for (const std::string_view value : again->values()) ONRUSH_CHECK(value == kept[place++]);
  }
  ONRUSH_CHECK(place == kept.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  read(FeedForm::csv, bytes);
  read(FeedForm::json_lines, bytes);
  return 0;
}
