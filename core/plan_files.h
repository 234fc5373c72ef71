// What a plan refers to outside its own text: files that it names, and the environment of who starts the run.
//
// Why: the reader of plans is pure, and agents have neither the author's disk nor the author's environment.
// So the command looks on its disk and keeps what it found, the findings travel with the plan, and everybody
// else looks into them. Owner: any thread; contents never change, and one copy serves all who hold it.
//
// A section with a file in it reads it by `reader.file(*node, fields.what("ca"))` (yaml_reader.h), checks
// what is in it and keeps the FileContent, here and in every process that reads the plan; nothing else has to
// be done for it to travel. A file is read once, however often it is named.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/expected.h"

namespace onrush {

/// Bytes of all files of one plan together.
inline constexpr std::size_t kMostPlanFileBytes = std::size_t{256} * 1024 * 1024;

using FileContent = std::shared_ptr<const std::string>;
/// By the name that the plan gives, as it is written there.
using PlanFiles = std::map<std::string, FileContent, std::less<>>;
using PlanEnvironment = std::map<std::string, std::string, std::less<>>;

struct Surroundings {
  /// The content of a file, or why there is none. Without it no plan may name a file.
  std::function<Expected<FileContent, std::string>(const std::string& name)> file;
  /// A variable of the environment, if it is set. Without it none is.
  std::function<std::optional<std::string>(const std::string& name)> variable;
  /// Of each feed there is an agent's share only, as CSV by its share_name; it may hold no row.
  bool feeds_are_shares = false;
};

/// Under which an agent finds its share of a feed: no name that a plan could give a file.
[[nodiscard]] std::string share_name(std::string_view feed);

/// What came with a plan. Both must outlive it.
[[nodiscard]] Surroundings surroundings_of(const PlanFiles& files, const PlanEnvironment& environment);

}  // namespace onrush
