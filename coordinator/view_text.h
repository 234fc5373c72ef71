// Text for a terminal: lines that know their width in columns, carry a tone and hold nothing that could move
// a cursor.
//
// Why: close reasons, HTTP status lines and names come from strangers. Whatever enters a Line is made
// printable first, so no view has to remember it, and a line is cut by the columns it takes, not by its
// bytes. Owner: any thread; values. Always: a rendered line is no wider than its style allows and holds no
// control character but the colours of its own tones.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace onrush {

/// What the reader's terminal can do.
struct ViewStyle {
  bool colour = false;
  int width = 100;      ///< columns; at least 20 are assumed
  bool unicode = true;  ///< false: ASCII alone, marks spelt out
};

/// What a piece of text means; its colour follows from it.
enum class Tone : unsigned char { plain, strong, dim, good, warn, bad, mark };

/// Signs that have an ASCII spelling.
enum class Sign : unsigned char { running, done, held, failed, dot, cut, bar_full, bar_empty };
[[nodiscard]] const char* spell(Sign sign, bool unicode) noexcept;

/// The text with every control, bidirectional and broken character spelt out (`\x1b`, `\u202e`, `\xff`); with
/// `unicode` false every character beyond ASCII too.
[[nodiscard]] std::string printable(std::string_view text, bool unicode);

/// Columns that printable text takes.
[[nodiscard]] int display_width(std::string_view text) noexcept;

class Line {
 public:
  explicit Line(bool unicode) : unicode_{unicode} {}

  /// Appends text, made printable.
  Line& add(std::string_view text, Tone tone = Tone::plain);
  Line& add(Sign sign, Tone tone = Tone::plain);
  Line& add(const Line& other);
  /// Appends spaces until the line is `column` columns wide; at least none.
  Line& pad_to(int column);
  /// Appends text with spaces before it so that it ends `width` columns further on.
  Line& add_right(std::string_view text, int width, Tone tone = Tone::plain);

  /// The line, or what fits of it in `width` columns, the last of them telling that it was cut.
  [[nodiscard]] Line cut_to(int width) const;

  [[nodiscard]] int width() const noexcept { return width_; }
  [[nodiscard]] bool empty() const noexcept { return width_ == 0; }
  [[nodiscard]] bool unicode() const noexcept { return unicode_; }
  /// Without the newline.
  [[nodiscard]] std::string render(const ViewStyle& style) const;

 private:
  struct Span {
    std::string text;
    Tone tone;
  };
  Line& append(std::string text, Tone tone);

  std::vector<Span> spans_;
  int width_ = 0;
  bool unicode_;
};

/// Sets pieces one after another, `gap` columns apart, and goes on below column `indent` when the next would
/// not fit.
[[nodiscard]] std::vector<Line> flow(Line head, const std::vector<Line>& pieces, int gap,
                                     const ViewStyle& style);

/// The same with the words of a text.
[[nodiscard]] std::vector<Line> flow_words(Line head, std::string_view text, const ViewStyle& style,
                                           Tone tone = Tone::plain);

/// The lines, one below another, each with its newline.
[[nodiscard]] std::string render(const std::vector<Line>& lines, const ViewStyle& style);

}  // namespace onrush
