#include "core/plan_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "core/nearest.h"

namespace onrush {
namespace {

// What the scripts of a plan can produce.
struct Sources {
  bool requests = false;
  bool paced_requests = false;
  bool numbered_broadcasts = false;
  bool sent_stamps = false;
  bool batch_stamps = false;
  bool sends = false;
};

void collect(const Steps& steps, bool paced, Sources& sources) {
  for (const Step& step : steps) {
    if (std::holds_alternative<SendStep>(step.what)) sources.sends = true;
    if (std::holds_alternative<RequestStep>(step.what)) {
      sources.requests = sources.sends = true;
      sources.paced_requests = sources.paced_requests || paced;
    }
    if (const auto* listen = std::get_if<ListenStep>(&step.what)) {
      sources.numbered_broadcasts = sources.numbered_broadcasts || !listen->sequence.empty();
      sources.sent_stamps = sources.sent_stamps || !listen->sent.empty();
      sources.batch_stamps = sources.batch_stamps || !listen->batch_sent.empty();
    }
    if (const auto* repeat = std::get_if<RepeatStep>(&step.what))
      collect(repeat->body, repeat->every_ns.has_value(), sources);
    paced = false;
  }
}

bool opens(const Plan& plan) {
  return std::any_of(plan.stages.begin(), plan.stages.end(), [](const Stage& s) {
    return s.arrivals.value_or(0) > 0 ||
           std::any_of(s.arrivals_by_scenario.begin(), s.arrivals_by_scenario.end(),
                       [](const auto& entry) { return entry.second > 0; });
  });
}

// Why a figure of a time would have no samples; nothing if it will have some.
std::optional<std::string> missing_source(Time time, const Sources& have) {
  switch (time) {
    case Time::round_trip: return have.requests ? std::nullopt : std::optional("no script has a 'request'");
    case Time::response:
      if (have.paced_requests) return std::nullopt;
      return "no 'request' is the first step of a 'repeat' with 'every', so none has a due time; use "
             "round_trip_time";
    case Time::delivery:
      return have.sent_stamps ? std::nullopt : std::optional("no 'listen' names the member 'sent'");
    case Time::batch_delivery:
      return have.batch_stamps ? std::nullopt : std::optional("no 'listen' names the member 'batch_sent'");
    case Time::send_lag: return have.sends ? std::nullopt : std::optional("no script sends anything");
    case Time::tcp_connect:
    case Time::upgrade:
    case Time::handshake:
    case Time::failed_handshake:
    case Time::start_lag:
    case Time::session: return std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::string> missing_source(const Expression& e, const Plan& plan, const Sources& have) {
  if (const auto* statistic = std::get_if<TimeStatistic>(&e.subject))
    return missing_source(statistic->time, have);
  const auto* figure = std::get_if<Figure>(&e.subject);
  const auto* counter = std::get_if<Counter>(&e.subject);
  if (figure != nullptr && *figure == Figure::reach && !have.numbered_broadcasts)
    return "no 'listen' names the member 'sequence'";
  if (figure != nullptr && *figure == Figure::failed_requests && !have.requests)
    return "no script has a 'request'";
  const bool of_arrivals =
      counter != nullptr && (*counter == Counter::arrivals || *counter == Counter::dropped_arrivals);
  if (of_arrivals && !opens(plan)) return "no stage has 'arrivals'";
  return std::nullopt;
}

// The line of the expression in the file; 1:1 if parameters hide it.
Position place(std::string_view yaml, const std::string& text) {
  const std::size_t at = yaml.find(text);
  if (at == std::string_view::npos) return {1, 1};
  const std::string_view before = yaml.substr(0, at);
  const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 = 0: the first line
  return {static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
          static_cast<int>(at - line_begin) + 1};
}

// Iterations of `repeat: every` that fall into a stage's hold, for each sender the stage starts.
std::optional<std::int64_t> sends_in(const Steps& script, std::int64_t length_ns) {
  for (const Step& step : script) {
    const auto* repeat = std::get_if<RepeatStep>(&step.what);
    if (repeat == nullptr || !repeat->every_ns) continue;
    const bool sends = std::any_of(repeat->body.begin(), repeat->body.end(),
                                   [](const Step& s) { return std::holds_alternative<SendStep>(s.what); });
    if (sends) return (length_ns + *repeat->every_ns - 1) / *repeat->every_ns;
  }
  return std::nullopt;
}

void note_broadcasts(const Expression& e, const Plan& plan, std::string_view yaml,
                     std::vector<Diagnostic>& out) {
  const auto* figure = std::get_if<Figure>(&e.subject);
  if (figure == nullptr || *figure != Figure::reach || e.stage.empty()) return;
  const auto stage =
      std::find_if(plan.stages.begin(), plan.stages.end(), [&](const Stage& s) { return s.name == e.stage; });
  if (stage == plan.stages.end() || !stage->for_ns) return;
  std::uint64_t broadcasts = 0;
  for (const auto& [scenario, users] : stage->users)
    if (const auto sends = sends_in(plan.scenarios[scenario].script, *stage->for_ns))
      broadcasts += users * static_cast<std::uint64_t>(*sends);
  if (broadcasts == 0) return;
  const Position at = place(yaml, e.text);
  out.push_back(
      {at.line, at.column,
       fmt::format("{} in stage '{}' judges about {} broadcast{}: what its own users send while it holds",
                   quoted("reach"), e.stage, broadcasts, broadcasts == 1 ? "" : "s")});
}

}  // namespace

std::vector<Diagnostic> notes(const Plan& plan, std::string_view yaml) {
  Sources sources;
  for (const Scenario& s : plan.scenarios) collect(s.script, false, sources);
  std::vector<Diagnostic> out;
  for (const std::vector<Expression>* list : {&plan.thresholds, &plan.abort})
    for (const Expression& e : *list) {
      note_broadcasts(e, plan, yaml, out);
      const auto missing = missing_source(e, plan, sources);
      if (!missing) continue;
      const Position at = place(yaml, e.text);
      out.push_back(
          {at.line, at.column, fmt::format("{} will have nothing to judge: {}", quoted(e.text), *missing)});
    }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace onrush
