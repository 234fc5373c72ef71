#include "coordinator/plan_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
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

/// Reads what a plan names, relative to its folder, and keeps it for who shall read the plan next.
class OnDisk {
 public:
  OnDisk(std::filesystem::path folder, PlanText& text) : folder_{std::move(folder)}, text_{text} {}

  Expected<FileContent, std::string> file(const std::string& name) {
    if (const auto known = text_.files.find(name); known != text_.files.end()) return known->second;
    const std::filesystem::path path = folder_ / name;
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (std::filesystem::is_directory(status))
      return Unexpected{fmt::format("{} is a folder, not a file", path.string())};
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
      return Unexpected{fmt::format("{} is no ordinary file", path.string())};
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    if (error) return Unexpected{fmt::format("cannot read {}: {}", path.string(), error.message())};
    if (size > kMostPlanFileBytes - bytes_)
      return Unexpected{fmt::format("{} has {} bytes; the files of a plan may have {} MiB together",
                                    path.string(), size, kMostPlanFileBytes >> 20)};
    std::ifstream stream{path, std::ios::binary};
    auto content = std::make_shared<std::string>(static_cast<std::size_t>(size), '\0');
    if (!stream.read(content->data(), static_cast<std::streamsize>(size)))
      return Unexpected{fmt::format("cannot read {}: {}", path.string(), std::strerror(errno))};
    bytes_ += content->size();
    return text_.files.emplace(name, std::move(content)).first->second;
  }

  std::optional<std::string> variable(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return text_.environment.emplace(name, value).first->second;
  }

 private:
  std::filesystem::path folder_;
  PlanText& text_;
  std::size_t bytes_ = 0;
};

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
  OnDisk disk{std::filesystem::path{arguments.file}.parent_path(), file.text};
  PlanSource source = source_of(file.text);
  source.around.file = [&disk](const std::string& name) { return disk.file(name); };
  source.around.variable = [&disk](const std::string& name) { return disk.variable(name); };
  Expected<Plan, std::vector<Diagnostic>> plan = read_plan(source);
  if (!plan) return Unexpected{render(arguments.file, plan.error())};
  file.plan = std::move(*plan);
  return file;
}

}  // namespace onrush
