#include "coordinator/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/format.h"

namespace onrush {
namespace {

constexpr int kGap = 3;
constexpr int kNameColumns = 24;   // names beyond are cut: they are the plan's, and may be of any length
constexpr int kLabelColumns = 10;  // "handshake" and "round trip" fit
constexpr int kBarColumns = 24;
constexpr int kLeastBarColumns = 8;
// The generator is near its own limits from here on, and its figures deserve a second look.
constexpr double kBusyWorker = 0.85;
constexpr std::int64_t kLateLag_us = 5'000;
constexpr double kMostCores = 99'999;  // no machine has more: what claims so is not a figure

double fraction(double value) { return std::isfinite(value) ? std::clamp(value, 0.0, 1.0) : 0.0; }
std::string percent(double value) { return fmt::format("{:.0f} %", fraction(value) * 100); }

bool has_begun(const Live& live) { return live.state != "preparing" && live.stage < live.stages.size(); }

/// The block under construction: a label on the left, figures on the right.
class Block {
 public:
  Block(const Live& live, const ViewStyle& style) : live_{live}, style_{style} {
    for (const LiveObserved& one : live.observed)
      label_columns_ = std::max(label_columns_, std::min(text(one.name).width(), kNameColumns));
  }

  void head();
  void stages();
  void connections();
  void times(std::string_view label, std::uint64_t count, const std::int64_t (&p50_p99_max_us)[3]);
  void delivery();
  void storm();
  void messages();
  void observed(const LiveObserved& one);
  void agents();
  void failures();
  void foot(std::string_view http);
  [[nodiscard]] std::vector<Line> take_lines() { return std::move(lines_); }

 private:
  [[nodiscard]] Line text(std::string_view text, Tone tone = Tone::plain) const {
    return Line{style_.unicode}.add(text, tone);
  }
  [[nodiscard]] Line figure(std::string_view name, std::uint64_t count, Tone if_any = Tone::plain) const {
    return text(fmt::format("{} {}", name, format_count(count)), count > 0 ? if_any : Tone::plain);
  }
  [[nodiscard]] Line label(std::string_view label) const {
    return text("  ").add(text(label, Tone::dim).cut_to(label_columns_)).pad_to(2 + label_columns_ + 2);
  }
  void row(std::string_view name, const std::vector<Line>& pieces) {
    for (Line& line : flow(label(name), pieces, kGap, style_)) lines_.push_back(std::move(line));
  }
  [[nodiscard]] Line bar(int columns) const;
  [[nodiscard]] Line stage_name(std::size_t index) const;

  const Live& live_;
  const ViewStyle& style_;
  int label_columns_ = kLabelColumns;
  std::vector<Line> lines_;
};

Line Block::bar(int columns) const {
  const int full = static_cast<int>(fraction(live_.stage_progress) * columns);
  Line bar{style_.unicode};
  for (int i = 0; i < columns; ++i) bar.add(i < full ? Sign::bar_full : Sign::bar_empty, Tone::mark);
  return bar.add(fmt::format(" {:>5}", percent(live_.stage_progress)));
}

// The bar keeps its width while figures grow, so they stand in rows of their own.
void Block::head() {
  Line name = text(live_.plan, Tone::strong).cut_to(kNameColumns);
  if (!has_begun(live_)) {
    lines_.push_back(std::move(name.add("  ").add(live_.state, Tone::mark)));
    return;
  }
  name.add("  ").add(text(live_.stages[live_.stage], Tone::mark).cut_to(kNameColumns));
  if (live_.state != "running") name.add("  ").add(live_.state, Tone::warn);
  name.add("  ");

  std::vector<Line> clock{text(format_clock(live_.elapsed_us))};
  if (live_.left_us) clock.push_back(text("left " + format_clock(*live_.left_us)));
  int clock_columns = 0;
  for (const Line& piece : clock) clock_columns += kGap + piece.width();
  constexpr int kPercentColumns = 6;
  const int room = style_.width - name.width() - kPercentColumns - clock_columns;
  name.add(bar(std::clamp(room, kLeastBarColumns, kBarColumns)));
  if (room < kLeastBarColumns) {
    lines_.push_back(std::move(name));
    return row("", clock);
  }
  for (const Line& piece : clock) name.pad_to(name.width() + kGap).add(piece);
  lines_.push_back(std::move(name));
}

Line Block::stage_name(std::size_t index) const {
  const bool begun = has_begun(live_);
  const bool running = begun && index == live_.stage && live_.state != "finished";
  const bool done = begun && !running && index <= live_.stage;
  Line name = text(live_.stages[index], running ? Tone::strong : Tone::dim).cut_to(kNameColumns);
  if (running) name.add(" ").add(Sign::running, Tone::mark);
  if (done) name.add(" ").add(Sign::done, Tone::good);
  return name;
}

// As many neighbours of the running stage as fit on one line; the others are counted.
void Block::stages() {
  if (live_.stages.empty()) return;
  const std::size_t count = live_.stages.size();
  std::size_t first = std::min<std::size_t>(live_.stage, count - 1);
  std::size_t last = first;
  constexpr int kCounted = 22;  // "1,234 before" and "1,234 after" with gaps
  const int room = style_.width - (2 + label_columns_ + 2);
  int all = -2;
  for (std::size_t i = 0; i < count; ++i) all += stage_name(i).width() + 2;
  int used = stage_name(first).width();
  const auto take = [&](std::size_t index) {
    const int more = stage_name(index).width() + 2;
    if (all > room && used + more > room - kCounted) return false;
    used += more;
    return true;
  };
  for (bool grown = true; grown;) {
    grown = false;
    if (last + 1 < count && take(last + 1)) ++last, grown = true;
    if (first > 0 && take(first - 1)) --first, grown = true;
  }
  std::vector<Line> pieces;
  if (first > 0) pieces.push_back(text(format_count(first) + " before", Tone::dim));
  for (std::size_t i = first; i <= last; ++i) pieces.push_back(stage_name(i));
  if (last + 1 < count) pieces.push_back(text(format_count(count - last - 1) + " after", Tone::dim));
  for (Line& line : flow(label("stages"), pieces, 2, style_)) lines_.push_back(std::move(line));
}

void Block::connections() {
  const std::string wanted = format_count(live_.wanted);
  Line open{style_.unicode};
  open.add_right(format_count(live_.open), live_.wanted > 0 ? static_cast<int>(wanted.size()) : 0,
                 Tone::strong);
  if (live_.wanted > 0) open.add(" of " + wanted);
  row("open", {open, figure("failed", live_.failed, Tone::bad), figure("lost", live_.lost, Tone::bad)});

  const std::string asked = live_.asked_rate > 0 ? format_rate(live_.asked_rate) : "";
  Line pace{style_.unicode};  // padded to what it will grow to, so that nothing jumps about
  pace.add_right(format_rate(live_.connect_rate), static_cast<int>(asked.size()));
  if (!asked.empty()) pace.add(" of " + asked);
  std::vector<Line> pieces{pace, figure("opening", live_.opening)};
  if (live_.arrivals > 0) {
    pieces.push_back(figure("arrivals", live_.arrivals));
    pieces.push_back(figure("dropped", live_.dropped_arrivals, Tone::bad));
  }
  row("connects", pieces);
}

void Block::times(std::string_view label, std::uint64_t count, const std::int64_t (&p50_p99_max_us)[3]) {
  const auto piece = [&](const char* name, std::int64_t time_us) {
    return text(name).add(" ").add_right(count > 0 ? format_time_us(time_us) : "-", 7);
  };
  row(label,
      {piece("p50", p50_p99_max_us[0]), piece("p99", p50_p99_max_us[1]), piece("max", p50_p99_max_us[2]),
       text(count > 0 ? "of " + format_count(count) + " in this stage" : "none in this stage", Tone::dim)});
}

void Block::delivery() {
  if (live_.expected == 0) return;
  const double reach = static_cast<double>(live_.delivered) / static_cast<double>(live_.expected);
  row("delivery", {text(format_count(live_.delivered) + " of " + format_count(live_.expected)),
                   text(format_share(fraction(reach)))});
}

void Block::storm() {
  if (live_.cut_off == 0) return;
  const std::string all = format_count(live_.cut_off);
  Line back{style_.unicode};
  back.add_right(format_count(live_.back), static_cast<int>(all.size()), Tone::strong).add(" of " + all);
  const auto piece = [&](const char* name, std::int64_t time_us) {
    return text(name).add(" ").add_right(time_us > 0 ? format_time_us(time_us) : "-", 7);
  };
  row("back",
      {back,
       text(format_share(fraction(static_cast<double>(live_.back) / static_cast<double>(live_.cut_off)))),
       piece("50 %", live_.back_p50_us), piece("99 %", live_.back_p99_us)});
}

void Block::messages() {
  row("messages", {text(fmt::format("in {:<9}", format_rate(live_.receive_rate))),
                   text(fmt::format("out {}", format_rate(live_.send_rate)))});
}

void Block::observed(const LiveObserved& one) {
  std::vector<Line> pieces{text(fmt::format("cpu {:.2f} cores", std::clamp(one.cpu_cores, 0.0, kMostCores))),
                           text("memory " + format_bytes(one.memory_bytes))};
  if (live_.open > 0) pieces.push_back(text(format_bytes(one.memory_bytes / live_.open) + " a connection"));
  row(one.name, pieces);
}

void Block::agents() {
  std::vector<Line> pieces{text(fmt::format("{} of {}", live_.agents_alive, live_.agents),
                                live_.agents_alive < live_.agents ? Tone::bad : Tone::plain)};
  if (has_begun(live_)) {
    pieces.push_back(text("lag p99 ")
                         .add_right(format_time_us(live_.lag_p99_us), 8,
                                    live_.lag_p99_us > kLateLag_us ? Tone::warn : Tone::plain));
    if (!live_.busiest_agent.empty())
      pieces.push_back(text("busiest ")
                           .add(text(live_.busiest_agent).cut_to(kNameColumns))
                           .add(" at ")
                           .add(percent(live_.busiest_worker),
                                live_.busiest_worker > kBusyWorker ? Tone::warn : Tone::plain)
                           .add(" of its core"));
    pieces.push_back(text(fmt::format("SUSPECT {} s", format_count(live_.suspect_seconds)),
                          live_.suspect_seconds > 0 ? Tone::warn : Tone::plain));
  }
  row("agents", pieces);
}

void Block::failures() {
  int columns = 0;
  for (const LiveFailure& failure : live_.failures)
    columns = std::max(columns, static_cast<int>(format_count(failure.count).size()));
  bool first = true;
  for (const LiveFailure& failure : live_.failures) {
    Line line = label(first ? "failures" : "");
    line.add_right(format_count(failure.count), columns, Tone::bad).add("  ");
    const int phase = line.width();
    line.add(failure.phase).pad_to(phase + 7).add("  ").add(failure.cause);
    if (failure.ours) line.add("  ours", Tone::warn);
    lines_.push_back(std::move(line));
    first = false;
  }
}

void Block::foot(std::string_view http) {
  std::vector<Line> pieces;
  if (!http.empty()) pieces.push_back(text(http, Tone::dim));
  pieces.push_back(text(live_.state == "stopping" ? "stopping in order; ctrl-c ends at once"
                                                  : "ctrl-c stops in order, twice at once",
                        Tone::dim));
  for (Line& line : flow(text("  "), pieces, kGap, style_)) lines_.push_back(std::move(line));
}

}  // namespace

std::vector<Line> live_lines(const Live& live, const ViewStyle& style, std::string_view http) {
  Block block{live, style};
  block.head();
  block.stages();
  if (has_begun(live)) {
    block.connections();
    block.times("handshake", live.handshakes,
                {live.handshake_p50_us, live.handshake_p99_us, live.handshake_max_us});
    if (live.round_trips > 0)
      block.times("round trip", live.round_trips,
                  {live.round_trip_p50_us, live.round_trip_p99_us, live.round_trip_max_us});
    block.delivery();
    block.storm();
    block.messages();
    for (const LiveObserved& one : live.observed) block.observed(one);
  }
  block.agents();
  block.failures();
  block.foot(http);
  return block.take_lines();
}

std::string render_live(const Live& live, const ViewStyle& style, std::string_view http) {
  return render(live_lines(live, style, http), style);
}

std::string render_live_line(const Live& live, bool unicode) {
  std::string line = format_clock(live.elapsed_us);
  const auto add = [&line](const std::string& text) { (line += "  ") += text; };
  if (!has_begun(live)) {
    add(fmt::format("{}  agents {} of {}", live.state, live.agents_alive, live.agents));
    return printable(line, unicode);
  }
  if (live.state != "running") add(live.state);
  add(fmt::format("{} {}", live.stages[live.stage], percent(live.stage_progress)));
  add("open " + format_count(live.open));
  if (live.wanted > 0) line += " of " + format_count(live.wanted);
  add("connects " + format_rate(live.connect_rate));
  if (live.asked_rate > 0) line += " of " + format_rate(live.asked_rate);
  add(fmt::format("failed {}  lost {}", format_count(live.failed), format_count(live.lost)));
  if (live.arrivals > 0)
    add(fmt::format("arrivals {}  dropped {}", format_count(live.arrivals),
                    format_count(live.dropped_arrivals)));
  add(fmt::format("in {}  out {}", format_rate(live.receive_rate), format_rate(live.send_rate)));
  if (live.handshakes > 0) add("handshake p99 " + format_time_us(live.handshake_p99_us));
  if (live.round_trips > 0) add("round trip p99 " + format_time_us(live.round_trip_p99_us));
  if (live.expected > 0)
    add(fmt::format("delivered {} of {}", format_count(live.delivered), format_count(live.expected)));
  if (live.cut_off > 0)
    add(fmt::format("back {} of {}", format_count(live.back), format_count(live.cut_off)));
  add(fmt::format("agents {} of {}", live.agents_alive, live.agents));
  if (live.suspect_seconds > 0) add(fmt::format("SUSPECT {} s", format_count(live.suspect_seconds)));
  if (!live.failures.empty())
    add(fmt::format("mostly {}: {}", live.failures.front().phase, live.failures.front().cause));
  return printable(line, unicode);
}

}  // namespace onrush
