#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <thread>

#include "coordinator/commands.h"
#include "coordinator/embedded.h"
#include "coordinator/output.h"
#include "coordinator/plan_file.h"
#include "coordinator/run_client.h"
#include "coordinator/search_trial.h"
#include "coordinator/search_view.h"
#include "coordinator/terminal.h"
#include "core/plan_search.h"
#include "core/verdict.h"
#include "proto/host_facts.h"

namespace onrush {
namespace {

/// Ends the trial under way, or the pause between two, when a signal comes; none begins afterwards.
class Interrupt {
 public:
  void on_signal(int count) {
    const std::lock_guard lock{mutex_};
    interrupted_ = true;
    woken_.notify_all();
    if (client_ != nullptr) client_->stop("stopped by a signal", count > 1);
    if (count > 1) std::thread{end_soon}.detach();
  }

  /// The trial that a signal ends, nullptr between two. False: one has come already.
  bool follow(RunClient* client) {
    const std::lock_guard lock{mutex_};
    client_ = client;
    return !interrupted_;
  }

  void rest(std::int64_t ns) {
    std::unique_lock lock{mutex_};
    woken_.wait_for(lock, std::chrono::nanoseconds{ns}, [this] { return interrupted_; });
  }

  [[nodiscard]] bool interrupted() {
    const std::lock_guard lock{mutex_};
    return interrupted_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable woken_;
  RunClient* client_ = nullptr;
  bool interrupted_ = false;
};

/// One trial as its run tells it.
class TrialWatcher {
 public:
  TrialWatcher(bool quiet, std::set<std::string>& said) : quiet_{quiet}, said_{said} {}

  void take(const RunEvent& event) {
    if (const auto* accepted = std::get_if<RunAccepted>(&event)) {
      run_ = accepted->run;
      terminal_.emplace(STDERR_FILENO, Terminal::Options{.drawing = drawing_on(STDERR_FILENO, quiet_),
                                                         .unicode = style_of(STDERR_FILENO).unicode,
                                                         .http = accepted->http});
    }
    if (const auto* live = std::get_if<Live>(&event); live != nullptr && terminal_)
      terminal_->show(*live, monotonic_ns() / 1000);
    // What the preflight warns of is the same in every trial.
    if (const auto* log = std::get_if<RunLog>(&event); log != nullptr && said_.insert(log->line).second)
      say(log->line);
    if (const auto* rejected = std::get_if<RunRejected>(&event)) {
      rejected_ = rejected->why;
      if (said_.insert(rejected->why).second) say(rejected->why);
    }
    if (const auto* file = std::get_if<RunFile>(&event)) files_[file->name] += file->content;
  }

  /// Takes the live view away.
  void finish() {
    if (terminal_) terminal_->finish();
  }

  /// Its id, "" if it was not accepted.
  [[nodiscard]] const std::string& run() const { return run_; }
  /// Why it did not begin; "" if it did.
  [[nodiscard]] const std::string& rejected() const { return rejected_; }
  [[nodiscard]] const std::map<std::string, std::string>& files() const { return files_; }
  /// "" if the run left none of this name.
  [[nodiscard]] std::string_view file(const std::string& name) const {
    const auto found = files_.find(name);
    return found == files_.end() ? std::string_view{} : found->second;
  }
  /// Nothing if the run left none.
  [[nodiscard]] std::optional<nlohmann::json> summary() const {
    const auto found = files_.find("summary.json");
    if (found == files_.end()) return std::nullopt;
    nlohmann::json parsed = nlohmann::json::parse(found->second, nullptr, false);
    if (!parsed.is_object()) return std::nullopt;
    return parsed;
  }

 private:
  void say(std::string_view text) {
    while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
    if (terminal_) return terminal_->log(text);
    tell("{}\n", text);
  }

  bool quiet_;
  std::set<std::string>& said_;  ///< in all trials
  std::string run_;
  std::string rejected_;
  std::optional<Terminal> terminal_;
  std::map<std::string, std::string> files_;
};

/// A search under way: its trials, one after the other, on the same agents.
class SearchRun {
 public:
  SearchRun(const RunArguments& arguments, const PlanFile& file, Submission submission,
            std::string coordinator)
      : arguments_{arguments},
        submission_{std::move(submission)},
        coordinator_{std::move(coordinator)},
        search_{range_of(*file.plan.search)},
        settings_{submission_.plan.settings} {
    result_.plan = file.plan.name;
    result_.search = *file.plan.search;
    for (const Scenario& scenario : file.plan.scenarios) result_.scenarios.push_back(scenario.name);
  }

  /// Until its end. Error: what keeps it from going on; what was found so far is in result().
  std::optional<std::string> run(Interrupt& interrupt) {
    const std::int64_t begun_ns = monotonic_ns();
    const auto elapsed_ns = [&] { return monotonic_ns() - begun_ns; };
    std::optional<std::string> error;
    while (const auto load = search_.next(elapsed_ns())) {
      if (!result_.trials.empty()) interrupt.rest(result_.search.rest_ns);
      error = trial(*load, interrupt);
      if (error || interrupt.interrupted()) break;
    }
    result_.duration_s = static_cast<double>(elapsed_ns()) / 1e9;
    result_.kept = search_.kept();
    result_.times_kept = search_.times_kept();
    result_.beyond = search_.beyond();
    result_.end = search_.end();
    result_.exit_code = error ? onrush::exit_code(Verdict::internal_error) : exit_code(result_.end);
    return error;
  }

  [[nodiscard]] const SearchResult& result() const { return result_; }
  /// The coordinator's exit code if it did not take a trial at all.
  [[nodiscard]] std::optional<int> rejected() const { return rejected_; }
  /// "" before the first trial.
  [[nodiscard]] const std::string& folder() const { return folder_; }

 private:
  std::optional<std::string> trial(std::uint64_t load, Interrupt& interrupt) {
    submission_.plan.settings = settings_;
    submission_.plan.settings.emplace_back(kSearchLoad, load_text(result_.search, load));
    RunClient client{coordinator_};
    TrialWatcher watcher{arguments_.quiet, said_};
    if (!interrupt.follow(&client)) return std::nullopt;
    const auto ended = client.follow(submission_, [&](const RunEvent& event) { watcher.take(event); });
    interrupt.follow(nullptr);
    watcher.finish();
    if (!ended) return ended.error();
    if (folder_.empty() && !watcher.run().empty())
      folder_ = arguments_.out.empty() ? free_folder(fmt::format("{}/{}-search", kResults, watcher.run()))
                                       : arguments_.out;
    const bool interrupted = interrupt.interrupted();
    if (const auto summary = watcher.summary()) {
      result_.target = summary->value("target", "");
      SearchTrial judged = judge_trial(result_.search, *summary, watcher.file("series.csv"));
      const std::string name = fmt::format("trial-{:02}", result_.trials.size() + 1);
      judged.folder = name;
      auto unwritten = write_files(folder_ + "/" + name, watcher.files());
      if (!interrupted) take(load, std::move(judged));  // cut short, it tells nothing
      return unwritten;
    }
    if (interrupted) return std::nullopt;
    // Accepted and then refused: by the agents' preflights, which have looked at this load.
    if (watcher.run().empty() || *ended != onrush::exit_code(Verdict::refused)) {
      rejected_ = *ended;
      return "the search cannot go on";
    }
    SearchTrial refused;
    refused.outcome = TrialOutcome::refused;
    refused.why = watcher.rejected().substr(0, watcher.rejected().find('\n'));
    take(load, std::move(refused));
    return std::nullopt;
  }

  void take(std::uint64_t load, SearchTrial trial) {
    trial.load = load;
    trial.phase = search_.phase();
    search_.took(trial.outcome);
    result_.trials.push_back(std::move(trial));
    if (!arguments_.quiet)
      tell("{}\n", trial_line(result_.search, result_.trials.size(), result_.trials.back()));
  }

  const RunArguments& arguments_;
  Submission submission_;
  std::string coordinator_;
  Search search_;
  std::vector<std::pair<std::string, std::string>> settings_;  ///< the user's own
  SearchResult result_;
  std::string folder_;
  std::optional<int> rejected_;
  std::set<std::string> said_;
};

/// Enough for every trial: what the highest load needs.
std::uint32_t agents_for_all_trials(Plan plan) {
  set_trial(plan, range_of(*plan.search).to);
  return agents_for(plan);
}

}  // namespace

int search_command(const RunArguments& arguments, SignalWatch& signals) {
  const Expected<PlanFile, std::string> file = read_plan_file(arguments.plan);
  if (!file) {
    tell("{}", file.error());
    return kExitBadPlan;
  }
  std::optional<std::string> wrong = wrong_address(arguments);
  if (!wrong && !file->plan.search)
    wrong = fmt::format("{} has no 'search', which says what to raise and what to keep", arguments.plan.file);
  if (wrong) {
    tell("onrush: {}; nothing was started\n", *wrong);
    return kExitBadPlan;
  }
  Submission submission{.version = ONRUSH_VERSION, .plan = file->text, .agents = arguments.agents};
  const auto prepared = prepare(arguments, submission, [&] { return agents_for_all_trials(file->plan); });
  if (!prepared) {
    tell("onrush: {}; nothing was started\n", prepared.error());
    return exit_code(Verdict::refused);
  }
  Interrupt interrupt;
  signals.on_signal([&](int count) { interrupt.on_signal(count); });
  SearchRun run{arguments, *file, std::move(submission), prepared->coordinator};
  std::optional<std::string> error = run.run(interrupt);
  signals.on_signal(nullptr);
  if (!run.folder().empty()) {
    const auto unwritten =
        write_files(run.folder(), {{"search.json", search_json(run.result()).dump(2) + "\n"}});
    if (!error) error = unwritten;
    std::string text = render_search(run.result(), style_of(STDOUT_FILENO), unwritten ? "" : run.folder());
    if (error && !run.rejected()) text += fmt::format("INTERNAL ERROR  {}\n", *error);
    const auto unsaid = print_whole(text);
    if (!error) error = unsaid;
  }
  if (error) tell("onrush: {}\n", *error);
  if (run.rejected()) return *run.rejected();
  return error ? exit_code(Verdict::internal_error) : run.result().exit_code;
}

}  // namespace onrush
