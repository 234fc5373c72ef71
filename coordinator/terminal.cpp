#include "coordinator/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "coordinator/view.h"

namespace onrush {
namespace {

constexpr std::int64_t kBlockEvery_us = 250'000;
constexpr std::int64_t kLineEvery_us = 5'000'000;
constexpr int kUsualColumns = 100;
constexpr int kUsualRows = 24;
constexpr std::size_t kMostWaiting_bytes = 65'536;

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view{value};
}

// The locale decides. Without one (containers have none as a rule) the terminal outside most likely speaks
// UTF-8, unless it is a console with few glyphs or a multiplexer that was itself started without a locale.
bool speaks_unicode() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view locale = environment(name);
    if (locale.empty()) continue;
    return locale.find("UTF-8") != std::string_view::npos || locale.find("utf8") != std::string_view::npos ||
           locale.find("utf-8") != std::string_view::npos;
  }
  const std::string_view term = environment("TERM");
  return term != "linux" && !term.starts_with("screen") && !term.starts_with("tmux");
}

bool takes_escapes(int fd) {
  return ::isatty(fd) == 1 && environment("NO_COLOR").empty() && !environment("TERM").empty() &&
         environment("TERM") != "dumb";
}

winsize window_of(int fd) {
  winsize window{};
  if (::ioctl(fd, TIOCGWINSZ, &window) != 0) return {};
  return window;
}

}  // namespace

Drawing drawing_on(int fd, bool quiet) {
  if (quiet) return Drawing::quiet;
  return takes_escapes(fd) ? Drawing::block : Drawing::lines;
}

ViewStyle style_of(int fd) {
  const int columns = window_of(fd).ws_col;
  return {takes_escapes(fd), columns > 0 ? columns : kUsualColumns, speaks_unicode()};
}

Terminal::Terminal(int fd, Options options) : fd_{fd}, options_{std::move(options)} {}

Terminal::~Terminal() { finish(); }

void Terminal::show(const Live& live, std::int64_t now_us) {
  const std::unique_lock lock{mutex_, std::try_to_lock};
  if (!lock) return;  // a log line is being written; the next frame comes soon
  if (finished_ || options_.drawing == Drawing::quiet) return;
  const std::int64_t every_us = options_.drawing == Drawing::block ? kBlockEvery_us : kLineEvery_us;
  if (drawn_us_ && now_us - *drawn_us_ < every_us) return;
  drawn_us_ = now_us;
  if (options_.drawing == Drawing::lines) return write_all(render_live_line(live, options_.unicode) + '\n');
  latest_ = live;
  if (in_background()) {
    drawn_widths_.clear();  // the shell has the screen; when we are back there is no block of ours to replace
    return;
  }
  if (!is_ready()) return;
  flush_log();
  write_all(frame(size()));
}

std::optional<std::int64_t> Terminal::next_us() const {
  const std::lock_guard lock{mutex_};
  if (!drawn_us_ || options_.drawing == Drawing::quiet) return std::nullopt;
  return *drawn_us_ + (options_.drawing == Drawing::block ? kBlockEvery_us : kLineEvery_us);
}

void Terminal::log(std::string_view line) {
  const std::lock_guard lock{mutex_};
  const std::string shown = printable(line, options_.unicode) + '\n';
  if (options_.drawing != Drawing::block) return write_all(shown);
  if (waiting_log_.size() < kMostWaiting_bytes) waiting_log_ += shown;
  if (!is_ready() && !finished_) return;
  flush_log();
}

void Terminal::flush_log() {
  if (waiting_log_.empty()) return;
  const Size now = size();
  const bool drawn = !drawn_widths_.empty();
  const std::string out = take_away(now) + std::exchange(waiting_log_, {});
  write_all(drawn ? out + frame(now) : out);
}

void Terminal::finish() {
  const std::lock_guard lock{mutex_};
  finished_ = true;
  const std::string out = take_away(size());
  write_all(out + std::exchange(waiting_log_, {}));
}

// Line by line: to clear all from the top of the screen puts it into the scrollback of some terminals.
std::string Terminal::take_away(Size size) {
  if (drawn_widths_.empty()) return {};
  const int rows = std::min(rows_drawn(size.columns), size.rows - 1);
  std::string out = go_to_top(size.columns);
  for (int row = 0; row < rows; ++row) out += "\x1b[2K\r\n";
  out += "\x1b[2K";
  drawn_widths_.clear();
  return rows > 0 ? out + "\x1b[" + std::to_string(rows) + "A" : out;
}

bool Terminal::is_ready() const {
  pollfd ready{fd_, POLLOUT, 0};
  return ::poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT) != 0;
}

Terminal::Size Terminal::size() const {
  const winsize window = window_of(fd_);
  return {window.ws_col > 0 ? window.ws_col : kUsualColumns, window.ws_row > 0 ? window.ws_row : kUsualRows};
}

bool Terminal::in_background() const {
  const pid_t foreground = ::tcgetpgrp(fd_);  // -1: not our controlling terminal
  return foreground != -1 && foreground != ::getpgrp();
}

// A terminal that became narrower has broken the block's lines; counting the pieces finds its first row.
int Terminal::rows_drawn(int columns) const {
  int rows = 0;
  for (const int width : drawn_widths_) rows += std::max(1, (width + columns - 1) / columns);
  return rows;
}

std::string Terminal::go_to_top(int columns) const {
  const int rows = rows_drawn(columns);
  return rows > 0 ? "\r\x1b[" + std::to_string(rows) + "A" : "\r";
}

// One write, so nothing flickers. A line is cleared before it is written, not after: some terminals (tmux)
// remember how far a line was ever written, and would break it there when they become narrower.
std::string Terminal::frame(Size size) {
  // One column stays free: in the last one some terminals wrap at once, others with the next character.
  const ViewStyle style{true, size.columns - 1, options_.unicode};
  std::vector<Line> lines = live_lines(*latest_, style, options_.http);
  // The block and the cursor's line below it must fit, or the top scrolls out of reach.
  if (lines.size() + 1 > static_cast<std::size_t>(size.rows))
    lines.resize(static_cast<std::size_t>(size.rows - 1), Line{true});
  std::string out = go_to_top(size.columns);
  drawn_widths_.clear();
  for (const Line& line : lines) {
    out.append("\x1b[2K").append(line.render(style)).append("\r\n");
    drawn_widths_.push_back(std::min(line.width(), style.width));
  }
  return out + "\x1b[J";
}

void Terminal::write_all(std::string_view text) {
  while (!text.empty() && !gone_) {
    const ssize_t written = ::write(fd_, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd ready{fd_, POLLOUT, 0};
      if (::poll(&ready, 1, 1000) != 1) return;  // a reader that takes nothing for a second loses this text
    } else if (errno != EINTR) {
      gone_ = true;
    }
  }
}

}  // namespace onrush
