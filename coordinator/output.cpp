#include "coordinator/output.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "core/verdict.h"

namespace onrush {
namespace {

namespace fs = std::filesystem;

/// A file under the name that it has until it is whole.
struct Draft {
  fs::path draft;
  fs::path name;
};

std::string cannot_write(const fs::path& path, const std::string& why) {
  return fmt::format("cannot write {}: {}", path.string(), why);
}

std::optional<std::string> write_draft(const Draft& file, const std::string& content) {
  errno = 0;
  std::ofstream stream{file.draft, std::ios::binary | std::ios::trunc};
  stream << content;
  stream.close();
  if (stream) return std::nullopt;
  return cannot_write(file.name, std::strerror(errno != 0 ? errno : EIO));
}

}  // namespace

std::optional<std::string> write_files(const std::string& folder,
                                       const std::map<std::string, std::string>& files) {
  std::error_code error;
  const bool made = fs::create_directories(folder, error);
  std::optional<std::string> mistake;
  if (error) mistake = cannot_write(folder, error.message());
  std::vector<Draft> drafts;
  for (const auto& [name, content] : files) {
    if (mistake) break;
    // Names come from a coordinator: nothing of theirs may lead out of the folder.
    const fs::path file = fs::path{name}.filename();
    drafts.push_back({fs::path{folder} / ("." + file.string() + ".part"), fs::path{folder} / file});
    mistake = write_draft(drafts.back(), content);
  }
  for (const Draft& file : drafts) {
    if (mistake) break;
    fs::rename(file.draft, file.name, error);
    if (error) mistake = cannot_write(file.name, error.message());
  }
  // Of an earlier run in the same folder: only a run that is traced writes one.
  if (!mistake && files.contains("summary.json") && !files.contains("trace.txt"))
    fs::remove(fs::path{folder} / "trace.txt", error);
  if (!mistake) return std::nullopt;
  for (const Draft& file : drafts) fs::remove(file.draft, error);
  if (made) fs::remove(folder, error);  // only if it is empty
  return mistake;
}

std::optional<std::string> print_whole(std::string_view text) {
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if ((std::fflush(stdout) == 0 && written) || errno == EPIPE) return std::nullopt;
  return fmt::format("cannot write to standard output: {}", std::strerror(errno));
}

int print_or_fail(std::string_view text) {
  const auto error = print_whole(text);
  if (!error) return 0;
  tell("onrush: {}\n", *error);
  return exit_code(Verdict::internal_error);
}

void tell_text(std::string_view text) noexcept { std::fwrite(text.data(), 1, text.size(), stderr); }

}  // namespace onrush
