#include "core/log_line.h"

#include <fmt/format.h>

#include "core/bytes.h"
#include "core/utf8.h"

namespace onrush {

std::string fit_to_show(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    Utf8State state = kBetweenCharacters;
    const std::size_t valid = check_utf8(state, bytes_of(text));
    // A character that breaks off belongs to the wrong byte behind it.
    std::size_t whole = valid;
    while (whole > 0 && !is_utf8(text.substr(0, whole))) --whole;
    shown += text.substr(0, whole);
    text.remove_prefix(whole);
    if (text.empty()) break;
    shown += '?';
    text.remove_prefix(1);
  }
  // C0, DEL, and C1, which UTF-8 writes as C2 80 to C2 9F: a terminal obeys them all.
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const auto byte = static_cast<unsigned char>(shown[i]);
    if (byte < 0x20 || byte == 0x7f) shown[i] = '?';
    const bool c1 = byte == 0xc2 && static_cast<unsigned char>(shown[i + 1]) < 0xa0;
    if (c1) shown.replace(i, 2, "?");
  }
  return std::string{cut_utf8(shown, kLongestLogLine)};
}

std::string describe(const LogLine& line, std::string_view scenario) {
  std::string text = fmt::format("{:.3f} s  {} {}: {}", static_cast<double>(line.at_us) / 1e6, scenario,
                                 line.user, line.text);
  if (line.unshown > 0) text += fmt::format(" (and {} not shown)", line.unshown);
  return text;
}

}  // namespace onrush
