#include "coordinator/show.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "coordinator/summary_view.h"

namespace onrush {

Expected<std::string, std::string> show(const std::string& path, const ViewStyle& style) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path file = path;
  if (fs::is_directory(file, error)) {
    file /= "summary.json";
    if (!fs::exists(file, error))
      return Unexpected{fmt::format("{} has no summary.json: it is written when a run ends", path)};
  } else if (!fs::exists(file, error)) {
    return Unexpected{
        fmt::format("there is no {}; give the folder that a run left, as in onrush-results/RUN", path)};
  }
  std::ifstream stream{file, std::ios::binary};
  if (!stream) return Unexpected{fmt::format("cannot read {}: {}", file.string(), std::strerror(errno))};
  try {
    const nlohmann::json summary = nlohmann::json::parse(stream);
    if (!summary.is_object() || !summary.contains("verdict"))
      return Unexpected{fmt::format("{} is not the summary of a run: it has no verdict", file.string())};
    return render_summary(summary, style, file.has_parent_path() ? file.parent_path().string() + "/" : "");
  } catch (const nlohmann::json::exception& broken) {
    return Unexpected{fmt::format("{} is not JSON: {}", file.string(), broken.what())};
  }
}

}  // namespace onrush
