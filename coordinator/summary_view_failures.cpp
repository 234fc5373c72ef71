// The error table: what failed, how often, on which agents, whose fault it is and what to do about it.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "coordinator/summary_view_parts.h"
#include "coordinator/view_table.h"
#include "core/format.h"

namespace onrush::summary_parts {
namespace {

constexpr std::size_t kMostRows = 12;
constexpr int kCauseColumns = 40;

/// One kind of failure over all agents.
struct Kind {
  std::string phase;
  std::string cause;
  bool ours = false;
  std::uint64_t count = 0;
  std::set<std::string> agents;
  std::optional<double> first_s;
  std::optional<double> last_s;
  std::string sample;
  std::string remedy;
};

std::vector<Kind> kinds(const Json& summary) {
  std::map<std::tuple<std::string, std::string, bool>, Kind> by_key;
  for (const Json& row : list(summary, "failures")) {
    const bool ours = member(row, "ours").is_boolean() && member(row, "ours").get<bool>();
    Kind& kind = by_key[{text(row, "phase"), text(row, "cause"), ours}];
    kind.phase = text(row, "phase");
    kind.cause = text(row, "cause");
    kind.ours = ours;
    kind.count += count(row, "count").value_or(0);
    if (const std::string agent = text(row, "agent"); !agent.empty()) kind.agents.insert(agent);
    if (const auto at_s = number(row, "first_s"))
      kind.first_s = std::min(*at_s, kind.first_s.value_or(*at_s));
    if (const auto at_s = number(row, "last_s")) kind.last_s = std::max(*at_s, kind.last_s.value_or(*at_s));
    if (kind.sample.empty()) kind.sample = text(row, "sample");
    if (kind.remedy.empty()) kind.remedy = text(row, "remedy");
  }
  std::vector<Kind> sorted;
  for (auto& [key, kind] : by_key) sorted.push_back(std::move(kind));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Kind& a, const Kind& b) { return a.count > b.count; });
  return sorted;
}

// A share needs a whole that every failure of its phase is part of; frames on open connections have none.
std::string share_of(const Kind& kind, const Json& counts) {
  const bool connecting =
      kind.phase == "connect" || kind.phase == "proxy" || kind.phase == "tls" || kind.phase == "upgrade";
  if (!connecting && kind.phase != "request") return "";
  const auto whole = count(counts, connecting ? "attempted" : "requests");
  if (!whole || *whole == 0) return "-";
  return format_share(static_cast<double>(kind.count) / static_cast<double>(*whole));
}

std::string agents_of(const Kind& kind, std::size_t all) {
  if (kind.agents.size() == all) return "all";
  constexpr std::size_t kMostNames = 2;
  std::string names;
  std::size_t named = 0;
  for (const std::string& agent : kind.agents) {
    if (named == kMostNames) return fmt::format("{} +{}", names, kind.agents.size() - named);
    names += (named++ > 0 ? ", " : "") + agent;
  }
  return names;
}

std::string note_on(const Kind& kind) {
  std::string note = kind.sample.empty() ? "" : "\"" + kind.sample + "\"";
  if (!kind.remedy.empty()) note += (note.empty() ? "" : "  ") + kind.remedy;
  return note;
}

/// `beside`: the notes have a column; else each follows its row.
Table table_of(const std::vector<Kind>& kinds, const Json& summary, bool beside, bool unicode) {
  const std::size_t agents = list(summary, "agents").size();
  const auto has_times = [](const Kind& kind) { return kind.first_s || kind.last_s; };
  const bool with_times = std::any_of(kinds.begin(), kinds.end(), has_times);
  std::vector<Column> columns{{"phase"},
                              {"cause", Align::left, 0, kCauseColumns},
                              {"count", Align::right, 0, 26},
                              {"share", Align::right, 4}};
  if (agents > 1) columns.push_back({"agents", Align::left, 3, 20});
  if (with_times) columns.insert(columns.end(), {{"first", Align::right, 1}, {"last", Align::right, 2}});
  columns.push_back({"whose", Align::left, 5});
  if (beside) columns.push_back({"", Align::left, 0, 1000});
  Table table{std::move(columns), 2, unicode};
  for (std::size_t i = 0; i < std::min(kinds.size(), kMostRows); ++i) {
    const Kind& kind = kinds[i];
    const Lines cause = flow_words(Line{unicode}, kind.cause, {false, kCauseColumns, unicode});
    std::vector<Line> cells{table.cell(kind.phase), cause.front(),
                            table.cell(format_count(kind.count), Tone::bad),
                            table.cell(share_of(kind, member(summary, "counts")))};
    if (agents > 1) cells.push_back(table.cell(agents_of(kind, agents)));
    if (with_times) {
      cells.push_back(table.cell(shown_seconds(kind.first_s)));
      cells.push_back(table.cell(shown_seconds(kind.last_s)));
    }
    cells.push_back(kind.ours ? table.cell("ours", Tone::warn) : table.cell("target"));
    if (beside) cells.push_back(table.cell(note_on(kind), Tone::dim));
    table.add_row(std::move(cells));
    for (std::size_t more = 1; more < cause.size(); ++more) table.add_note(1, cause[more]);
    if (!beside && !note_on(kind).empty()) table.add_words(1, 2, note_on(kind), Tone::dim);
  }
  return table;
}

Line title(const Json& counts, bool unicode) {
  Line line{unicode};
  line.add("  ");
  const auto part = [&](const char* key, const char* whole_key) {
    const std::uint64_t found = count(counts, key).value_or(0);
    if (found == 0) return;
    if (line.width() > 2) line.add("   ");
    line.add(fmt::format("{} {}", key, format_count(found)), Tone::bad);
    if (const auto whole = count(counts, whole_key); whole && *whole > 0)
      line.add(fmt::format(" of {}, {}", format_count(*whole),
                           format_share(static_cast<double>(found) / static_cast<double>(*whole))));
  };
  part("failed", "attempted");
  part("lost", "opened");
  return line.width() > 2 ? line : line.add("failures", Tone::bad);
}

}  // namespace

Lines failures(const Json& summary, const ViewStyle& style) {
  const std::vector<Kind> all = kinds(summary);
  if (all.empty()) return {};
  const auto widest = [](const Lines& lines) {
    int width = 0;
    for (const Line& line : lines) width = std::max(width, line.width());
    return width;
  };
  constexpr int kAnyWidth = 100'000;
  const bool beside =
      widest(table_of(all, summary, true, style.unicode).lay_out({false, kAnyWidth, true})) <= style.width;
  Lines lines{title(member(summary, "counts"), style.unicode), Line{style.unicode}};
  for (Line& line : table_of(all, summary, beside, style.unicode).lay_out(style))
    lines.push_back(std::move(line));
  if (all.size() > kMostRows) {
    std::uint64_t rest = 0;
    for (std::size_t i = kMostRows; i < all.size(); ++i) rest += all[i].count;
    lines.push_back(
        Line{style.unicode}.add(fmt::format("  and {} more kinds, {} in all, in summary.json",
                                            format_count(all.size() - kMostRows), format_count(rest))));
  }
  return lines;
}

}  // namespace onrush::summary_parts
