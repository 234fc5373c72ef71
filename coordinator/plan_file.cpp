#include "coordinator/plan_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "core/plan_yaml.h"

namespace onrush {
namespace {

// A plan may be 1 MiB (plan_yaml says so with its position); of anything larger no more than this is read.
constexpr std::size_t kMostRead = 2 * 1024 * 1024;

Expected<std::string, std::string> read_file(const std::string& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error))
    return Unexpected{fmt::format("{}: is a folder, not a plan", file)};
  std::ifstream stream{file, std::ios::binary};
  if (!stream) return Unexpected{fmt::format("{}: {}", file, std::strerror(errno))};
  std::string content(kMostRead, '\0');
  stream.read(content.data(), static_cast<std::streamsize>(content.size()));
  if (stream.bad()) return Unexpected{fmt::format("{}: {}", file, std::strerror(errno))};
  content.resize(static_cast<std::size_t>(stream.gcount()));
  return content;
}

}  // namespace

Expected<PlanFile, std::string> read_plan_file(const PlanArguments& arguments) {
  Expected<std::string, std::string> content = read_file(arguments.file);
  if (!content) return Unexpected{content.error() + "; nothing was started\n"};
  PlanFile file{.text = {.file = arguments.file,
                         .yaml = std::move(*content),
                         .settings = {},
                         .target = arguments.target},
                .plan = {}};
  for (const std::string& setting : arguments.settings) {
    const std::size_t equals = setting.find('=');
    if (equals == 0 || equals == std::string::npos)
      return Unexpected{fmt::format("--set {}: write key=value; nothing was started\n", setting)};
    file.text.settings.emplace_back(setting.substr(0, equals), setting.substr(equals + 1));
  }
  Expected<Plan, std::vector<Diagnostic>> plan = read_plan({.file = file.text.file,
                                                            .yaml = file.text.yaml,
                                                            .settings = file.text.settings,
                                                            .target = file.text.target});
  if (!plan) return Unexpected{render(arguments.file, plan.error())};
  file.plan = std::move(*plan);
  return file;
}

}  // namespace onrush
