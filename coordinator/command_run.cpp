#include <fmt/format.h>
#include <unistd.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "coordinator/commands.h"
#include "coordinator/embedded.h"
#include "coordinator/output.h"
#include "coordinator/plan_file.h"
#include "coordinator/run_client.h"
#include "coordinator/summary_view.h"
#include "coordinator/terminal.h"
#include "core/trace.h"
#include "core/units.h"
#include "core/verdict.h"
#include "proto/host_facts.h"

namespace onrush {
namespace {

// What the run has told so far, and what becomes of it on screen and on disk.
class Watcher {
 public:
  explicit Watcher(const RunArguments& arguments) : arguments_{arguments} {}

  void take(const RunEvent& event) {
    if (const auto* accepted = std::get_if<RunAccepted>(&event)) {
      out_ = arguments_.out.empty() ? free_folder(fmt::format("{}/{}", kResults, accepted->run))
                                    : arguments_.out;
      terminal_.emplace(STDERR_FILENO,
                        Terminal::Options{.drawing = drawing_on(STDERR_FILENO, arguments_.quiet),
                                          .unicode = style_of(STDERR_FILENO).unicode,
                                          .http = accepted->http});
    }
    if (const auto* live = std::get_if<Live>(&event); live != nullptr && terminal_)
      terminal_->show(*live, monotonic_ns() / 1000);
    if (const auto* log = std::get_if<RunLog>(&event)) say(log->line);
    if (const auto* rejected = std::get_if<RunRejected>(&event)) say(rejected->why);
    if (const auto* file = std::get_if<RunFile>(&event)) files_[file->name] += file->content;
  }

  void say(std::string_view text) {
    if (!text.empty() && text.back() == '\n') text.remove_suffix(1);
    for (std::size_t end = 0; end != std::string_view::npos;) {
      end = text.find('\n');
      say_line(text.substr(0, end));
      if (end != std::string_view::npos) text.remove_prefix(end + 1);
    }
  }

  /// Writes the files and prints the summary. Error: what could not be written.
  std::optional<std::string> finish() {
    if (terminal_) terminal_->finish();
    const auto summary = files_.find("summary.json");
    if (summary == files_.end()) return std::nullopt;
    const std::optional<std::string> unwritten = write_files(out_, files_);
    nlohmann::json parsed = nlohmann::json::parse(summary->second, nullptr, false);
    if (unwritten && parsed.is_object()) {
      // What was measured is worth reading, but whoever looks for the files must not read that all is well.
      parsed["verdict"] = name(Verdict::internal_error);
      parsed["exit_code"] = exit_code(Verdict::internal_error);
      parsed["reasons"] = {*unwritten};
    }
    std::string text = render_summary(parsed, style_of(STDOUT_FILENO), unwritten ? "" : out_);
    if (!unwritten && files_.contains("trace.txt")) text += fmt::format("trace: {}/trace.txt\n", out_);
    const std::optional<std::string> unsaid = print_whole(text);
    return unwritten ? unwritten : unsaid;
  }

 private:
  void say_line(std::string_view line) {
    if (terminal_) return terminal_->log(line);
    tell("{}\n", line);
  }

  const RunArguments& arguments_;
  std::string out_;
  std::optional<Terminal> terminal_;
  std::map<std::string, std::string> files_;
};

// How many users "users=N" means; 0 without it, nothing if it is wrong.
std::optional<std::uint32_t> traced_users(const std::string& text) {
  constexpr std::string_view kUsers = "users=";
  if (text.empty()) return 0;
  if (!text.starts_with(kUsers)) return std::nullopt;
  const auto count = parse_count(std::string_view{text}.substr(kUsers.size()));
  if (!count || *count == 0 || *count > kMostTracedUsers) return std::nullopt;
  return static_cast<std::uint32_t>(*count);
}

}  // namespace

int run_command(const RunArguments& arguments, SignalWatch& signals) {
  const Expected<PlanFile, std::string> file = read_plan_file(arguments.plan);
  if (!file) {
    tell("{}", file.error());
    return kExitBadPlan;
  }
  if (const auto wrong = wrong_address(arguments)) {
    tell("onrush: {}; nothing was started\n", *wrong);
    return kExitBadPlan;
  }
  const std::optional<std::uint32_t> traced = traced_users(arguments.trace);
  if (!traced) {
    tell("onrush: --trace {}: write users=N, N from 1 to {}; nothing was started\n", arguments.trace,
         kMostTracedUsers);
    return kExitBadPlan;
  }
  Submission submission{.version = ONRUSH_VERSION, .plan = file->text, .agents = arguments.agents};
  submission.plan.trace_users = *traced;
  const auto prepared = prepare(arguments, submission, [&] { return agents_for(file->plan); });
  if (!prepared) {
    tell("onrush: {}; nothing was started\n", prepared.error());
    return exit_code(Verdict::refused);
  }
  RunClient client{prepared->coordinator};
  Watcher watcher{arguments};
  signals.on_signal([&](int count) {
    const bool at_once = count > 1;
    client.stop("stopped by a signal", at_once);
    if (at_once) std::thread{end_soon}.detach();
  });
  const Expected<int, std::string> result =
      client.follow(submission, [&](const RunEvent& event) { watcher.take(event); });
  signals.on_signal(nullptr);
  const std::optional<std::string> unwritten = watcher.finish();
  if (unwritten) tell("onrush: {}\n", *unwritten);
  if (!result) tell("onrush: {}\n", result.error());
  return result && !unwritten ? *result : exit_code(Verdict::internal_error);
}

}  // namespace onrush
