#include "core/plan_files.h"

namespace onrush {

Surroundings surroundings_of(const PlanFiles& files, const PlanEnvironment& environment) {
  Surroundings surroundings;
  surroundings.file = [&files](const std::string& name) -> Expected<FileContent, std::string> {
    const auto found = files.find(name);
    if (found == files.end()) return Unexpected{std::string{"the file did not come with the plan"}};
    return found->second;
  };
  surroundings.variable = [&environment](const std::string& name) -> std::optional<std::string> {
    const auto found = environment.find(name);
    if (found == environment.end()) return std::nullopt;
    return found->second;
  };
  return surroundings;
}

}  // namespace onrush
