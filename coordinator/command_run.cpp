#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "coordinator/commands.h"
#include "coordinator/coordinator.h"
#include "coordinator/local_agents.h"
#include "coordinator/plan_file.h"
#include "coordinator/run_client.h"
#include "coordinator/summary_view.h"
#include "coordinator/terminal.h"
#include "core/address.h"
#include "core/verdict.h"
#include "proto/host_facts.h"

namespace onrush {
namespace {

constexpr const char* kResults = "onrush-results";
constexpr const char* kHttpDefault = "127.0.0.1:7080";
constexpr std::chrono::seconds kLastPatience{3};

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

  /// Writes the files and prints the summary. Error: a result that could not be written.
  std::optional<std::string> finish() {
    if (terminal_) terminal_->finish();
    const auto summary = files_.find("summary.json");
    if (summary == files_.end()) return std::nullopt;
    std::optional<std::string> error = write_files();
    const nlohmann::json parsed = nlohmann::json::parse(summary->second, nullptr, false);
    fmt::print("{}", render_summary(parsed, style_of(STDOUT_FILENO), out_));
    std::fflush(stdout);
    return error;
  }

 private:
  // Two runs of one plan may begin in the same second.
  static std::string free_folder(const std::string& wanted) {
    std::string folder = wanted;
    std::error_code error;
    for (int i = 2; std::filesystem::exists(folder, error); ++i) folder = fmt::format("{}-{}", wanted, i);
    return folder;
  }

  void say_line(std::string_view line) {
    if (terminal_) return terminal_->log(line);
    fmt::print(stderr, "{}\n", line);
  }

  std::optional<std::string> write_files() {
    std::error_code error;
    std::filesystem::create_directories(out_, error);
    for (const auto& [name, content] : files_) {
      // Names come from a coordinator: nothing of theirs may lead out of the folder.
      const std::filesystem::path path = std::filesystem::path{out_} / std::filesystem::path{name}.filename();
      std::ofstream file{path, std::ios::binary | std::ios::trunc};
      file << content;
      if (!file.flush()) return fmt::format("cannot write {}: {}", path.string(), std::strerror(errno));
    }
    return std::nullopt;
  }

  const RunArguments& arguments_;
  std::string out_;
  std::optional<Terminal> terminal_;
  std::map<std::string, std::string> files_;
};

// Where results will be written: made and tried before the load, not after an hour of it. One that was made
// and got nothing is taken away again.
class ResultsFolder {
 public:
  explicit ResultsFolder(std::filesystem::path path) : path_{std::move(path)} {}
  ~ResultsFolder() {
    std::error_code error;
    if (made_) std::filesystem::remove(path_, error);  // only if it is empty
  }
  ResultsFolder(const ResultsFolder&) = delete;
  ResultsFolder& operator=(const ResultsFolder&) = delete;

  /// Error: why nothing can be written there.
  std::optional<std::string> make() {
    std::error_code error;
    made_ = std::filesystem::create_directories(path_, error);
    if (!error && access(path_.c_str(), W_OK | X_OK) != 0) error = {errno, std::generic_category()};
    if (!error && !std::filesystem::is_directory(path_, error))
      error = std::make_error_code(std::errc::not_a_directory);
    if (!error) return std::nullopt;
    return fmt::format("cannot write results to {}: {}", path_.string(), error.message());
  }

 private:
  std::filesystem::path path_;
  bool made_ = false;
};

// The coordinator inside the command and its agents.
struct Embedded {
  std::unique_ptr<Coordinator> coordinator;
  std::optional<LocalAgents> agents;
};

Expected<Embedded, std::string> embed(const RunArguments& arguments, std::uint32_t agents) {
  Coordinator::Settings settings{.listen = "127.0.0.1:0",
                                 .http = arguments.http.empty() ? kHttpDefault : arguments.http,
                                 .results = kResults};
  auto coordinator = Coordinator::start(settings);
  if (!coordinator && arguments.http.empty()) {
    settings.http = "127.0.0.1:0";  // nobody asked for the default port, which somebody else has
    coordinator = Coordinator::start(settings);
  }
  if (!coordinator) return Unexpected{coordinator.error()};
  auto local = LocalAgents::start(
      {.count = agents, .workers = arguments.workers, .memory_reserve = arguments.memory_reserve},
      (*coordinator)->control_address());
  if (!local) return Unexpected{local.error()};
  Embedded embedded;
  embedded.coordinator = std::move(*coordinator);
  embedded.agents.emplace(std::move(*local));
  return embedded;
}

// A coordinator that stands still or is out of reach must not keep its user waiting after a second Ctrl-C.
void end_soon() {
  std::this_thread::sleep_for(kLastPatience);
  fmt::print(stderr, "onrush: the coordinator does not answer; ended without its results\n");
  std::_Exit(exit_code(Verdict::interrupted));
}

// What is wrong with an address that was given.
std::optional<std::string> wrong_address(const RunArguments& arguments) {
  for (const auto& [option, text] :
       {std::pair{"--coordinator", &arguments.coordinator}, std::pair{"--http", &arguments.http}})
    if (!text->empty())
      if (const auto address = parse_host_port(*text); !address)
        return fmt::format("{} {}", option, address.error());
  return std::nullopt;
}

}  // namespace

int run_command(const RunArguments& arguments, SignalWatch& signals) {
  const Expected<PlanFile, std::string> file = read_plan_file(arguments.plan);
  if (!file) {
    fmt::print(stderr, "{}", file.error());
    return kExitBadPlan;
  }
  if (const auto wrong = wrong_address(arguments)) {
    fmt::print(stderr, "onrush: {}; nothing was started\n", *wrong);
    return kExitBadPlan;
  }
  ResultsFolder folder{arguments.out.empty() ? kResults : arguments.out};
  if (const auto error = folder.make()) {
    fmt::print(stderr, "onrush: {}; nothing was started\n", *error);
    return exit_code(Verdict::refused);
  }
  Submission submission{.version = ONRUSH_VERSION, .plan = file->text, .agents = arguments.agents};
  std::optional<Embedded> embedded;
  std::string coordinator = arguments.coordinator;
  if (coordinator.empty()) {
    if (submission.agents == 0) submission.agents = agents_for(file->plan);
    auto made = embed(arguments, submission.agents);
    if (!made) {
      fmt::print(stderr, "onrush: {}; nothing was started\n", made.error());
      return exit_code(Verdict::refused);
    }
    embedded.emplace(std::move(*made));
    coordinator = embedded->coordinator->control_address();
  }
  RunClient client{coordinator};
  Watcher watcher{arguments};
  signals.on_signal([&](int count) {
    const bool at_once = count > 1;
    if (!client.stop("stopped by a signal", at_once)) std::_Exit(exit_code(Verdict::interrupted));
    if (at_once) std::thread{end_soon}.detach();
  });
  const Expected<int, std::string> result =
      client.follow(submission, [&](const RunEvent& event) { watcher.take(event); });
  signals.on_signal(nullptr);
  const std::optional<std::string> unwritten = watcher.finish();
  if (unwritten) fmt::print(stderr, "onrush: {}\n", *unwritten);
  if (!result) fmt::print(stderr, "onrush: {}\n", result.error());
  return result && !unwritten ? *result : exit_code(Verdict::internal_error);
}

}  // namespace onrush
