#include "core/plan_files.h"

namespace onrush {

std::string share_name(std::string_view feed) { return std::string{"data\0", 5}.append(feed); }

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
