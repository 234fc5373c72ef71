#include "coordinator/check_explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "core/format.h"
#include "core/timeline.h"

namespace onrush {
namespace {

constexpr int kRows = 8;
constexpr int kNarrowest = 40;
constexpr int kWidest = 160;    // wider charts are harder to read, not easier
constexpr int kTickEvery = 12;  // columns, at least
constexpr int kSamples = 8;     // of a column, beside its two ends

/// One stage on the axis of time.
struct Span {
  const StageTimeline* stage;
  double begin_s;
  double end_s;
  bool estimated;  ///< it ends on a condition, so this is how long it should take
};

std::vector<Span> spans_of(const Plan& plan, const std::vector<StageTimeline>& stages) {
  double longest_script_s = 0;
  for (const Scenario& s : plan.scenarios) longest_script_s = std::max(longest_script_s, mean_script_s(s));
  std::vector<Span> spans;
  double at_s = 0;
  for (const StageTimeline& stage : stages) {
    double length_s = stage.length_s + stage.hold_s;
    // A stage that drains never has an endless script: the reader refuses it.
    if (stage.end == StageEnd::when_drained)
      length_s = std::isfinite(longest_script_s) ? longest_script_s : 0;
    spans.push_back({&stage, at_s, at_s + length_s, stage.end != StageEnd::after_length});
    at_s += length_s;
  }
  return spans;
}

double users_at(const StageTimeline& stage, double t_s) {
  double users = 0;
  for (const std::uint64_t wanted : stage.users_at_end) users += static_cast<double>(wanted);
  for (const UserChange& c : stage.users)
    if (t_s < c.over_s)
      users += (static_cast<double>(c.from) - static_cast<double>(c.to)) * (1 - t_s / c.over_s);
  return users;
}

double arrivals_at(const StageTimeline& stage, double t_s) {
  double rate = 0;
  for (const ArrivalChange& c : stage.arrivals)
    rate += t_s < c.over_s ? c.from_per_s + (c.to_per_s - c.from_per_s) * t_s / c.over_s : c.to_per_s;
  return rate;
}

using Height = double (*)(const StageTimeline&, double t_s);

/// What the axis says; all charts of a plan share it.
struct Axis {
  std::vector<Span> spans;
  double length_s;
  int columns;
  int label;  ///< columns before the axis

  [[nodiscard]] int column_of(double t_s) const {
    return static_cast<int>(std::lround(t_s / length_s * columns));
  }
};

/// The highest value within each column.
std::vector<double> curve(const Axis& axis, Height height) {
  std::vector<double> highest(static_cast<std::size_t>(axis.columns), 0);
  const double column_s = axis.length_s / axis.columns;
  for (const Span& span : axis.spans)
    for (int c = 0; c < axis.columns; ++c) {
      const double from_s = std::max(c * column_s, span.begin_s);
      const double to_s = std::min((c + 1) * column_s, span.end_s);
      for (int i = 0; i <= kSamples && from_s < to_s; ++i) {
        // Not quite the end: what holds there belongs to what comes next.
        const double t_s = from_s + (to_s - from_s) * 0.999 * i / kSamples - span.begin_s;
        double& value = highest[static_cast<std::size_t>(c)];
        value = std::max(value, height(*span.stage, t_s));
      }
    }
  return highest;
}

/// The part of a column that lies in one row, 0 to 8 eighths of it.
const char* block(int eighths, bool unicode) {
  constexpr std::array<const char*, 9> kBlocks{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::array<const char*, 9> kAscii{" ", "_", "_", "_", "=", "=", "=", "#", "#"};
  return (unicode ? kBlocks : kAscii)[static_cast<std::size_t>(eighths)];
}

void put_curve(const Axis& axis, const std::vector<double>& values,
               const std::function<std::string(double)>& label, std::vector<Line>& out, bool unicode) {
  const double top = *std::max_element(values.begin(), values.end());
  for (int row = kRows; row-- > 0;) {
    std::string said;
    if (row == kRows - 1) said = label(top);
    if (row == kRows / 2 - 1 && top >= 2) said = label(top / 2);
    Line line(unicode);
    line.add_right(said, axis.label - 2, Tone::dim).add(unicode ? " │" : " |", Tone::dim);
    std::string cells;
    for (const double value : values) {
      const double eighths = top > 0 ? value / top * kRows * 8 - row * 8 : 0;
      // What is there at all is seen.
      const bool hair = row == 0 && value > 0 && eighths < 1;
      cells += block(hair ? 1 : static_cast<int>(std::clamp(std::floor(eighths + 1e-6), 0.0, 8.0)), unicode);
    }
    while (!cells.empty() && cells.back() == ' ') cells.pop_back();
    out.push_back(line.add(cells, Tone::mark));
  }
}

/// Round, and far enough apart for their text.
double tick_step_s(const Axis& axis) {
  const double least_s = axis.length_s * kTickEvery / axis.columns;
  const double power = std::pow(10, std::floor(std::log10(least_s)));
  for (const double digit : {1, 2, 5})
    if (digit * power >= least_s) return digit * power;
  return 10 * power;
}

void put_axis(const Axis& axis, std::vector<Line>& out, bool unicode) {
  std::vector<bool> begins(static_cast<std::size_t>(axis.columns) + 1, false);
  for (const Span& span : axis.spans) begins[static_cast<std::size_t>(axis.column_of(span.begin_s))] = true;
  Line line(unicode);
  line.add_right("0", axis.label - 2, Tone::dim).add(unicode ? " └" : " +", Tone::dim);
  std::string rule;
  for (int c = 0; c < axis.columns; ++c) {
    const bool mark = c > 0 && begins[static_cast<std::size_t>(c)];
    rule += mark ? (unicode ? "┬" : "+") : (unicode ? "─" : "-");
  }
  out.push_back(line.add(rule, Tone::dim));

  Line names(unicode);
  for (const Span& span : axis.spans) {
    const int from = axis.column_of(span.begin_s);
    const int room = axis.column_of(span.end_s) - from - 1;
    Line name(unicode);
    name.add(span.stage->name);
    if (room >= 1 && (room >= name.width() || room >= 4))
      names.pad_to(axis.label + from).add(name.cut_to(room));
  }
  out.push_back(names);

  Line times(unicode);
  const double step_s = tick_step_s(axis);
  for (int i = 0; i * step_s <= axis.length_s; ++i) {
    const double t_s = i * step_s;
    const bool estimated = std::any_of(axis.spans.begin(), axis.spans.end(),
                                       [&](const Span& s) { return s.estimated && s.end_s <= t_s; });
    const std::string text = (estimated ? "~" : "") + format_seconds(t_s);
    if (axis.column_of(t_s) + display_width(text) > axis.columns) break;
    times.pad_to(axis.label + axis.column_of(t_s)).add(text, Tone::dim);
  }
  out.push_back(times);
}

}  // namespace

std::string explain_timeline(const Plan& plan, const ViewStyle& style) {
  const std::vector<StageTimeline> stages = timeline(plan);
  Axis axis{spans_of(plan, stages), 0, 0, 0};
  axis.length_s = axis.spans.empty() ? 0 : axis.spans.back().end_s;
  if (!(axis.length_s > 0)) return "";

  struct Chart {
    const char* title;
    Height height;
    std::function<std::string(double)> label;
    double top = 0;
  };
  std::vector<Chart> charts{
      {"users wanted", users_at, [](double v) { return format_count(static_cast<std::uint64_t>(v)); }},
      {"arrivals a second", arrivals_at, [](double v) { return format_rate(v); }}};
  const int width = std::clamp(style.width, kNarrowest, kWidest);
  axis.columns = width;  // fine enough to find the tops, whose labels say how much room is left
  for (Chart& chart : charts) {
    const std::vector<double> values = curve(axis, chart.height);
    chart.top = *std::max_element(values.begin(), values.end());
    axis.label = std::max(axis.label, display_width(chart.label(chart.top)) + 4);
  }
  axis.columns = width - axis.label;

  std::vector<Line> lines;
  for (const Chart& chart : charts) {
    if (!(chart.top > 0)) continue;
    if (!lines.empty()) lines.emplace_back(style.unicode);
    lines.push_back(Line(style.unicode).add("  ").add(chart.title, Tone::strong));
    put_curve(axis, curve(axis, chart.height), chart.label, lines, style.unicode);
    put_axis(axis, lines, style.unicode);
  }
  return render(lines, style);
}

}  // namespace onrush
