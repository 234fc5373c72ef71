// Draws a run while it runs: a block redrawn in place on a terminal, a line now and then elsewhere, nothing
// if quiet.
//
// Why: whatever else is printed meanwhile (log lines) must appear above the block, so one object owns the
// output. Owner: any thread; calls are serialised inside. Never waits for a terminal that has been stopped
// (ctrl-s): a frame that does not fit is left out. Always: the cursor stands at the begin of the line below
// the block and nothing of the terminal's state is changed, so even SIGKILL leaves it usable.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/view_text.h"
#include "core/live.h"

namespace onrush {

enum class Drawing : std::uint8_t {
  block,  ///< in place, four times a second
  lines,  ///< one line every five seconds
  quiet,  ///< neither; log lines only
};

/// How to draw on this stream: a block only on a terminal that is not dumb, and without NO_COLOR.
[[nodiscard]] Drawing drawing_on(int fd, bool quiet);
/// Colour, width and character set of this stream; 100 columns where it has no width.
[[nodiscard]] ViewStyle style_of(int fd);

class Terminal {
 public:
  struct Options {
    Drawing drawing = Drawing::block;
    bool unicode = true;
    std::string http;  ///< shown below the block, "" = nowhere
  };

  /// `fd` stays the caller's and must outlive this.
  Terminal(int fd, Options options);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// Draws if it is time to. `now_us` is any clock that never goes back.
  void show(const Live& live, std::int64_t now_us);
  /// When the next show() will draw; nothing before the first and when quiet.
  [[nodiscard]] std::optional<std::int64_t> next_us() const;
  /// Prints a line above the block; while the terminal is stopped it is kept, up to 64 KiB in all.
  void log(std::string_view line);
  /// Takes the block away; show() does nothing from then on, log() still prints.
  void finish();

 private:
  struct Size {
    int columns;
    int rows;
  };
  [[nodiscard]] Size size() const;
  [[nodiscard]] bool in_background() const;
  [[nodiscard]] int rows_drawn(int columns) const;
  [[nodiscard]] std::string go_to_top(int columns) const;
  [[nodiscard]] std::string take_away(Size size);
  [[nodiscard]] std::string frame(Size size);
  [[nodiscard]] bool is_ready() const;
  void flush_log();
  void write_all(std::string_view text);

  const int fd_;
  const Options options_;
  mutable std::mutex mutex_;
  std::optional<Live> latest_;
  std::optional<std::int64_t> drawn_us_;
  std::vector<int> drawn_widths_;  ///< of the block's lines on the screen, empty if there is none
  std::string waiting_log_;
  bool finished_ = false;
  bool gone_ = false;  ///< the stream takes no more
};

}  // namespace onrush
