#include "coordinator/embedded.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <system_error>
#include <thread>
#include <utility>

#include "coordinator/output.h"
#include "core/address.h"
#include "core/verdict.h"

namespace onrush {
namespace {

constexpr const char* kHttpDefault = "127.0.0.1:7080";
constexpr std::chrono::seconds kLastPatience{3};

// The command's own coordinator. Error: why it cannot start.
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

}  // namespace

std::optional<std::string> wrong_address(const RunArguments& arguments) {
  for (const auto& [option, text] :
       {std::pair{"--coordinator", &arguments.coordinator}, std::pair{"--http", &arguments.http}})
    if (!text->empty())
      if (const auto address = parse_host_port(*text); !address)
        return fmt::format("{} {}", option, address.error());
  return std::nullopt;
}

void end_soon() {
  std::this_thread::sleep_for(kLastPatience);
  tell("onrush: the coordinator does not answer; ended without its results\n");
  std::_Exit(exit_code(Verdict::interrupted));
}

ResultsFolder::~ResultsFolder() {
  std::error_code error;
  if (made_) std::filesystem::remove(path_, error);  // only if it is empty
}

std::optional<std::string> ResultsFolder::make() {
  std::error_code error;
  made_ = std::filesystem::create_directories(path_, error);
  if (!error && access(path_.c_str(), W_OK | X_OK) != 0) error = {errno, std::generic_category()};
  if (!error && !std::filesystem::is_directory(path_, error))
    error = std::make_error_code(std::errc::not_a_directory);
  if (!error) return std::nullopt;
  return fmt::format("cannot write results to {}: {}", path_.string(), error.message());
}

Expected<Prepared, std::string> prepare(const RunArguments& arguments, Submission& submission,
                                        const std::function<std::uint32_t()>& agents_needed) {
  Prepared prepared;
  prepared.folder = std::make_unique<ResultsFolder>(arguments.out.empty() ? kResults : arguments.out);
  if (auto error = prepared.folder->make()) return Unexpected{std::move(*error)};
  prepared.coordinator = arguments.coordinator;
  if (!prepared.coordinator.empty()) return prepared;
  if (submission.agents == 0) submission.agents = agents_needed();
  auto embedded = embed(arguments, submission.agents);
  if (!embedded) return Unexpected{embedded.error()};
  prepared.embedded.emplace(std::move(*embedded));
  prepared.coordinator = prepared.embedded->coordinator->control_address();
  return prepared;
}

std::string free_folder(const std::string& wanted) {
  std::string folder = wanted;
  std::error_code error;
  for (int i = 2; std::filesystem::exists(folder, error); ++i) folder = fmt::format("{}-{}", wanted, i);
  return folder;
}

}  // namespace onrush
