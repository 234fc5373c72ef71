#include "coordinator/local_agents.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include "core/preflight.h"
#include "core/timeline.h"
#include "proto/host_facts.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX declares it nowhere

namespace onrush {
namespace {

constexpr std::chrono::seconds kPatience{3};

Expected<std::string, std::string> agent_program() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path agent = self.parent_path() / "onrush-agent";
  if (error || !std::filesystem::exists(agent, error))
    return Unexpected{fmt::format("{} is missing: it belongs beside onrush", agent.string())};
  return agent.string();
}

// 0 if it was started, else an errno.
int spawn(const std::string& program, std::vector<std::string> arguments, pid_t& pid) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes,
                             &none);  // the command blocks signals to wait for them in one thread
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  const int error = posix_spawn(&pid, program.c_str(), nullptr, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  return error;
}

}  // namespace

std::uint32_t agents_for(const Plan& plan) {
  return std::clamp(agents_needed(peak_sockets(plan), raise_descriptor_limit()), 1U, kMostLocalAgents);
}

Expected<LocalAgents, std::string> LocalAgents::start(const Options& options,
                                                      const std::string& coordinator) {
  const Expected<std::string, std::string> program = agent_program();
  if (!program) return Unexpected{program.error()};
  LocalAgents agents;
  for (std::uint32_t i = 1; i <= options.count; ++i) {
    std::vector<std::string> arguments{*program,
                                       "--coordinator",
                                       coordinator,
                                       "--name",
                                       fmt::format("agent-{}", i),
                                       "--quiet",
                                       "--workers",
                                       std::to_string(options.workers),
                                       "--parent",
                                       std::to_string(getpid())};
    if (options.memory_reserve != 0) {
      arguments.emplace_back("--memory-reserve");
      arguments.push_back(std::to_string(options.memory_reserve));
    }
    pid_t pid = 0;
    if (const int error = spawn(*program, std::move(arguments), pid); error != 0)
      return Unexpected{fmt::format("cannot start {}: {}", *program, std::strerror(error))};
    agents.pids_.push_back(pid);
  }
  return agents;
}

LocalAgents::LocalAgents(LocalAgents&& other) noexcept : pids_{std::exchange(other.pids_, {})} {}

LocalAgents::~LocalAgents() {
  for (const pid_t pid : pids_) kill(pid, SIGTERM);
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  const auto is_reaped = [](pid_t pid) { return waitpid(pid, nullptr, WNOHANG) != 0; };
  while (!pids_.empty()) {
    pids_.erase(std::remove_if(pids_.begin(), pids_.end(), is_reaped), pids_.end());
    if (std::chrono::steady_clock::now() > deadline)
      for (const pid_t pid : pids_) kill(pid, SIGKILL);
    if (!pids_.empty()) std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
}

}  // namespace onrush
