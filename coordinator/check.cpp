#include "coordinator/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "coordinator/check_script.h"
#include "core/format.h"
#include "core/plan_search.h"
#include "core/preflight.h"
#include "core/timeline.h"

namespace onrush {

namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kLabel = 21;  // "  needs at its peak  "

std::size_t columns(std::string_view utf8) {
  return static_cast<std::size_t>(std::count_if(
      utf8.begin(), utf8.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

/// Puts `pieces` one after the other, with `between`, on lines that begin at column `indent`; `out` has
/// reached it.
void put_wrapped(const std::vector<std::string>& pieces, std::string_view between, std::size_t indent,
                 std::string& out) {
  std::size_t at = indent;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (i > 0 && at + columns(between) + columns(pieces[i]) > kWidth) {
      out += '\n' + std::string(indent, ' ');
      at = indent;
    } else if (i > 0) {
      out += between;
      at += columns(between);
    }
    out += pieces[i];
    at += columns(pieces[i]);
  }
  out += '\n';
}

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> all{""};
  for (const char c : text) {
    if (c == ' ')
      all.emplace_back();
    else
      all.back() += c;
  }
  return all;
}

/// The label stands on the first line only.
void put_lines(std::string_view label, const std::vector<std::string>& lines, std::string& out) {
  for (const std::string& line : lines) {
    out += fmt::format("  {:<{}}", label, kLabel - 2);
    put_wrapped(words(line), " ", kLabel, out);
    label = "";
  }
}

/// One line of the table.
struct Row {
  std::string stage;
  std::string length;
  std::string users;
  std::string connects;
  std::string rate;
};

std::string count_of(std::uint64_t n, const char* one, const char* many) {
  return fmt::format("{} {}", format_count(n), n == 1 ? one : many);
}

std::string length_of(const Plan& plan, const StageTimeline& stage) {
  switch (stage.end) {
    case StageEnd::after_length: return format_seconds(stage.length_s);
    case StageEnd::when_settled: return "~" + format_seconds(stage.length_s + stage.hold_s);
    case StageEnd::when_drained: break;
  }
  double longest_s = 0;
  for (const Scenario& s : plan.scenarios) longest_s = std::max(longest_s, mean_script_s(s));
  return std::isfinite(longest_s) ? "~" + format_seconds(longest_s) : "?";
}

std::string users_pace(const Stage& asked, const StageTimeline& stage) {
  if (stage.users.empty()) return "";
  const bool grows =
      std::any_of(stage.users.begin(), stage.users.end(), [](const UserChange& c) { return c.to > c.from; });
  if (asked.rate)
    return format_rate(*asked.rate) + (grows ? ", until all have connected" : "") +
           (stage.hold_s > 0 ? fmt::format(", then {}", format_seconds(stage.hold_s)) : "");
  if (stage.users.front().over_s == 0) return "all at once";
  double pace = 0;
  for (const UserChange& c : stage.users)
    pace += static_cast<double>(std::max(c.from, c.to) - std::min(c.from, c.to)) / c.over_s;
  return fmt::format("{} for {}", format_rate(pace), format_seconds(stage.users.front().over_s));
}

std::string arrivals_pace(const StageTimeline& stage) {
  if (stage.end == StageEnd::when_drained) return "until the last session has ended";
  double over_s = 0;
  for (const ArrivalChange& c : stage.arrivals) over_s = std::max(over_s, c.over_s);
  if (stage.arrivals.empty()) return "";
  double from = 0;
  double to = 0;
  for (const ArrivalChange& c : stage.arrivals) {
    from += c.over_s > 0 ? c.from_per_s : c.to_per_s;
    to += c.to_per_s;
  }
  const bool random = std::any_of(stage.arrivals.begin(), stage.arrivals.end(),
                                  [](const ArrivalChange& c) { return c.poisson; });
  const char* how = random ? " at random" : "";
  if (over_s == 0) return format_rate(to) + how;
  return fmt::format("{} to {}{} in {}{}", format_rate(from), format_rate(to), how, format_seconds(over_s),
                     stage.length_s > over_s ? ", then held" : "");
}

/// "2,500 users disconnected by RST in 0.1 s"
std::string disconnects(const Stage& asked, const StageTimeline& stage) {
  if (stage.cuts.empty()) return "";
  std::uint64_t count = 0;
  for (const UserCut& cut : stage.cuts) count += cut.count;
  return fmt::format("{} disconnected by {} in {}", count_of(count, "user", "users"),
                     asked.disconnect->by_close ? "close frame" : "RST",
                     format_seconds(stage.cuts.front().over_s));
}

/// "6 messages from publisher", "1,000 messages/s from chatter": what users of the closed model send on their
/// own clock.
std::string messages(const Plan& plan, const StageTimeline& stage, std::uint32_t scenario) {
  const std::uint64_t users = stage.users_at_end[scenario];
  const auto pace = facts_of(plan.scenarios[scenario]).pace;
  if (users == 0 || !pace || stage.end != StageEnd::after_length || stage.length_s == 0) return "";
  const std::string& name = plan.scenarios[scenario].name;
  if (users == 1)
    return count_of(messages_within(*pace, stage.length_s), "message from ", "messages from ") + name;
  const double per_s =
      static_cast<double>(users * pace->messages) * 1e9 / static_cast<double>(pace->every_ns);
  std::string rate = format_rate(per_s);
  return rate.insert(rate.size() - 2, " messages") + " from " + name;
}

std::vector<Row> rows_of(const Plan& plan) {
  const std::vector<StageTimeline> stages = timeline(plan);
  const std::vector<std::uint64_t> arrivals = arrivals_by_stage(plan);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const StageTimeline& stage = stages[i];
    std::uint64_t users = 0;
    for (const std::uint64_t n : stage.users_at_end) users += n;
    std::uint64_t connects = arrivals[i];
    for (const UserChange& c : stage.users) connects += std::max(c.from, c.to) - c.from;
    std::vector<std::string> parts = {users_pace(plan.stages[i], stage), arrivals_pace(stage),
                                      disconnects(plan.stages[i], stage)};
    if (!parts[0].empty() && !stage.arrivals.empty()) parts[1] = "arrivals at " + parts[1];
    for (std::uint32_t s = 0; s < plan.scenarios.size(); ++s) parts.push_back(messages(plan, stage, s));
    // One user who starts at once needs no word about its pace beside what it sends.
    if (connects <= 1 && parts[0] == "all at once") parts[0].clear();
    parts.erase(std::remove(parts.begin(), parts.end(), ""), parts.end());
    rows.push_back({stage.name, length_of(plan, stage), format_count(users), format_count(connects),
                    fmt::format("{}", fmt::join(parts, ", "))});
  }
  return rows;
}

void put_table(const Plan& plan, std::string& out) {
  std::vector<Row> rows = rows_of(plan);
  rows.insert(rows.begin(), {"stage", "length", "users at end", "connects", "rate"});
  const bool closed = peak_users(plan) > 0;
  const auto widest = [&](std::string Row::*cell) {
    std::size_t width = 0;
    for (const Row& row : rows) width = std::max(width, columns(row.*cell));
    return width;
  };
  const std::size_t stage = widest(&Row::stage), length = widest(&Row::length), users = widest(&Row::users),
                    connects = widest(&Row::connects);
  for (const Row& row : rows) {
    std::string line = "  " + row.stage + std::string(stage - columns(row.stage), ' ');
    line += fmt::format("  {:>{}}", row.length, length);
    if (closed) line += fmt::format("  {:>{}}", row.users, users);
    line += fmt::format("  {:>{}}", row.connects, connects);
    if (row.rate.empty()) {
      out += line + '\n';
      continue;
    }
    out += line + "   ";
    put_wrapped(words(row.rate), " ", columns(line) + 3, out);
  }
}

void put_needs(const Plan& plan, const CheckFacts& facts, std::string& out) {
  const std::uint64_t peak = peak_sockets(plan);
  std::vector<std::string> needs = {(peak > peak_users(plan) ? "about " : "") +
                                    count_of(peak, "socket", "sockets")};
  if (facts.ports_per_address > 0) {
    const std::uint64_t addresses = std::max<std::uint64_t>(
        1, peak / facts.ports_per_address + (peak % facts.ports_per_address != 0 ? 1 : 0));
    needs.push_back(count_of(addresses, "source address", "source addresses"));
  }
  needs.push_back(fmt::format("{} here (ulimit -n {})",
                              count_of(agents_needed(peak, facts.descriptor_limit), "agent", "agents"),
                              format_count(facts.descriptor_limit)));
  needs.push_back(format_bytes(peak * kSocketBytes * (facts.target_on_host ? 2 : 1)) + " of kernel memory");
  out += fmt::format("  {:<{}}", "needs at its peak", kLabel - 2);
  put_wrapped(needs, " · ", kLabel, out);
}

std::string abort_of(const Plan& plan, const Expression& abort) {
  const auto* figure = std::get_if<Figure>(&abort.subject);
  if (figure != nullptr && *figure == Figure::connect_pace && abort.comparison == Comparison::less)
    for (const StageTimeline& stage : timeline(plan))
      if (stage.name == abort.stage && stage.asked_rate > 0)
        return fmt::format(
            "fewer than {} connect{} in {} ({})", format_rate(stage.asked_rate * abort.value),
            abort.for_ns > 0 ? " for " + format_seconds(static_cast<double>(abort.for_ns) / 1e9) : "",
            stage.name, abort.text.substr(0, std::min(abort.text.find(" for "), abort.text.find(" in "))));
  return abort.text;
}

/// "member: after up to 0.1 s, then x2 up to 10 s, full jitter, 20 attempts"
std::vector<std::string> comings_back(const Plan& plan) {
  constexpr std::array kJitters{"no jitter", "equal jitter", "full jitter"};
  std::vector<std::string> lines;
  for (const Scenario& s : plan.scenarios) {
    if (!s.reconnect) continue;
    const Backoff& b = *s.reconnect;
    lines.push_back(fmt::format("{}: after up to {}, then x{:g} up to {}, {}, {}", s.name,
                                format_seconds(static_cast<double>(b.low_ns) / 1e9), b.factor,
                                format_seconds(static_cast<double>(b.high_ns) / 1e9),
                                kJitters[static_cast<std::size_t>(b.jitter)],
                                count_of(b.attempts, "attempt", "attempts")));
  }
  return lines;
}

std::string search_of(const Plan& plan) {
  const SearchPlan& search = *plan.search;
  const bool arrivals = search.raise == SearchPlan::Raise::arrivals;
  const auto load = [&](double value) {
    return arrivals ? format_rate(value) : format_count(static_cast<std::uint64_t>(value));
  };
  const std::string step =
      search.step_share > 0 ? format_share(search.step_share) + " of the load" : load(search.step);
  std::string text = fmt::format(
      "onrush search raises {}{} from {} to {}, by {:g} until broken, then halves to {}; each trial {}, all "
      "at most {}",
      arrivals ? "arrivals" : "users",
      search.scenario ? fmt::format(" of {}", plan.scenarios[*search.scenario].name) : "", load(search.from),
      load(search.to), search.factor, step, format_length(search.over_ns + search.hold_ns),
      format_length(search.at_most_ns));
  return text;
}

std::vector<std::string> texts_of(const std::vector<Expression>& expressions) {
  std::vector<std::string> texts;
  for (const Expression& e : expressions) texts.push_back(e.text);
  return texts;
}

/// Those of the plan, and those of a trial of its search that are not the plan's too.
std::vector<std::string> notes_of(const Plan& plan, const CheckFacts& facts) {
  std::vector<std::string> notes = check_notes(plan, facts);
  if (!plan.search) return notes;
  Plan trial = plan;
  set_trial(trial, range_of(*plan.search).from);
  for (const std::string& note : check_notes(trial, facts))
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back("in a trial, " + note);
  return notes;
}

}  // namespace

std::string render_check(const Plan& plan, const CheckFacts& facts) {
  std::string out = plan.name + ": a good plan\n\n";
  put_table(plan, out);
  out += '\n';
  put_needs(plan, facts, out);
  put_lines("comes back", comings_back(plan), out);
  std::vector<std::string> aborts;
  for (const Expression& abort : plan.abort) aborts.push_back(abort_of(plan, abort));
  put_lines("stops early if", aborts, out);
  put_lines("passes if", texts_of(plan.thresholds), out);
  if (plan.search) {
    put_lines("search", {search_of(plan)}, out);
    if (texts_of(plan.search->keep) != texts_of(plan.thresholds))
      put_lines("keeps", texts_of(plan.search->keep), out);
  }
  for (const std::string& note : notes_of(plan, facts)) put_lines("note", {note}, out);
  return out;
}

}  // namespace onrush
