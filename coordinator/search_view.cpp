#include "coordinator/search_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "coordinator/view_table.h"
#include "core/format.h"
#include "core/plan_search.h"
#include "core/verdict.h"

namespace onrush {
namespace {

constexpr int kBar = 14;

bool raises_arrivals(const SearchPlan& search) { return search.raise == SearchPlan::Raise::arrivals; }

/// "400 users", "12.5/s".
std::string said(const SearchPlan& search, std::uint64_t units) {
  if (raises_arrivals(search)) return format_rate(load_of(search, units));
  return format_count(units) + (units == 1 ? " user" : " users");
}

std::string cell_of_load(const SearchPlan& search, std::uint64_t units) {
  return raises_arrivals(search) ? format_rate(load_of(search, units)) : format_count(units);
}

Tone tone_of(TrialOutcome outcome) {
  switch (outcome) {
    case TrialOutcome::kept: return Tone::good;
    case TrialOutcome::broken: return Tone::bad;
    case TrialOutcome::spoilt:
    case TrialOutcome::refused: break;
  }
  return Tone::warn;
}

bool counts(const SearchTrial& trial) {
  return trial.outcome == TrialOutcome::kept || trial.outcome == TrialOutcome::broken;
}

Line bar(double value, double top, bool unicode) {
  const double share = top > 0 ? std::clamp(value / top, 0.0, 1.0) : 0;
  const auto full = static_cast<int>(std::ceil(share * kBar - 1e-9));
  Line line(unicode);
  for (int i = 0; i < full; ++i) line.add(Sign::bar_full, Tone::mark);
  return line;
}

/// By load; trials of one load in the order in which they ran.
std::vector<const SearchTrial*> by_load(const std::vector<SearchTrial>& trials) {
  std::vector<const SearchTrial*> sorted;
  for (const SearchTrial& trial : trials) sorted.push_back(&trial);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const SearchTrial* a, const SearchTrial* b) { return a->load < b->load; });
  return sorted;
}

void put_curve(const SearchResult& result, const ViewStyle& style, std::vector<Line>& out) {
  const bool arrivals = raises_arrivals(result.search);
  std::string time;
  double most = 0;
  double slowest = 0;
  for (const SearchTrial& trial : result.trials) {
    if (time.empty()) time = trial.time;
    most = std::max(most, trial.reached_per_s);
    slowest = std::max(slowest, static_cast<double>(trial.p99_us));
  }
  Table table({{arrivals ? "arrivals" : "users", Align::right},
               {arrivals ? "connects" : "received", Align::right, 9},
               {"", Align::left, 3, kBar},
               {time.empty() ? "p50" : time + " p50", Align::right, 7},
               {"p99", Align::right, 8},
               {"", Align::left, 4, kBar},
               {"failed", Align::right, 6},
               {"trial", Align::right, 5},
               {"", Align::left},
               {"", Align::left, 2, 60}},
              2, style.unicode);
  for (const SearchTrial* shown : by_load(result.trials)) {
    const SearchTrial& trial = *shown;
    const auto number = static_cast<std::uint64_t>(shown - result.trials.data()) + 1;
    const bool timed = !trial.time.empty();
    table.add_row(
        {table.cell(cell_of_load(result.search, trial.load), Tone::strong),
         table.cell(format_rate(trial.reached_per_s)), bar(trial.reached_per_s, most, style.unicode),
         table.cell(timed ? format_time_us(trial.p50_us) : "-"),
         table.cell(timed ? format_time_us(trial.p99_us) : "-"),
         bar(static_cast<double>(trial.p99_us), slowest, style.unicode),
         table.cell(format_count(trial.failed)), table.cell(format_count(number)),
         table.cell(name(trial.outcome), tone_of(trial.outcome)), table.cell(trial.why, Tone::dim)});
  }
  if (table.empty()) return;
  for (Line& line : table.lay_out(style)) out.push_back(std::move(line));
  out.emplace_back(style.unicode);
}

/// Why the lowest load that is beyond is.
std::string why_beyond(const SearchResult& result) {
  for (auto trial = result.trials.rbegin(); trial != result.trials.rend(); ++trial)
    if (result.beyond && trial->load == *result.beyond && trial->outcome != TrialOutcome::kept)
      return trial->why.empty() ? "" : " (" + trial->why + ")";
  return "";
}

std::string conclusion(const SearchResult& result) {
  const std::string kept = said(result.search, result.kept);
  const std::string beyond = result.beyond ? said(result.search, *result.beyond) : "";
  const std::string why = why_beyond(result);
  if (!result.end)
    return fmt::format("{}{}", result.kept > 0 ? kept + " kept" : "nothing kept yet",
                       result.beyond ? fmt::format(", {} not{}", beyond, why) : "");
  switch (*result.end) {
    case SearchEnd::found:
      return fmt::format("{} kept {} times; {} not{}", kept, result.times_kept, beyond, why);
    case SearchEnd::kept_throughout:
      return fmt::format("{} kept {} times, and no more were to be tried: raise 'to'", kept,
                         result.times_kept);
    case SearchEnd::broken_throughout: return fmt::format("not even {} kept{}", beyond, why);
    case SearchEnd::own_limit:
      return fmt::format(
          "{}; at {} the generator cannot vouch for its own figures{}: more agents or a quieter machine "
          "would go "
          "further",
          result.kept > 0 ? fmt::format("{} kept {} times", kept, result.times_kept) : "nothing kept", beyond,
          why);
    case SearchEnd::out_of_time:
      return fmt::format("'at_most' {} is over; {}{}", format_length(result.search.at_most_ns),
                         result.kept > 0 ? kept + " kept" : "nothing kept yet",
                         result.beyond ? fmt::format(", {} not{}", beyond, why) : ", nothing broken yet");
  }
  return "";
}

const char* headline(const std::optional<SearchEnd>& end) {
  if (!end) return "INTERRUPTED";
  switch (*end) {
    case SearchEnd::found:
    case SearchEnd::kept_throughout: return "FOUND";
    case SearchEnd::broken_throughout: return "FAILED";
    case SearchEnd::own_limit: return "OWN LIMIT";
    case SearchEnd::out_of_time: return "OUT OF TIME";
  }
  return "";
}

Tone tone_of(const std::optional<SearchEnd>& end) {
  if (!end || *end == SearchEnd::own_limit || *end == SearchEnd::out_of_time) return Tone::warn;
  return *end == SearchEnd::broken_throughout ? Tone::bad : Tone::good;
}

const char* name(SearchPhase phase) {
  switch (phase) {
    case SearchPhase::growing: return "growing";
    case SearchPhase::bisecting: return "bisecting";
    case SearchPhase::confirming: return "confirming";
  }
  return "";
}

}  // namespace

std::string trial_line(const SearchPlan& search, std::size_t number, const SearchTrial& trial) {
  std::string line = fmt::format("trial {:<3} {:>12}  {:<7} {:>9}", number, said(search, trial.load),
                                 name(trial.outcome), format_rate(trial.reached_per_s));
  if (!trial.time.empty())
    line += fmt::format("  {} p50 {}  p99 {}", trial.time, format_time_us(trial.p50_us),
                        format_time_us(trial.p99_us));
  line += fmt::format("  {} failed", format_count(trial.failed));
  if (!trial.why.empty()) line += fmt::format("  ({})", printable(trial.why, true));
  return line;
}

std::string render_search(const SearchResult& result, const ViewStyle& style, const std::string& folder) {
  std::vector<Line> lines;
  const auto spoilt = static_cast<std::size_t>(
      std::count_if(result.trials.begin(), result.trials.end(), [](const auto& t) { return !counts(t); }));
  Line head(style.unicode);
  head.add(result.plan, Tone::strong)
      .add(" ")
      .add(Sign::dot)
      .add(" ")
      .add(result.target)
      .add(" ")
      .add(Sign::dot);
  head.add(fmt::format(" {} trials in {}", result.trials.size(),
                       format_clock(static_cast<std::int64_t>(result.duration_s * 1e6))));
  if (spoilt > 0) head.add(fmt::format(", {} of them spoilt and not counted", spoilt));
  lines.push_back(head);
  std::vector<std::string> promises;
  for (const Expression& promise : result.search.keep) promises.push_back(promise.text);
  for (Line& line :
       flow_words(Line(style.unicode).add("  keeps  "), fmt::format("{}", fmt::join(promises, ", ")), style))
    lines.push_back(std::move(line));
  lines.emplace_back(style.unicode);
  put_curve(result, style, lines);
  Line verdict(style.unicode);
  verdict.add(headline(result.end), tone_of(result.end)).add("  ");
  for (Line& line : flow_words(verdict, conclusion(result), style)) lines.push_back(std::move(line));
  if (!folder.empty()) lines.push_back(Line(style.unicode).add(folder, Tone::dim));
  return render(lines, style);
}

nlohmann::json search_json(const SearchResult& result) {
  using Json = nlohmann::json;
  const SearchPlan& search = result.search;
  Json json{{"plan", result.plan},
            {"target", result.target},
            {"raise", raises_arrivals(search) ? "arrivals" : "users"},
            {"end", result.end ? name(*result.end) : "interrupted"},
            {"exit_code", result.exit_code},
            {"duration_s", result.duration_s}};
  if (search.scenario) json["scenario"] = result.scenarios.at(*search.scenario);
  for (const Expression& promise : search.keep) json["keep"].push_back(promise.text);
  if (result.kept > 0) json["kept"] = load_of(search, result.kept);
  json["times_kept"] = result.times_kept;
  if (result.beyond) json["beyond"] = load_of(search, *result.beyond);
  json["trials"] = Json::array();
  for (const SearchTrial& trial : result.trials) {
    Json row{{"load", load_of(search, trial.load)},
             {"phase", name(trial.phase)},
             {"outcome", name(trial.outcome)},
             {"reached_per_s", trial.reached_per_s},
             {"failed", trial.failed}};
    if (!trial.folder.empty()) row["folder"] = trial.folder;
    if (!trial.why.empty()) row["why"] = trial.why;
    if (!trial.time.empty()) {
      row["time"] = trial.time;
      row["p50_us"] = trial.p50_us;
      row["p99_us"] = trial.p99_us;
    }
    json["trials"].push_back(std::move(row));
  }
  return json;
}

int exit_code(std::optional<SearchEnd> end) noexcept {
  if (!end) return exit_code(Verdict::interrupted);
  switch (*end) {
    case SearchEnd::found:
    case SearchEnd::kept_throughout: return exit_code(Verdict::passed);
    case SearchEnd::broken_throughout: return exit_code(Verdict::failed);
    case SearchEnd::own_limit: return exit_code(Verdict::invalid);
    case SearchEnd::out_of_time: return exit_code(Verdict::aborted);
  }
  return exit_code(Verdict::internal_error);
}

}  // namespace onrush
