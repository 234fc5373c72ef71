// What `onrush run` and `onrush search` share: a coordinator inside the command with agents of its own, and
// the folder for results.
//
// Owner: the command.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "coordinator/commands.h"
#include "coordinator/coordinator.h"
#include "coordinator/local_agents.h"
#include "core/expected.h"

namespace onrush {

inline constexpr const char* kResults = "onrush-results";

/// The agents end before the coordinator that they are attached to.
struct Embedded {
  std::unique_ptr<Coordinator> coordinator;
  std::optional<LocalAgents> agents;
};

/// Error: why it cannot start.
[[nodiscard]] Expected<Embedded, std::string> embed(const RunArguments& arguments, std::uint32_t agents);

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

/// `wanted`, or with a number behind it if that is there: two runs of one plan may begin in the same second.
[[nodiscard]] std::string free_folder(const std::string& wanted);

/// Writes files by name into a folder, which is made. Error: one that could not be written.
[[nodiscard]] std::optional<std::string> write_files(const std::string& folder,
                                                     const std::map<std::string, std::string>& files);

}  // namespace onrush
