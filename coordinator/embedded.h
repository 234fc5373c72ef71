// What `onrush run` and `onrush search` share: a coordinator inside the command with agents of its own, and
// the folder for results.
//
// Owner: the command.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "coordinator/commands.h"
#include "coordinator/coordinator.h"
#include "coordinator/local_agents.h"
#include "coordinator/run_event.h"
#include "core/expected.h"

namespace onrush {

inline constexpr const char* kResults = "onrush-results";

/// The agents end before the coordinator that they are attached to.
struct Embedded {
  std::unique_ptr<Coordinator> coordinator;
  std::optional<LocalAgents> agents;
};

/// What is wrong with an address that was given.
[[nodiscard]] std::optional<std::string> wrong_address(const RunArguments& arguments);

/// Ends the program in a few seconds: a coordinator that stands still or is out of reach must not keep its
/// user waiting after a second Ctrl-C.
void end_soon();

/// Where results will be written: made and tried before the load, not after an hour of it. One that was made
/// and got nothing is taken away again.
class ResultsFolder {
 public:
  explicit ResultsFolder(std::filesystem::path path) : path_{std::move(path)} {}
  ~ResultsFolder();
  ResultsFolder(const ResultsFolder&) = delete;
  ResultsFolder& operator=(const ResultsFolder&) = delete;

  /// Error: why nothing can be written there.
  std::optional<std::string> make();

 private:
  std::filesystem::path path_;
  bool made_ = false;
};

/// What a load has to have before it begins. The folder outlives the coordinator, which may write into it.
struct Prepared {
  std::unique_ptr<ResultsFolder> folder;
  std::optional<Embedded> embedded;
  std::string coordinator;  ///< HOST:PORT, of the embedded one or of the one that was named
};

/// A folder for results, and a coordinator with local agents unless one was named. How many those are is
/// asked only if the user does not say, and is put into the submission. Error: why it cannot begin.
[[nodiscard]] Expected<Prepared, std::string> prepare(const RunArguments& arguments, Submission& submission,
                                                      const std::function<std::uint32_t()>& agents_needed);

/// `wanted`, or with a number behind it if that is there: two runs of one plan may begin in the same second.
[[nodiscard]] std::string free_folder(const std::string& wanted);

}  // namespace onrush
