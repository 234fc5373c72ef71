#include "coordinator/run_control.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "coordinator/exposition.h"
#include "coordinator/output.h"
#include "coordinator/report.h"
#include "core/address.h"
#include "core/plan_yaml.h"
#include "core/source_block.h"
#include "proto/host_facts.h"

namespace onrush {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
// Local agents are there within a second; those of a cluster were started before the run, or are being
// restarted.
constexpr std::int64_t kGatherDeadline = 15 * kSecond;
constexpr std::int64_t kTellInterval = kSecond / 4;

// Well below gRPC's limit of a message, and enough that a file is a few events.
constexpr std::size_t kFilePiece = 1024 * 1024;

const int kRefused = exit_code(Verdict::refused);
const int kInterrupted = exit_code(Verdict::interrupted);

std::tm utc_now() { return fmt::gmtime(std::chrono::system_clock::now()); }

}  // namespace

RunControl::RunControl(Settings settings) : settings_{std::move(settings)} {}
RunControl::~RunControl() = default;

AgentId RunControl::agent_attached(AgentLink link) { return fleet_.attached(std::move(link)); }

void RunControl::agent_said(AgentId id, const FromAgent& message) {
  const AgentLink* link = fleet_.link(id);
  if (link == nullptr) return;
  if (const auto* hello = std::get_if<Hello>(&message)) {
    if (const std::optional<std::string> why = fleet_.introduce(id, *hello)) return link->refuse(*why);
    spdlog::info("{} attached from {} ({} cores, {} descriptors)", hello->name, hello->host, hello->cores,
                 hello->descriptor_limit);
    link->send(Welcome{ONRUSH_VERSION, boot_id()});
    return start_if_gathered();
  }
  if (fleet_.hello(id) == nullptr) return link->refuse("an agent begins with hello");
  if (const auto* facts = std::get_if<HostFacts>(&message)) return fleet_.told(id, *facts);
  const std::int64_t now = monotonic_ns();
  if (const auto* probe = std::get_if<Probe>(&message))
    link->send(ProbeReply{probe->t1_ns, now, monotonic_ns()});
  if (const std::optional<std::uint32_t> index = member(id))
    run_->received(*index, message, now);
  else if (const auto* snapshot = std::get_if<Snapshot>(&message))
    link->send(Acknowledge{snapshot->number});  // its run is over, and else the agent would keep it for ever
  deliver();
}

void RunControl::agent_gone(AgentId id) {
  const std::optional<std::uint32_t> index = member(id);
  if (const Hello* hello = fleet_.hello(id)) spdlog::info("{} detached", hello->name);
  fleet_.detached(id);
  if (!index) return;
  run_->disconnected(*index, monotonic_ns());
  deliver();
}

FollowerId RunControl::submitted(const Submission& submission, Follower follower) {
  const FollowerId id = next_follower_++;
  if (submission.version != ONRUSH_VERSION) {
    follower(
        RunRejected{fmt::format("the coordinator is onrush {}, this command is onrush {}: use one version",
                                ONRUSH_VERSION, submission.version),
                    kRefused});
    return id;
  }
  if (!is_idle()) {
    follower(RunRejected{"the coordinator has a run under way; wait for its end, or stop it", kRefused});
    return id;
  }
  const PlanText& text = submission.plan;
  Expected<Plan, std::vector<Diagnostic>> plan = read_plan(source_of(text));
  if (!plan) {
    follower(RunRejected{render(text.file, plan.error()), kExitBadPlan});
    return id;
  }
  follower_ = std::move(follower);
  follower_id_ = id;
  waiting_ = Waiting{submission, std::move(*plan), monotonic_ns()};
  start_if_gathered();
  return id;
}

void RunControl::stop_asked(FollowerId id, const std::string& why, bool at_once) {
  if (id != follower_id_ || is_idle()) return;
  if (waiting_) return reject("stopped before the run began", kInterrupted);
  run_->interrupt(why, at_once, monotonic_ns());
  deliver();
}

// Whoever asked for the load is gone, so the load ends too; what was measured stays with the coordinator.
void RunControl::follower_gone(FollowerId id) {
  if (id == 0 || id != follower_id_ || is_idle()) return;
  follower_ = nullptr;
  stop("the command that had submitted the run is gone");
}

void RunControl::stop(const std::string& why) {
  if (waiting_) return reject(why, kInterrupted);
  if (!run_) return;
  run_->interrupt(why, false, monotonic_ns());
  deliver();
}

void RunControl::tick() {
  const std::int64_t now = monotonic_ns();
  if (waiting_ && now - waiting_->since_ns > kGatherDeadline) {
    const std::uint32_t wanted = std::max(1U, waiting_->submission.agents);
    return reject(fmt::format("cannot run: {} of {} agents attached within {} s\n"
                              "  start agents with: onrush-agent --coordinator HOST:PORT",
                              fleet_.introduced().size(), wanted, kGatherDeadline / kSecond),
                  kRefused);
  }
  if (!run_) return;
  run_->tick(now);
  deliver();
  if (run_ && now - told_ns_ >= kTellInterval) {
    told_ns_ = now;
    tell(run_->live(now));
  }
}

void RunControl::start_if_gathered() {
  if (!waiting_) return;
  std::vector<AgentId> ids = fleet_.introduced();
  const std::size_t wanted = waiting_->submission.agents;
  if (ids.empty() || ids.size() < wanted) return;
  if (wanted != 0) ids.resize(wanted);
  begin(ids);
}

void RunControl::begin(const std::vector<AgentId>& ids) {
  Waiting waiting = std::move(*waiting_);
  waiting_.reset();
  members_ = ids;
  hellos_.clear();
  for (const AgentId id : ids) hellos_.push_back(*fleet_.hello(id));
  const std::vector<SourceBlock> blocks = deal_source_blocks(hellos_, hosts_of(dialled(waiting.plan)));
  std::vector<RunAgent> agents;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto is_on_host = [&](const Hello& other) { return other.boot_id == hellos_[i].boot_id; };
    const auto on_host = std::count_if(hellos_.begin(), hellos_.end(), is_on_host);
    agents.push_back({hellos_[i].name, blocks[i], static_cast<std::uint32_t>(on_host)});
  }
  plan_yaml_ = waiting.submission.plan.yaml;
  if (const auto& proxy = waiting.plan.connection.proxy)  // what a run leaves is shown around
    plan_yaml_ = without_user_info(std::move(plan_yaml_), *proxy);
  const std::string id = fmt::format("{:%Y%m%d-%H%M%S}-{}", utc_now(), waiting.plan.name);
  started_ = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", utc_now());
  run_ = std::make_unique<Run>(id, std::move(waiting.plan), waiting.submission.plan, std::move(agents));
  last_.reset();
  observer_ = std::make_unique<Observer>(
      run_->plan().observe, [this](std::uint32_t index, double cpu_s, std::uint64_t memory_bytes) {
        settings_.post([this, index, cpu_s, memory_bytes] {
          if (run_) run_->observed(index, cpu_s, memory_bytes, monotonic_ns());
        });
      });
  spdlog::info("run {} on {} agents", id, ids.size());
  tell(RunAccepted{id, http_.empty() ? "" : "http://" + http_});
  run_->begin(monotonic_ns());
  deliver();
}

void RunControl::deliver() {
  if (!run_) return;
  for (const Run::Outgoing& outgoing : run_->take_outgoing())
    if (const AgentLink* link = fleet_.link(members_[outgoing.agent])) link->send(outgoing.message);
  for (const std::uint32_t agent : run_->take_given_up())
    if (const AgentLink* link = fleet_.link(members_[agent])) link->cut();
  for (const std::string& line : run_->take_log()) {
    spdlog::warn("{}", line);
    tell(RunLog{line});
  }
  if (run_->state() == RunState::finished) finish();
}

void RunControl::tell(const RunEvent& event) {
  if (follower_) follower_(event);
}

void RunControl::reject(const std::string& why, int exit_code) {
  tell(RunRejected{why, exit_code});
  waiting_.reset();
  follower_ = nullptr;
  follower_id_ = 0;
}

void RunControl::finish() {
  const std::int64_t now = monotonic_ns();
  observer_.reset();
  tell(run_->live(now));
  if (!run_->events().refused.empty() && run_->duration_us(now) == 0) {
    const std::string why = fmt::format("{}", fmt::join(run_->events().refused, "\n"));
    spdlog::warn("run {} is refused: {}", run_->id(), why);
    run_.reset();
    return reject(why, kRefused);
  }
  const Aggregate& aggregate = run_->aggregate();
  last_decision_ = decide(run_->events(), aggregate);
  std::set<std::string> kernels;
  for (const Hello& hello : hellos_) kernels.insert(hello.boot_id);
  RunFacts facts{.run = run_->id(),
                 .started = started_,
                 .duration_us = run_->duration_us(now),
                 .hosts = static_cast<std::uint32_t>(kernels.size()),
                 .clock_error_us = std::nullopt,
                 .decision = last_decision_};
  // Agents on the coordinator's own kernel, and a target on loopback, read one clock.
  if (kernels == std::set<std::string>{boot_id()} && all_on_loopback(run_->plan().targets) &&
      all_on_loopback(dialled(run_->plan())))
    facts.clock_error_us = 0;
  hand_over("summary.json", summary_json(facts, aggregate));
  hand_over("series.csv", series_csv(aggregate));
  hand_over("histograms.json", histograms_json(run_->id(), aggregate));
  hand_over("plan.yaml", plan_yaml_);
  if (const std::optional<std::string> trace = run_->trace()) hand_over("trace.txt", *trace);
  spdlog::info("run {} {}", run_->id(), name(last_decision_.verdict));
  tell(RunFinished{exit_code(last_decision_.verdict)});
  last_ = std::move(run_);
  follower_ = nullptr;
  follower_id_ = 0;
}

// To whoever follows; with nobody there, into the coordinator's own results.
void RunControl::hand_over(const std::string& name, const std::string& content) {
  if (follower_) {
    for (std::size_t begin = 0; begin < content.size(); begin += kFilePiece)
      tell(RunFile{name, content.substr(begin, kFilePiece)});
    return;
  }
  if (const auto error = write_files(fmt::format("{}/{}", settings_.results, run_->id()), {{name, content}}))
    spdlog::error("{}", *error);
}

std::string RunControl::metrics() const {
  const Run* run = shown();
  if (run == nullptr) return exposition_text_idle();
  const std::string verdict = run->state() == RunState::finished ? name(last_decision_.verdict) : "";
  return exposition_text(run->aggregate(), run->live(monotonic_ns()), verdict);
}

std::string RunControl::status() const {
  nlohmann::json status{{"version", ONRUSH_VERSION}, {"agents", nlohmann::json::array()}};
  for (const AgentId id : fleet_.introduced()) {
    const Hello& hello = *fleet_.hello(id);
    status["agents"].push_back({{"name", hello.name}, {"host", hello.host}, {"workers", hello.workers}});
  }
  if (const Run* run = shown()) {
    const Live live = run->live(monotonic_ns());
    status["run"] = {{"run", live.run},
                     {"state", live.state},
                     {"elapsed_us", live.elapsed_us},
                     {"open", live.open},
                     {"failed", live.failed},
                     {"lost", live.lost},
                     {"wanted", live.wanted},
                     {"stage", live.stages.at(live.stage)}};
  }
  return status.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::vector<Hello> RunControl::survey() const {
  std::vector<Hello> all;
  for (const AgentId id : fleet_.introduced()) all.push_back(*fleet_.hello(id));
  return all;
}

std::optional<std::uint32_t> RunControl::member(AgentId id) const {
  if (!run_) return std::nullopt;
  const auto found = std::find(members_.begin(), members_.end(), id);
  if (found == members_.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - members_.begin());
}

}  // namespace onrush
