// The summary's tables of stages and times, and the lines of what the run cost.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "coordinator/summary_view_parts.h"
#include "coordinator/view_table.h"
#include "core/format.h"

namespace onrush::summary_parts {
namespace {

std::string share(std::uint64_t part, std::uint64_t whole) {
  return format_share(static_cast<double>(part) / static_cast<double>(whole));
}

std::vector<std::string> delivery_clauses(const Json& delivery) {
  std::vector<std::string> clauses;
  const auto expected = count(delivery, "expected");
  if (!expected || *expected == 0) return clauses;
  if (const auto broadcasts = count(delivery, "broadcasts"))
    clauses.push_back(format_count(*broadcasts) + (*broadcasts == 1 ? " broadcast" : " broadcasts"));
  const std::uint64_t received = count(delivery, "received").value_or(0);
  const auto is_zero = [&delivery](const char* key) { return count(delivery, key) == std::uint64_t{0}; };
  if (received != *expected) {
    clauses.push_back(fmt::format("{} of {} delivered ({})", format_count(received), format_count(*expected),
                                  share(received, *expected)));
  } else if (is_zero("duplicates") && is_zero("reordered") && is_zero("gaps")) {
    clauses.push_back("all " + format_count(received) + " delivered once, in order");
    return clauses;
  } else {
    clauses.push_back("all " + format_count(received) + " delivered");
  }
  for (const auto& [key, words] :
       {std::pair{"duplicates", "twice"}, {"gaps", "skipped"}, {"reordered", "out of order"}})
    if (const auto found = count(delivery, key)) clauses.push_back(format_count(*found) + " " + words);
  return clauses;
}

std::string connected_clause(const Json& stage, std::uint64_t opened) {
  std::string clause = format_count(opened) + " connected";
  const auto rate = number(stage, "connect_rate");
  if (!rate || *rate <= 0) return clause;
  clause += " at " + format_rate(*rate);
  if (const auto asked = number(stage, "asked_rate"); asked && *asked > 0)
    clause += " (asked " + format_rate(*asked) + ")";
  return clause;
}

/// What happened in a stage, most telling first.
std::vector<std::string> clauses(const Json& stage) {
  const Json& counts = member(stage, "counts");
  const auto of = [&counts](const char* key) { return count(counts, key).value_or(0); };
  std::vector<std::string> clauses;
  if (of("arrivals") > 0)
    clauses.push_back(fmt::format("{} arrivals, {} dropped", format_count(of("arrivals")),
                                  format_count(of("dropped_arrivals"))));
  const std::vector<std::string> delivered = delivery_clauses(member(stage, "delivery"));
  clauses.insert(clauses.end(), delivered.begin(), delivered.end());
  if (of("opened") > 0) clauses.push_back(connected_clause(stage, of("opened")));
  if (of("failed") > 0) clauses.push_back(format_count(of("failed")) + " failed");
  if (delivered.empty() && of("messages_sent") + of("messages_received") > 0)
    clauses.push_back(fmt::format("{} messages out, {} in", format_count(of("messages_sent")),
                                  format_count(of("messages_received"))));
  if (of("failed_requests") > 0)
    clauses.push_back(format_count(of("failed_requests")) + " requests without reply");
  const std::uint64_t lost = std::min(of("lost"), of("closed"));
  const std::uint64_t cut = std::min(of("disconnected"), of("closed") - lost);
  if (cut > 0) clauses.push_back(format_count(cut) + " disconnected");
  if (of("closed") > lost + cut)
    clauses.push_back(format_count(of("closed") - lost - cut) + " closed in order");
  if (of("reconnected") > 0) clauses.push_back(format_count(of("reconnected")) + " came back");
  if (of("gave_up") > 0) clauses.push_back(format_count(of("gave_up")) + " gave up");
  if (of("lost") > 0 || (clauses.empty() && count(counts, "lost")))
    clauses.push_back(format_count(of("lost")) + " lost");
  return clauses;
}

Line joined(const std::vector<std::string>& clauses, std::size_t first, std::size_t last, bool unicode) {
  Line line{unicode};
  for (std::size_t i = first; i < last; ++i) line.add(clauses[i]).add(i + 1 < clauses.size() ? ", " : "");
  return line;
}

/// The clauses on as many lines as `columns` asks for.
Lines wrapped(const std::vector<std::string>& clauses, int columns, bool unicode) {
  Lines lines;
  for (std::size_t first = 0; first < clauses.size();) {
    std::size_t last = first + 1;
    while (last < clauses.size() && joined(clauses, first, last + 1, unicode).width() <= columns) ++last;
    lines.push_back(joined(clauses, first, last, unicode));
    first = last;
  }
  if (lines.empty()) lines.emplace_back(unicode);
  return lines;
}

/// What a time's figures have to be read with.
std::string note_on(const Json& summary, std::string_view name, const Json& time) {
  if (const auto above = count(time, "above_range"); above && *above > 0)
    return format_count(*above) + " above 1 h";
  if (name != "delivery_time" && name != "batch_delivery_time") return {};
  const auto error_us = number(summary, "clock_error_us");
  if (!error_us) return {};
  if (*error_us == 0) return "one clock";
  return "within " + format_time_us(std::llround(std::clamp(*error_us, 0.0, 4e12)));
}

std::string shown_time(const Json& time, const char* key) {
  const auto value = number(time, key);
  constexpr double kMost_us = 9e18;  // what fits in 64 bits
  if (!value || std::fabs(*value) > kMost_us) return "-";
  return format_time_us(std::llround(*value));
}

Line cost_label(const std::string& label, int columns, const ViewStyle& style) {
  return Line{style.unicode}
      .add("  ")
      .add(Line{style.unicode}.add(label).cut_to(columns))
      .pad_to(2 + columns + 3);
}

std::vector<std::string> observed_pieces(const Json& observed) {
  std::vector<std::string> pieces;
  if (const auto peak = number(observed, "cpu_peak_cores")) {
    std::string cpu = fmt::format("cpu {:.2f} cores at peak", *peak);
    if (const auto idle = number(observed, "cpu_idle_cores")) cpu += fmt::format(", {:.2f} idle", *idle);
    pieces.push_back(cpu);
  }
  if (const auto cpu_s = number(observed, "cpu_s"); cpu_s && pieces.empty())
    pieces.push_back("cpu " + format_seconds(*cpu_s));
  if (const auto most = count(observed, "memory_max_bytes")) {
    std::string memory = "memory " + format_bytes(*most);
    if (const auto each = count(observed, "bytes_per_connection"))
      memory += ", " + format_bytes(*each) + " a connection";
    pieces.push_back(memory);
  }
  return pieces;
}

std::vector<std::string> generator_pieces(const Json& summary) {
  const Json& generator = member(summary, "generator");
  std::vector<std::string> pieces;
  const auto valid = count(generator, "valid_seconds");
  const std::uint64_t suspect = count(generator, "suspect_seconds").value_or(0);
  const std::uint64_t invalid = count(generator, "invalid_seconds").value_or(0);
  if (valid) {
    pieces.push_back(
        fmt::format("VALID {} of {} s", format_count(*valid), format_count(*valid + suspect + invalid)));
    if (suspect > 0) pieces.push_back(fmt::format("SUSPECT {} s", format_count(suspect)));
    if (invalid > 0) pieces.push_back(fmt::format("INVALID {} s", format_count(invalid)));
  }
  const Json& doubtful = list(summary, "suspect_seconds");
  if (!valid && !doubtful.empty())
    pieces.push_back(format_count(doubtful.size()) + " SUSPECT or INVALID seconds");
  if (!doubtful.empty())
    pieces.push_back(fmt::format("first at {}: {} {}", shown_seconds(number(doubtful[0], "second")),
                                 text(doubtful[0], "agent"), text(doubtful[0], "cause")));
  if (const auto bytes = count(generator, "bytes_per_user"))
    pieces.push_back("memory " + format_bytes(*bytes) + " a user");
  if (const auto peak = number(generator, "cpu_peak_cores"))
    pieces.push_back(fmt::format("cpu {:.2f} of a core at peak", *peak));
  return pieces;
}

// What compression saved. Without it the wire carries more than the messages, and there is nothing to say.
std::vector<std::string> compression_pieces(const Json& summary) {
  const Json& counts = member(summary, "counts");
  std::vector<std::string> pieces;
  const auto add = [&](const char* verb, const char* wire_key, const char* payload_key) {
    const auto wire = count(counts, wire_key);
    const auto payload = count(counts, payload_key);
    if (!wire || !payload || *wire >= *payload) return;
    pieces.push_back(fmt::format("{} {} of messages in {}, {}", verb, format_bytes(*payload),
                                 format_bytes(*wire),
                                 format_share(static_cast<double>(*wire) / static_cast<double>(*payload))));
  };
  add("sent", "bytes_sent", "payload_bytes_sent");
  add("received", "bytes_received", "payload_bytes_received");
  return pieces;
}

// The bound on a screen: a plan may have thousands of stages.
constexpr std::size_t kMostStages = 20;

}  // namespace

Lines stages(const Json& summary, const ViewStyle& style) {
  const Json& all = list(summary, "stages");
  if (all.empty()) return {};
  Table table{{{"stage", Align::left, 0, 24},
               {"length", Align::right, 1},
               {"users", Align::right, 2},
               {" what happened", Align::left, 0, 1000}},
              2,
              style.unicode};
  int name_columns = 5;
  int length_columns = 6;
  int users_columns = 5;
  const std::size_t shown = std::min(all.size(), kMostStages);
  const auto length_of = [](const Json& stage) {
    const auto start_s = number(stage, "start_s");
    const auto end_s = number(stage, "end_s");
    return start_s && end_s ? std::optional{*end_s - *start_s} : std::nullopt;
  };
  for (std::size_t i = 0; i < shown; ++i) {
    name_columns = std::max(name_columns, std::min(24, table.cell(text(all[i], "name")).width()));
    length_columns = std::max(length_columns, table.cell(shown_seconds(length_of(all[i]))).width());
    users_columns = std::max(users_columns, table.cell(shown_count(count(all[i], "users"))).width());
  }
  constexpr int kLeastWhat = 44;
  const int room = style.width - (2 + name_columns + 2 + length_columns + 2 + users_columns + 2 + 1);
  for (std::size_t i = 0; i < shown; ++i) {
    const Lines what = wrapped(clauses(all[i]), std::max(room, kLeastWhat), style.unicode);
    table.add_row({table.cell(text(all[i], "name")), table.cell(shown_seconds(length_of(all[i]))),
                   table.cell(shown_count(count(all[i], "users"))), table.cell(" ").add(what[0])});
    for (std::size_t k = 1; k < what.size(); ++k) table.add_note(3, table.cell(" ").add(what[k]));
  }
  Lines lines = table.lay_out(style);
  if (shown < all.size())
    lines.push_back(
        table.cell(fmt::format("  and {} more in summary.json", format_count(all.size() - shown))));
  return lines;
}

Lines times(const Json& summary, const ViewStyle& style) {
  const Json& all = member(summary, "times");
  if (!all.is_object() || all.empty()) return {};
  Table table{{{"times", Align::left, 0, 20},
               {"count", Align::right, 4, 26},
               {"min", Align::right, 3},
               {"p50", Align::right, 0},
               {"p90", Align::right, 1},
               {"p99", Align::right, 0},
               {"p99.9", Align::right, 2},
               {"max", Align::right, 0},
               {"", Align::left, 5}},
              2,
              style.unicode};
  // In the order in which a connection meets them; then whatever a later version adds; our own lateness last.
  constexpr std::array kFirst{
      "tcp_connect_time", "tls_time",       "tls_resumed_time",      "upgrade_time",
      "ack_time",         "handshake_time", "failed_handshake_time", "round_trip_time",
      "response_time",    "delivery_time",  "batch_delivery_time",   "session_time",
      "sending_time",     "recovery_time"};
  constexpr std::array kLast{"start_lag", "send_lag"};
  std::vector<std::string> names;
  const auto is_known = [&](const std::string& name) {
    return std::find(kFirst.begin(), kFirst.end(), name) != kFirst.end() ||
           std::find(kLast.begin(), kLast.end(), name) != kLast.end();
  };
  for (const char* name : kFirst) names.emplace_back(name);
  for (const auto& [name, time] : all.items())
    if (!is_known(name)) names.push_back(name);
  for (const char* name : kLast) names.emplace_back(name);
  for (const std::string& name : names) {
    const Json& time = member(all, name.c_str());
    if (!time.is_object()) continue;
    const std::string label = name.ends_with("_time") ? name.substr(0, name.size() - 5) : name;
    table.add_row({table.cell(label), table.cell(shown_count(count(time, "count"))),
                   table.cell(shown_time(time, "min_us")), table.cell(shown_time(time, "p50_us")),
                   table.cell(shown_time(time, "p90_us")), table.cell(shown_time(time, "p99_us")),
                   table.cell(shown_time(time, "p999_us")), table.cell(shown_time(time, "max_us")),
                   table.cell(note_on(summary, name, time), Tone::dim)});
  }
  return table.empty() ? Lines{} : table.lay_out(style);
}

Lines costs(const Json& summary, const ViewStyle& style) {
  std::vector<std::pair<std::string, std::vector<std::string>>> rows;
  for (const Json& one : list(summary, "observed")) {
    std::string label = text(one, "name");
    if (const auto pid = count(one, "pid")) label += fmt::format(" (pid {})", *pid);
    rows.emplace_back(label, observed_pieces(one));
  }
  rows.emplace_back("generator", generator_pieces(summary));
  rows.emplace_back("deflate", compression_pieces(summary));
  int columns = 0;
  for (const auto& [label, pieces] : rows)
    if (!pieces.empty()) columns = std::max(columns, std::min(28, Line{style.unicode}.add(label).width()));
  Lines lines;
  for (const auto& [label, pieces] : rows) {
    if (pieces.empty()) continue;
    std::vector<Line> shown;
    for (const std::string& piece : pieces) {
      const bool doubtful = piece.starts_with("SUSPECT") || piece.starts_with("INVALID");
      shown.push_back(Line{style.unicode}.add(piece, doubtful ? Tone::warn : Tone::plain));
    }
    for (Line& line : flow(cost_label(label, columns, style), shown, 3, style))
      lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace onrush::summary_parts
