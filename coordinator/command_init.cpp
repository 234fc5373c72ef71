#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

#include "coordinator/commands.h"
#include "coordinator/output.h"
#include "coordinator/shipped.h"
#include "core/verdict.h"

namespace onrush {
namespace {

// The file is made by the same call that finds whether it is there, so nothing can be overwritten in between.
std::optional<std::string> write_new(const std::string& file, std::string_view text, bool overwrite) {
  const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | (overwrite ? O_TRUNC : O_EXCL), 0666);
  if (fd < 0)
    return errno == EEXIST ? fmt::format("{} is there already; --force overwrites it", file)
                           : fmt::format("cannot write {}: {}", file, std::strerror(errno));
  std::optional<std::string> error;
  while (!text.empty() && !error) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written >= 0)
      text.remove_prefix(static_cast<std::size_t>(written));
    else if (errno != EINTR)
      error = fmt::format("cannot write {}: {}", file, std::strerror(errno));
  }
  if (close(fd) != 0 && !error) error = fmt::format("cannot write {}: {}", file, std::strerror(errno));
  return error;
}

}  // namespace

int init_command(const InitArguments& arguments) {
  const auto plans = starter_plans();
  const auto plan = std::find_if(plans.begin(), plans.end(),
                                 [&](const StarterPlan& p) { return p.kind == arguments.kind; });
  if (plan == plans.end()) return kExitBadPlan;  // the command line takes no other
  if (arguments.file == "-") return print_or_fail(plan->text);
  const std::string file = arguments.file.empty() ? arguments.kind + ".yaml" : arguments.file;
  if (const auto error = write_new(file, plan->text, arguments.force)) {
    tell("onrush init: {}\n", *error);
    return kExitBadPlan;
  }
  return print_or_fail(fmt::format(
      "wrote {0}\n  look at it:  onrush check {0} --explain\n  run it:      onrush run {0}\n", file));
}

int schema_command() { return print_or_fail(plan_schema()); }

}  // namespace onrush
