// The summary's lines of storms: who was cut off, and how long until they were back.
#include <fmt/format.h>

#include <cmath>

#include "coordinator/summary_view_parts.h"
#include "core/format.h"

namespace onrush::summary_parts {
namespace {

/// "2,500 of 2,500 disconnected, 3 lost, all 2,503 back", and so on.
std::vector<Line> fate(const Json& storm, const ViewStyle& style) {
  const auto of = [&storm](const char* key) { return count(storm, key).value_or(0); };
  const auto piece = [&style](std::string_view text, Tone tone = Tone::plain) {
    return Line{style.unicode}.add(text, tone);
  };
  std::vector<Line> pieces;
  if (of("asked") > 0)
    pieces.push_back(piece(
        fmt::format("{} of {} disconnected", format_count(of("disconnected")), format_count(of("asked")))));
  if (of("lost") > 0) pieces.push_back(piece(format_count(of("lost")) + " lost", Tone::bad));
  const std::uint64_t away = of("disconnected") + of("lost");
  const bool all = of("back") == away;
  pieces.push_back(
      all ? piece(fmt::format("all {} back", format_count(away)), Tone::good)
          : piece(fmt::format("{} of {} back", format_count(of("back")), format_count(away)), Tone::warn));
  if (of("gave_up") > 0) pieces.push_back(piece(format_count(of("gave_up")) + " gave up", Tone::bad));
  if (const auto mean = number(storm, "attempts_mean"))
    pieces.push_back(piece(
        fmt::format("{:.2f} attempts each, at most {}", *mean, shown_count(count(storm, "attempts_max")))));
  return pieces;
}

std::vector<Line> times_back(const Json& storm, const ViewStyle& style) {
  std::vector<Line> pieces;
  constexpr double kMost_us = 9e18;
  for (const auto& [key, share] :
       {std::pair{"p50_us", "50 %"}, {"p90_us", "90 %"}, {"p99_us", "99 %"}, {"all_us", "100 %"}}) {
    const auto time_us = number(member(storm, "back_after"), key);
    Line piece{style.unicode};
    piece.add(share, Tone::dim).add(" ");
    if (time_us && std::fabs(*time_us) < kMost_us)
      piece.add(format_time_us(std::llround(*time_us)));
    else
      piece.add("never", Tone::bad);
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

}  // namespace

Lines storms(const Json& summary, const ViewStyle& style) {
  constexpr std::size_t kMostShown = 10;
  constexpr int kNameColumns = 24;
  Lines lines;
  std::size_t shown = 0;
  for (const Json& stage : list(summary, "stages")) {
    const Json& storm = member(stage, "storm");
    if (!storm.is_object() || shown++ >= kMostShown) continue;
    const Line name = Line{style.unicode}.add(text(stage, "name")).cut_to(kNameColumns);
    const Line head = Line{style.unicode}.add("  ").add(name).add("  ");
    for (Line& line : flow(head, fate(storm, style), 3, style)) lines.push_back(std::move(line));
    Line below{style.unicode};
    below.pad_to(head.width()).add("back after ", Tone::dim);
    for (Line& line : flow(std::move(below), times_back(storm, style), 3, style))
      lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace onrush::summary_parts
