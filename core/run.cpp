#include "core/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/feed_shares.h"
#include "core/format.h"
#include "core/health.h"

namespace onrush {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
// Allocating and reading the plan takes an agent well under a second; one that takes this long will not come.
constexpr std::int64_t kReadyDeadline = 30 * kSecond;
// An agent says something every second; three in a row missing is told. A stream that still stands gets
// longer: a starved host is silent for seconds and its users live on, while a dead process or host breaks the
// stream.
constexpr std::int64_t kSilence = 3 * kSecond;
constexpr std::int64_t kGivenUp = 10 * kSecond;
// Processes are looked at once a second, from the first on.
constexpr std::int64_t kUnobserved = 3 * kSecond;
constexpr std::size_t kMostNamed = 5;
// The start and every stage end lie this far ahead, so that the word reaches all agents before its instant.
constexpr std::int64_t kStartLead = 500'000'000;
constexpr std::int64_t kStageLead = 100'000'000;
// Closing is paced at 20,000 a second; this is for the last answers and the last snapshot on top.
constexpr double kClosePerSecond = 20'000;
constexpr std::int64_t kCloseGrace = 10 * kSecond;

std::int64_t to_ns(double seconds) { return std::llround(seconds * 1e9); }

}  // namespace

const char* name(RunState state) noexcept {
  switch (state) {
    case RunState::preparing: return "preparing";
    case RunState::running: return "running";
    case RunState::stopping: return "stopping";
    case RunState::finished: return "finished";
  }
  return "";
}

namespace {

std::vector<std::string> names(const std::vector<RunAgent>& agents) {
  std::vector<std::string> all;
  for (const RunAgent& agent : agents) all.push_back(agent.name);
  return all;
}

// Hundreds may go silent at once, when it is the host that is starved.
std::string first_few(const std::vector<std::string>& all) {
  const auto shown = std::min(all.size(), kMostNamed);
  std::string text = fmt::format("{}", fmt::join(all.begin(), all.begin() + std::ptrdiff_t(shown), ", "));
  if (shown < all.size()) text += fmt::format(" and {} more", all.size() - shown);
  return text;
}

}  // namespace

Run::Run(std::string id, Plan plan, PlanText text, std::vector<RunAgent> agents)
    : id_{std::move(id)},
      plan_{std::move(plan)},
      text_{std::move(text)},
      agents_{std::move(agents)},
      members_(agents_.size()),
      stages_{timeline(plan_)},
      aggregate_{plan_, stages_, names(agents_)} {
  ONRUSH_CHECK(!agents_.empty());
}

void Run::begin(std::int64_t now_ns) {
  begun_ns_ = ticked_ns_ = now_ns;
  if (std::string doubt = doubt_of(plan_.connection); !doubt.empty()) warn("plan: " + doubt);
  const auto count = static_cast<std::uint32_t>(agents_.size());
  std::vector<PlanFiles> files = deal_files(plan_, std::exchange(text_.files, {}), count);
  for (std::uint32_t i = 0; i < count; ++i) {
    members_[i].last_heard_ns = now_ns;
    PlanText text = text_;
    text.files = std::move(files[i]);
    send(i, Prepare{.run = id_,
                    .plan = std::move(text),
                    .share = {i, count},
                    .source = agents_[i].source,
                    .agents_on_host = agents_[i].agents_on_host});
  }
}

void Run::received(std::uint32_t agent, const FromAgent& message, std::int64_t now_ns) {
  Member& member = members_.at(agent);
  if (member.state == Member::State::lost) return;  // late words of an agent that was given up
  member.last_heard_ns = now_ns;
  // Before a tick: what the agents say now may belong to stages that they have entered by the clock alone.
  advance_stage(now_ns);
  if (const auto* ready = std::get_if<Ready>(&message)) {
    if (member.state != Member::State::preparing || state_ != RunState::preparing) return;
    member.state = Member::State::ready;
    for (const std::string& warning : ready->warnings) warn(warning);
    return start_if_all_ready(now_ns);
  }
  if (const auto* refused = std::get_if<Refused>(&message)) {
    if (state_ != RunState::preparing) return;
    for (const std::string& reason : refused->reasons) events_.refused.push_back(reason);
    return refuse(events_.refused.empty() ? agents_[agent].name + " refused without a reason" : "", now_ns);
  }
  if (const auto* stage = std::get_if<StageSettled>(&message)) return settled(agent, stage->stage);
  if (const auto* snapshot = std::get_if<Snapshot>(&message)) return take(agent, *snapshot, now_ns);
}

void Run::disconnected(std::uint32_t agent, std::int64_t now_ns) {
  if (members_.at(agent).state == Member::State::done) return;
  lose(agent, "its connection to the coordinator broke", now_ns);
}

void Run::interrupt(const std::string& why, bool at_once, std::int64_t now_ns) {
  if (state_ == RunState::finished) return;
  if (!events_.interrupted) events_.interrupted = why;
  if (state_ == RunState::preparing) return call_off(why, now_ns);
  if (at_once) return finish(now_ns);
  stop(why, now_ns);
}

void Run::tick(std::int64_t now_ns) {
  if (state_ == RunState::finished) return;
  forgive_own_pause(now_ns);
  watch_silence(now_ns);
  if (state_ == RunState::preparing && now_ns - begun_ns_ > kReadyDeadline) {
    for (std::size_t i = 0; i < members_.size(); ++i)
      if (members_[i].state == Member::State::preparing)
        events_.refused.push_back(
            fmt::format("{} did not get ready within {} s", agents_[i].name, kReadyDeadline / kSecond));
    return refuse("", now_ns);
  }
  if (state_ == RunState::running) {
    advance_stage(now_ns);
    if (state_ != RunState::running) return;
    watch_observed(now_ns);
    if (std::optional<std::string> reason = aggregate_.abort_reason()) {
      events_.aborted = reason;
      log_.push_back("aborted by the plan: " + *reason);
      return stop(*reason, now_ns);
    }
  }
  if (state_ == RunState::stopping && now_ns > closing_deadline_ns_)
    for (std::uint32_t i = 0; i < members_.size(); ++i)
      if (members_[i].state == Member::State::running) lose(i, "it did not close in time", now_ns);
}

void Run::observed(std::uint32_t index, double cpu_s, std::uint64_t memory_bytes, std::int64_t now_ns) {
  if (start_ns_ == 0 || now_ns < start_ns_ || state_ == RunState::finished) return;
  aggregate_.observed(index, static_cast<std::uint32_t>((now_ns - start_ns_) / kSecond), cpu_s, memory_bytes);
}

Live Run::live(std::int64_t now_ns) const {
  const std::int64_t until_ns = state_ == RunState::finished ? ended_ns_ : now_ns;
  const bool started = start_ns_ != 0 && until_ns > start_ns_;
  const std::int64_t elapsed_us = started ? since_start_us(until_ns) : 0;
  Live live = aggregate_.live(elapsed_us);
  live.run = id_;
  live.state = name(state_);
  live.elapsed_us = elapsed_us;
  if (!started) return live;
  double left_s = stage_ends_ns_ ? static_cast<double>(*stage_ends_ns_ - until_ns) * 1e-9
                                 : stages_[stage_].length_s + stages_[stage_].hold_s -
                                       static_cast<double>(until_ns - stage_began_ns_) * 1e-9;
  left_s = std::max(left_s, 0.0);
  for (std::size_t i = stage_ + 1; i < stages_.size(); ++i) left_s += stages_[i].length_s + stages_[i].hold_s;
  if (state_ == RunState::running) live.left_us = std::llround(left_s * 1e6);
  return live;
}

std::int64_t Run::duration_us(std::int64_t now_ns) const noexcept {
  if (start_ns_ == 0) return 0;
  return std::max<std::int64_t>(0, since_start_us(state_ == RunState::finished ? ended_ns_ : now_ns));
}

void Run::send(std::uint32_t agent, FromCoordinator message) {
  if (members_[agent].state == Member::State::lost) return;
  outgoing_.push_back({agent, std::move(message)});
}

void Run::send_to_all_running(const FromCoordinator& message) {
  for (std::uint32_t i = 0; i < members_.size(); ++i)
    if (members_[i].state == Member::State::running) send(i, message);
}

void Run::start_if_all_ready(std::int64_t now_ns) {
  const auto is_ready = [](const Member& m) { return m.state == Member::State::ready; };
  if (!std::all_of(members_.begin(), members_.end(), is_ready)) return;
  start_ns_ = now_ns + kStartLead;
  state_ = RunState::running;
  for (Member& member : members_) member.state = Member::State::running;
  send_to_all_running(Start{start_ns_});
  stage_began_ns_ = start_ns_;
  aggregate_.stage_began(0, 0);
}

// An agent follows its own clock, so it may settle in a stage that has not begun here yet; it says so only
// once.
void Run::settled(std::uint32_t agent, std::uint32_t stage) { members_[agent].settled = stage; }

void Run::take(std::uint32_t agent, const Snapshot& snapshot, std::int64_t now_ns) {
  Member& member = members_[agent];
  if (member.state != Member::State::running && member.state != Member::State::done) return;
  const Expected<bool, std::string> applied = aggregate_.apply(agent, snapshot);
  if (!applied) return lose(agent, "it sent a snapshot that cannot be right: " + applied.error(), now_ns);
  if (*applied && !snapshot.trace.empty()) keep_trace(snapshot.trace);
  send(agent, Acknowledge{snapshot.number});
  watch_memory(agent, snapshot.health, now_ns);
  if (applied.value()) show(snapshot);
  if (!snapshot.last || member.state == Member::State::done) return;
  // Its share is closed. Before the end of the timeline only a Stop, or an agent that leaves, leads here.
  member.state = Member::State::done;
  finish_if_done(now_ns);
}

// However the agents' parts of a second fall together, no more lines of it are shown than may be; and what
// comes over the wire is held against the plan once more.
void Run::show(const Snapshot& snapshot) {
  for (const LogLine& line : snapshot.log) {
    if (line.scenario >= plan_.scenarios.size()) continue;
    const std::int64_t second = line.at_us / 1'000'000;
    if (second > log_second_) {
      log_second_ = second;
      logged_ = 0;
    }
    if (logged_ >= kLogLinesPerSecond) continue;
    ++logged_;
    LogLine fit = line;
    fit.text = fit_to_show(line.text);
    log_.push_back("log: " + describe(fit, plan_.scenarios[line.scenario].name));
  }
}

void Run::keep_trace(std::string_view lines) {
  if (trace_.size() + lines.size() <= kTraceBytesOfARun) {
    trace_.append(lines);
  } else if (!trace_is_cut_) {
    trace_is_cut_ = true;
    log_.push_back("the trace is full; nothing more is added to it");
  }
}

// Agents of one host see the same, with figures that differ a little; once is enough.
void Run::warn(const std::string& warning) {
  std::vector<std::string>& all = events_.warnings;
  const std::string about = warning.substr(0, warning.find(": ") + 1);
  const auto is_known = [&](const std::string& known) { return known.starts_with(about); };
  if (std::any_of(all.begin(), all.end(), is_known)) return;
  all.push_back(warning);
  log_.push_back("warning: " + warning);
}

// While the run is young, so that a wrong port can be mended and not only be read about.
void Run::watch_observed(std::int64_t now_ns) {
  if (told_unobserved_ || now_ns - start_ns_ < kUnobserved) return;
  told_unobserved_ = true;
  for (std::size_t i = 0; i < plan_.observe.size(); ++i)
    if (aggregate_.observations()[i].empty()) log_.push_back("warning: " + unobserved(plan_.observe[i]));
}

// Opening more would take the target's memory as well as ours, and the kernel would choose whom to kill.
void Run::watch_memory(std::uint32_t agent, const Health& health, std::int64_t now_ns) {
  if (state_ != RunState::running || !nears_end_of_memory(health)) return;
  events_.out_of_memory = fmt::format(
      "stopped before the memory ran out: {}'s host had {} left and keeps {} free (--memory-reserve); free "
      "some, "
      "or spread the users over more hosts, see: onrush doctor",
      agents_[agent].name, format_bytes(health.memory_left_bytes), format_bytes(health.memory_reserve_bytes));
  log_.push_back(*events_.out_of_memory);
  stop(*events_.out_of_memory, now_ns);
}

void Run::lose(std::uint32_t agent, const std::string& why, std::int64_t now_ns) {
  Member& member = members_[agent];
  if (member.state == Member::State::lost || member.state == Member::State::done) return;
  if (state_ == RunState::finished) return;
  member.state = Member::State::lost;
  given_up_.push_back(agent);
  if (state_ == RunState::preparing)
    return refuse(fmt::format("{} was lost before the start: {}", agents_[agent].name, why), now_ns);
  log_.push_back(fmt::format("lost {}: {}", agents_[agent].name, why));
  events_.lost_agents.push_back(agents_[agent].name);
  aggregate_.agent_lost(agent, std::max<std::int64_t>(0, since_start_us(now_ns)));
  const auto is_running = [](const Member& m) { return m.state == Member::State::running; };
  if (state_ == RunState::running && plan_.on_agent_loss == OnAgentLoss::abort) {
    events_.aborted = fmt::format("on_agent_loss: abort, and {} was lost", agents_[agent].name);
    return stop(*events_.aborted, now_ns);
  }
  if (std::none_of(members_.begin(), members_.end(), is_running)) finish(now_ns);
}

void Run::refuse(const std::string& reason, std::int64_t now_ns) {
  if (!reason.empty()) events_.refused.push_back(reason);
  call_off("the run is refused", now_ns);
}

// Nothing has been started; whoever has prepared may forget it.
void Run::call_off(const std::string& why, std::int64_t now_ns) {
  for (std::uint32_t i = 0; i < members_.size(); ++i) send(i, Stop{why});
  finish(now_ns);
}

void Run::advance_stage(std::int64_t now_ns) {
  while (state_ == RunState::running && now_ns >= stage_began_ns_) {
    const StageTimeline& stage = stages_[stage_];
    if (!stage_ends_ns_) {
      if (stage.end == StageEnd::after_length)
        stage_ends_ns_ = stage_began_ns_ + to_ns(stage.length_s);
      else if (all_settled())
        end_settled_stage(now_ns);
    }
    if (!stage_ends_ns_ || now_ns < *stage_ends_ns_) return;
    const std::int64_t at_ns = *std::exchange(stage_ends_ns_, std::nullopt);
    aggregate_.stage_ended(stage_, since_start_us(at_ns));
    if (stage_ + 1 == stages_.size()) return end_last_stage(at_ns, now_ns);
    ++stage_;
    stage_began_ns_ = at_ns;
    aggregate_.stage_began(stage_, since_start_us(at_ns));
  }
}

void Run::end_settled_stage(std::int64_t now_ns) {
  stage_ends_ns_ = now_ns + kStageLead + to_ns(stages_[stage_].hold_s);
  send_to_all_running(EndStage{stage_, *stage_ends_ns_});
}

// The agents know that this was the last stage: they close what is left and send their last snapshot.
void Run::end_last_stage(std::int64_t at_ns, std::int64_t now_ns) {
  state_ = RunState::stopping;
  const auto open = static_cast<double>(aggregate_.live(since_start_us(at_ns)).open);
  closing_deadline_ns_ = at_ns + to_ns(open / kClosePerSecond) + kCloseGrace;
  finish_if_done(now_ns);
}

void Run::stop(const std::string& why, std::int64_t now_ns) {
  if (state_ != RunState::running) return;
  send_to_all_running(Stop{why});
  aggregate_.stage_ended(stage_, std::max<std::int64_t>(0, since_start_us(now_ns)));
  end_last_stage(now_ns, now_ns);
}

void Run::finish_if_done(std::int64_t now_ns) {
  const auto is_over = [](const Member& m) {
    return m.state == Member::State::done || m.state == Member::State::lost;
  };
  if (state_ != RunState::finished && std::all_of(members_.begin(), members_.end(), is_over)) finish(now_ns);
}

void Run::finish(std::int64_t now_ns) {
  // Agents end the last stage by their own clocks, and may be done before this one has looked at its end.
  if (state_ == RunState::running)
    aggregate_.stage_ended(stage_,
                           std::max<std::int64_t>(0, since_start_us(stage_ends_ns_.value_or(now_ns))));
  // What is still out belongs to agents that get no more time (a second Ctrl-C): their load is gone with
  // them.
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    if (members_[i].state != Member::State::running) continue;
    members_[i].state = Member::State::lost;
    aggregate_.agent_lost(i, std::max<std::int64_t>(0, since_start_us(now_ns)));
    given_up_.push_back(i);
  }
  state_ = RunState::finished;
  ended_ns_ = now_ns;
}

// A coordinator that was itself stopped for a while has heard nothing in that time: that is not the agents'
// silence.
void Run::forgive_own_pause(std::int64_t now_ns) {
  const std::int64_t pause_ns = now_ns - std::exchange(ticked_ns_, now_ns);
  if (pause_ns <= kSecond) return;
  for (Member& member : members_) member.last_heard_ns = std::min(member.last_heard_ns + pause_ns, now_ns);
  begun_ns_ += pause_ns;
  closing_deadline_ns_ += pause_ns;
}

void Run::watch_silence(std::int64_t now_ns) {
  std::vector<std::string> silent;
  std::vector<std::string> back;
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    Member& member = members_[i];
    // While it prepares it does nothing else (a slow name server takes seconds): that has its own deadline.
    if (member.state != Member::State::ready && member.state != Member::State::running) continue;
    const std::int64_t silence_ns = now_ns - member.last_heard_ns;
    if (silence_ns > kGivenUp) {
      lose(i, fmt::format("nothing heard of it for {} s", kGivenUp / kSecond), now_ns);
      continue;
    }
    if (std::exchange(member.is_silent, silence_ns > kSilence) == member.is_silent) continue;
    (member.is_silent ? silent : back).push_back(agents_[i].name);
  }
  if (!silent.empty())
    log_.push_back(fmt::format("nothing heard for {} s of {}; given up after {} s", kSilence / kSecond,
                               first_few(silent), kGivenUp / kSecond));
  if (!back.empty()) log_.push_back("heard again of " + first_few(back));
}

bool Run::all_settled() const noexcept {
  return std::all_of(members_.begin(), members_.end(), [this](const Member& m) {
    return m.state != Member::State::running || m.settled == stage_;
  });
}

}  // namespace onrush
