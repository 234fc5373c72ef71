#include "coordinator/summary_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "coordinator/summary_view_parts.h"
#include "core/format.h"

namespace onrush {
namespace summary_parts {

const Json& member(const Json& object, const char* key) {
  static const Json kNothing;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found == object.end() ? kNothing : *found;
}

const Json& list(const Json& object, const char* key) {
  static const Json kEmpty = Json::array();
  const Json& found = member(object, key);
  return found.is_array() ? found : kEmpty;
}

std::optional<double> number(const Json& object, const char* key) {
  const Json& found = member(object, key);
  if (!found.is_number()) return std::nullopt;
  const double value = found.get<double>();
  return std::isfinite(value) ? std::optional{value} : std::nullopt;
}

std::optional<std::uint64_t> count(const Json& object, const char* key) {
  const Json& found = member(object, key);
  if (found.is_number_unsigned()) return found.get<std::uint64_t>();
  const std::optional<double> value = number(object, key);
  constexpr double kTwoTo64 = 18'446'744'073'709'551'616.0;
  if (!value || *value < 0 || *value >= kTwoTo64) return std::nullopt;
  return static_cast<std::uint64_t>(*value);
}

std::string text(const Json& object, const char* key) {
  const Json& found = member(object, key);
  return found.is_string() ? found.get<std::string>() : std::string{};
}

std::string shown_count(std::optional<std::uint64_t> count) { return count ? format_count(*count) : "-"; }

std::string shown_seconds(std::optional<double> length_s) {
  return length_s ? format_seconds(*length_s) : "-";
}

namespace {

Line line(const ViewStyle& style, std::string_view text, Tone tone = Tone::plain) {
  return Line{style.unicode}.add(text, tone);
}

Lines header(const Json& summary, const ViewStyle& style) {
  std::vector<Line> pieces;
  const std::string plan = text(summary, "plan");
  if (!plan.empty()) pieces.push_back(line(style, plan, Tone::strong));
  if (const std::size_t agents = list(summary, "agents").size(); agents > 0) {
    std::string who = format_count(agents) + (agents == 1 ? " agent" : " agents");
    if (const auto hosts = count(summary, "hosts"); hosts && *hosts > 0)
      who += " on " + format_count(*hosts) + (*hosts == 1 ? " host" : " hosts");
    pieces.push_back(line(style, who));
  }
  for (const char* key : {"target", "run"}) {
    const std::string value = text(summary, key);
    if (value.empty()) continue;
    pieces.push_back(line(style, (key == std::string_view{"run"} ? "run " : "") + value));
  }
  for (std::size_t i = 1; i < pieces.size(); ++i)
    pieces[i] = Line{style.unicode}.add(Sign::dot, Tone::dim).add(" ").add(pieces[i]);
  return flow(Line{style.unicode}, pieces, 1, style);
}

// The value's unit is the expression's; times are kept in us, shares as fractions.
std::string shown_value(const Json& threshold) {
  if (std::string given = text(threshold, "value_text"); !given.empty()) return given;
  const std::optional<double> value = number(threshold, "value");
  if (!value) return "no samples";
  const std::string expression = text(threshold, "expression");
  const std::size_t operation = expression.find_first_of("<>=!");
  std::string_view right = operation == std::string::npos ? std::string_view{} : std::string_view{expression};
  right.remove_prefix(std::min(right.size(), operation));
  right = right.substr(0, std::min(right.find(" in "), right.find(" for ")));
  constexpr double kMostExact = 9e15;  // beyond, neither a count nor a time in us is exact in a double
  if (std::fabs(*value) > kMostExact) return fmt::format("{:.3g}", *value);
  if (right.find('%') != std::string_view::npos) return format_share(*value);
  if (right.find("/s") != std::string_view::npos) return format_rate(*value);
  if (right.find_first_of("sm") != std::string_view::npos) return format_time_us(std::llround(*value));
  if (*value >= 0 && *value == std::floor(*value)) return format_count(static_cast<std::uint64_t>(*value));
  return fmt::format("{:.4g}", *value);
}

/// "held by 12.3 ms", "missed by 0.13 %, first in second 34"
std::string margin_note(const Json& threshold, bool held) {
  const std::string margin = text(threshold, "margin_text");
  if (margin.empty()) return {};
  std::string note = (held ? "held by " : "missed by ") + margin;
  if (const auto first_s = count(threshold, "first_failed_s"); first_s && !held)
    note += ", first in second " + format_count(*first_s);
  return note;
}

Tone tone_of(std::string_view verdict) {
  if (verdict == "passed") return Tone::good;
  return verdict == "degraded" ? Tone::warn : Tone::bad;
}

// Whoever reads nothing but the last line must not take it for a run against the true target.
bool is_unverified(const Json& summary) {
  const Json& warnings = list(summary, "warnings");
  return std::any_of(warnings.begin(), warnings.end(), [](const Json& warning) {
    return warning.is_string() && warning.get_ref<const std::string&>().starts_with("TLS: ");
  });
}

}  // namespace

Lines thresholds(const Json& summary, const ViewStyle& style) {
  constexpr int kMostColumns = 60;
  int columns = 0;
  int value_columns = 0;
  for (const Json& one : list(summary, "thresholds")) {
    columns = std::max(columns, std::min(line(style, text(one, "expression")).width(), kMostColumns));
    value_columns = std::max(value_columns, line(style, shown_value(one)).width());
  }
  columns = std::max(10, std::min(columns, style.width - value_columns - 10));
  Lines lines;
  for (const Json& one : list(summary, "thresholds")) {
    const bool held = member(one, "held").is_boolean() && member(one, "held").get<bool>();
    Line row = line(style, "  ");
    row.add(held ? Sign::held : Sign::failed, held ? Tone::good : Tone::bad).add(" ");
    const int begin = row.width();
    row.add(line(style, text(one, "expression")).cut_to(columns)).pad_to(begin + columns + 2);
    row.add_right(shown_value(one), value_columns, held ? Tone::plain : Tone::bad);
    const std::string note = margin_note(one, held);
    if (!note.empty() && row.width() + 3 + line(style, note).width() <= style.width)
      row.add("   ").add(note, Tone::dim);
    lines.push_back(std::move(row));
    if (const std::string doubt = text(one, "doubt"); !doubt.empty())
      for (Line& more : flow_words(line(style, "").pad_to(begin + 2), doubt, style))
        lines.push_back(std::move(more));
  }
  return lines;
}

Lines verdict(const Json& summary, const ViewStyle& style, std::string_view folder) {
  Lines lines;
  constexpr std::size_t kMostReasons = 8;
  const Json& reasons = list(summary, "reasons");
  for (std::size_t i = 0; i < std::min(reasons.size(), kMostReasons); ++i)
    for (Line& one :
         flow_words(line(style, "  "),
                    reasons[i].is_string() ? reasons[i].get<std::string>() : reasons[i].dump(), style))
      lines.push_back(std::move(one));
  if (reasons.size() > kMostReasons)
    lines.push_back(
        line(style, fmt::format("  and {} more reasons in summary.json", reasons.size() - kMostReasons)));
  for (const Json& warning : list(summary, "warnings")) {
    if (!warning.is_string()) continue;
    Line head = line(style, "  ").add("warning", Tone::warn).add("  ");
    for (Line& one : flow_words(std::move(head), warning.get<std::string>(), style))
      lines.push_back(std::move(one));
  }
  if (!lines.empty()) lines.emplace_back(style.unicode);

  const std::string verdict = text(summary, "verdict");
  std::string word = verdict.empty() ? "NO VERDICT" : verdict;
  for (char& c : word) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  Line last = line(style, word, tone_of(verdict));
  if (const auto code = count(summary, "exit_code"); code && *code != 0)
    last.add(fmt::format(" (exit {})", *code), Tone::dim);
  if (is_unverified(summary)) last.add(", certificates not verified", Tone::warn);
  std::vector<Line> pieces;
  if (!folder.empty()) pieces.push_back(line(style, folder));
  for (Line& one : flow(last.add("   "), pieces, 0, style)) lines.push_back(std::move(one));
  return lines;
}

}  // namespace summary_parts

std::string render_summary(const nlohmann::json& summary, const ViewStyle& style, std::string_view folder) {
  using namespace summary_parts;  // NOLINT(google-build-using-namespace)
  std::vector<Line> screen = header(summary, style);
  const auto part = [&](Lines lines) {
    if (lines.empty()) return;
    if (!screen.empty()) screen.emplace_back(style.unicode);
    for (Line& one : lines) screen.push_back(std::move(one));
  };
  part(stages(summary, style));
  part(storms(summary, style));
  part(times(summary, style));
  part(costs(summary, style));
  part(failures(summary, style));
  part(thresholds(summary, style));
  part(verdict(summary, style, folder));
  return render(screen, style);
}

}  // namespace onrush
