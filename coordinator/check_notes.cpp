// The notes of `onrush check`: each function looks for one thing that a plan can say and its author hardly
// means.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "coordinator/check.h"
#include "coordinator/check_data.h"
#include "coordinator/check_script.h"
#include "core/format.h"
#include "core/nearest.h"
#include "core/preflight.h"
#include "core/timeline.h"

namespace onrush {

namespace {

using Notes = std::vector<std::string>;

/// What can happen in one stage, or in the whole run.
struct Possible {
  bool connects = false;
  bool asks_for_connects = false;
  bool secure = false;   ///< wss
  bool resumes = false;  ///< TLS sessions
  bool returns = false;  ///< whoever is cut off
  ScriptFacts scripts;
};

void take_over(ScriptFacts& sum, const ScriptFacts& more) {
  sum.requests |= more.requests;
  sum.sends |= more.sends;
  sum.paced |= more.paced;
  sum.paced_requests |= more.paced_requests;
  sum.paced_sends |= more.paced_sends;
  sum.subscribes |= more.subscribes;
  sum.listens |= more.listens;
  sum.expects |= more.expects;
  sum.pings |= more.pings;
  sum.numbers_broadcasts |= more.numbers_broadcasts;
  sum.stamped |= more.stamped;
  sum.batch_stamped |= more.batch_stamped;
}

bool arrives(const StageTimeline& stage, std::uint32_t scenario, const Plan& plan) {
  return std::any_of(stage.arrivals.begin(), stage.arrivals.end(), [&](const ArrivalChange& c) {
    return c.stream == 1 + scenario || (c.stream == 0 && plan.scenarios[scenario].weight > 0);
  });
}

/// Sessions of the open model outlive the stage that they began in, so all scenarios that have arrived take
/// part.
std::vector<Possible> possible_by_stage(const Plan& plan) {
  std::vector<Possible> all;
  std::vector<bool> arrived(plan.scenarios.size());
  for (const StageTimeline& stage : timeline(plan)) {
    Possible possible;
    possible.secure = plan.targets.front().url.secure;
    possible.resumes = plan.connection.tls.resume;
    possible.asks_for_connects = stage.asked_rate > 0;
    for (std::uint32_t s = 0; s < plan.scenarios.size(); ++s) {
      const bool arrives_now = arrives(stage, s, plan);
      const bool starts_over = stage.users_at_end[s] > 0 && std::isfinite(mean_script_s(plan.scenarios[s]));
      arrived[s] = arrived[s] || arrives_now;
      possible.connects |= arrives_now || starts_over;
      bool takes_part = arrived[s] || stage.users_at_end[s] > 0;
      for (const UserChange& c : stage.users)
        if (c.scenario == s) {
          takes_part = true;
          possible.connects |= c.to > c.from;
        }
      if (!takes_part) continue;
      take_over(possible.scripts, facts_of(plan.scenarios[s]));
      possible.returns |= plan.scenarios[s].reconnect.has_value();
    }
    all.push_back(possible);
  }
  return all;
}

/// Why a subject can have no samples, or "".
const char* missing_of(Time time, const Possible& p) {
  switch (time) {
    case Time::tls_resumed:
      if (!p.resumes) return "nobody resumes a TLS session (connection: tls: resume)";
      [[fallthrough]];
    case Time::tls:
      if (!p.secure) return "the target is ws://, so nobody speaks TLS";
      return p.connects ? "" : "nobody connects";
    case Time::tcp_connect:
    case Time::upgrade:
    case Time::ack:
    case Time::handshake:
    case Time::failed_handshake:
    case Time::start_lag: return p.connects ? "" : "nobody connects";
    case Time::send_lag: return p.scripts.paced ? "" : "nobody sends at a pace (repeat with every)";
    case Time::round_trip: return p.scripts.requests ? "" : "nobody requests anything";
    case Time::response:
      return p.scripts.paced_requests ? "" : "nobody requests at a pace (repeat with every)";
    case Time::sending: return p.scripts.paced_sends ? "" : "nobody sends at a pace (repeat with every)";
    case Time::delivery: return p.scripts.stamped ? "" : "nobody listens for a time stamp (listen: sent)";
    case Time::batch_delivery:
      return p.scripts.batch_stamped ? "" : "nobody listens for a time stamp (listen: batch_sent)";
    case Time::recovery: return p.returns ? "" : "nobody comes back (on_close: reconnect)";
    case Time::expect: return p.scripts.expects ? "" : "nobody expects a message (expect)";
    case Time::ping: return p.scripts.pings ? "" : "nobody pings (ping)";
    case Time::first_event: return p.scripts.subscribes ? "" : "nobody subscribes";
    case Time::session: break;
  }
  return "";
}

const char* missing_of(Figure figure, bool share, const Possible& p) {
  switch (figure) {
    case Figure::failed_connections: return !share || p.connects ? "" : "nobody connects";
    case Figure::failed_requests: return !share || p.scripts.requests ? "" : "nobody requests anything";
    case Figure::reach:
      return p.scripts.numbers_broadcasts ? "" : "nobody listens for numbered messages (listen: sequence)";
    case Figure::connect_pace: return p.asks_for_connects ? "" : "no connection is asked for";
    case Figure::connect_rate: return p.connects ? "" : "nobody connects";
    case Figure::send_rate: return p.scripts.sends ? "" : "nobody sends";
    case Figure::lost_connections:
    case Figure::open:
    case Figure::receive_rate: break;
  }
  return "";
}

void without_samples(const Plan& plan, Notes& notes) {
  const std::vector<Possible> by_stage = possible_by_stage(plan);
  const auto look = [&](const Expression& e) {
    Possible possible;
    for (std::size_t i = 0; i < plan.stages.size(); ++i) {
      if (!e.stage.empty() && plan.stages[i].name != e.stage) continue;
      possible.connects |= by_stage[i].connects;
      possible.secure |= by_stage[i].secure;
      possible.resumes |= by_stage[i].resumes;
      possible.asks_for_connects |= by_stage[i].asks_for_connects;
      possible.returns |= by_stage[i].returns;
      take_over(possible.scripts, by_stage[i].scripts);
    }
    std::string missing;
    if (const auto* time = std::get_if<TimeStatistic>(&e.subject)) missing = missing_of(time->time, possible);
    if (const auto* figure = std::get_if<Figure>(&e.subject))
      missing = missing_of(*figure, e.share, possible);
    if (missing.empty()) return;
    notes.push_back(fmt::format("'{}' will have no samples: {}{}", e.text, missing,
                                e.stage.empty() ? "" : fmt::format(" in stage '{}'", e.stage)));
  };
  for (const Expression& e : plan.thresholds) look(e);
  for (const Expression& e : plan.abort) look(e);
}

bool counts_broadcasts(const Expression& e) {
  if (const auto* figure = std::get_if<Figure>(&e.subject)) return *figure == Figure::reach;
  const auto* time = std::get_if<TimeStatistic>(&e.subject);
  return time != nullptr && (time->time == Time::delivery || time->time == Time::batch_delivery);
}

/// How many broadcasts a threshold judges follows from `for` and `every` alone, and is easily cut down
/// unawares.
void few_broadcasts(const Plan& plan, Notes& notes) {
  for (const Expression& e : plan.thresholds)
    for (const StageTimeline& stage : timeline(plan)) {
      if (!counts_broadcasts(e) || stage.name != e.stage || stage.end != StageEnd::after_length) continue;
      for (std::size_t s = 0; s < plan.scenarios.size(); ++s) {
        const auto pace = facts_of(plan.scenarios[s]).pace;
        if (!pace || stage.users_at_end[s] == 0) continue;
        const std::uint64_t sent = stage.users_at_end[s] * messages_within(*pace, stage.length_s);
        if (sent >= 100) continue;
        notes.push_back(fmt::format("'{}' judges {} {}: '{}' sends every {} for {}", e.text,
                                    format_count(sent), sent == 1 ? "broadcast" : "broadcasts",
                                    plan.scenarios[s].name, format_length(pace->every_ns),
                                    format_seconds(stage.length_s)));
      }
    }
}

void slower_than_the_stage(const Plan& plan, Notes& notes) {
  for (const StageTimeline& stage : timeline(plan)) {
    if (stage.end != StageEnd::after_length) continue;
    for (const UserChange& c : stage.users) {
      const auto pace = facts_of(plan.scenarios[c.scenario]).pace;
      if (!pace || c.to <= c.from || static_cast<double>(pace->every_ns) / 1e9 < stage.length_s) continue;
      notes.push_back(
          fmt::format("'{}' repeats every {}, but stage '{}' in which it starts lasts {}: its second turn "
                      "comes later or never",
                      plan.scenarios[c.scenario].name, format_length(pace->every_ns), stage.name,
                      format_seconds(stage.length_s)));
    }
  }
}

void never_used(const Plan& plan, Notes& notes) {
  const std::vector<StageTimeline> stages = timeline(plan);
  for (std::uint32_t s = 0; s < plan.scenarios.size(); ++s) {
    const bool used = std::any_of(stages.begin(), stages.end(), [&](const StageTimeline& stage) {
      return stage.users_at_end[s] > 0 || arrives(stage, s, plan);
    });
    if (!used)
      notes.push_back(fmt::format("no stage has users or arrivals of scenario '{}'", plan.scenarios[s].name));
  }
}

// At 80 % of what fits, a target that answers a quarter slower than at once fills the rest.
constexpr double kNearCapacity = 0.8;

void near_capacity(const Plan& plan, const CheckFacts& facts, Notes& notes) {
  if (peak_arrival_sessions(plan) == 0 || facts.descriptor_limit <= kReservedDescriptors) return;
  const std::uint64_t peak = peak_sockets(plan);
  const std::uint32_t agents = agents_needed(peak, facts.descriptor_limit);
  const double used = static_cast<double>(peak) /
                      static_cast<double>(agents * (facts.descriptor_limit - kReservedDescriptors));
  if (used < kNearCapacity) return;
  notes.push_back(fmt::format(
      "about {} sockets are {} of what {} {} can hold, and sessions last longer when the target is "
      "slow: --agents {} leaves room, or arrivals are dropped",
      format_count(peak), format_share(used), agents, agents == 1 ? "agent" : "agents", agents + 1));
}

void too_little_memory(const Plan& plan, const CheckFacts& facts, Notes& notes) {
  const std::uint64_t needed =
      memory_needed(peak_sockets(plan), facts.target_on_host, need_of(plan, "").user_bytes);
  if (needed > facts.memory_available_bytes)
    notes.push_back(fmt::format("the peak needs {}, and this host has {} available: run agents on more hosts",
                                format_bytes(needed), format_bytes(facts.memory_available_bytes)));
}

void never_back(const Plan& plan, Notes& notes) {
  for (const StageTimeline& stage : timeline(plan))
    for (const UserCut& cut : stage.cuts)
      if (!plan.scenarios[cut.scenario].reconnect)
        notes.push_back(fmt::format(
            "stage '{}' disconnects {} of scenario '{}', which stay away: it has no 'on_close: reconnect'",
            stage.name, format_count(cut.count), plan.scenarios[cut.scenario].name));
}

void texts_like_pointers(const Scenario& scenario, const std::vector<Capture>& set, const char* step,
                         Notes& notes) {
  for (const Capture& capture : set) {
    const auto* text = std::get_if<Template>(&capture.source);
    if (text == nullptr) continue;
    const std::string& source = text->source();
    std::string pointer;
    if (source.starts_with("$.")) {
      pointer = "/" + source.substr(2);
      std::replace(pointer.begin(), pointer.end(), '.', '/');
    } else if (source.starts_with("/") && source.find(' ') == std::string::npos) {
      pointer = source;
    }
    if (pointer.empty()) continue;
    notes.push_back(
        fmt::format("'set' of '{}' in scenario '{}' keeps the text {} as '{}'; for a member of the "
                    "reply write {{json: {}}}",
                    step, scenario.name, quoted(source), scenario.captures[capture.place].name, pointer));
  }
}

/// A text in the place of what a reply holds, written as other tools write it.
void texts_like_pointers(const Scenario& scenario, const Steps& steps, Notes& notes) {
  for (const Step& step : steps) {
    if (const auto* request = std::get_if<RequestStep>(&step.what))
      texts_like_pointers(scenario, request->set, "request", notes);
    if (const auto* expect = std::get_if<ExpectStep>(&step.what))
      texts_like_pointers(scenario, expect->set, "expect", notes);
    if (const auto* repeat = std::get_if<RepeatStep>(&step.what))
      texts_like_pointers(scenario, repeat->body, notes);
    if (const auto* choose = std::get_if<ChooseStep>(&step.what))
      for (const ChooseStep::Branch& branch : choose->branches)
        texts_like_pointers(scenario, branch.body, notes);
  }
}

/// Users of the closed model begin anew when their script ends: one without a pause connects as fast as the
/// target lets it, which "connects" in the table does not say.
void without_pause(const Plan& plan, Notes& notes) {
  const std::vector<StageTimeline> stages = timeline(plan);
  for (std::uint32_t s = 0; s < plan.scenarios.size(); ++s) {
    const Scenario& scenario = plan.scenarios[s];
    const bool has_users = std::any_of(stages.begin(), stages.end(),
                                       [&](const StageTimeline& stage) { return stage.users_at_end[s] > 0; });
    if (!has_users || mean_script_s(scenario) > 0) continue;
    notes.push_back(fmt::format(
        "'{}' has no pause, and its users begin anew as soon as they are done: they connect again "
        "and again, as fast as the target lets them; end with 'listen', or put a 'think' into it",
        scenario.name));
  }
}

}  // namespace

std::vector<std::string> check_notes(const Plan& plan, const CheckFacts& facts) {
  Notes notes;
  without_samples(plan, notes);
  few_broadcasts(plan, notes);
  slower_than_the_stage(plan, notes);
  never_used(plan, notes);
  without_pause(plan, notes);
  for (const Scenario& scenario : plan.scenarios) texts_like_pointers(scenario, scenario.script, notes);
  note_data(plan, notes);
  never_back(plan, notes);
  if (std::string doubt = doubt_of(plan.connection); !doubt.empty()) notes.push_back(std::move(doubt));
  near_capacity(plan, facts, notes);
  too_little_memory(plan, facts, notes);
  return notes;
}

}  // namespace onrush
