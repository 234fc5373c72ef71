#include <fmt/format.h>
#include <unistd.h>

#include <limits>

#include "coordinator/check.h"
#include "coordinator/check_explain.h"
#include "coordinator/commands.h"
#include "coordinator/output.h"
#include "coordinator/plan_file.h"
#include "coordinator/show.h"
#include "coordinator/terminal.h"
#include "core/address.h"
#include "core/memory_left.h"
#include "core/source_block.h"
#include "core/verdict.h"
#include "proto/host_facts.h"

namespace onrush {

int check_command(const CheckArguments& arguments) {
  const Expected<PlanFile, std::string> file = read_plan_file(arguments.plan);
  if (!file) {
    tell("{}", file.error());
    return kExitBadPlan;
  }
  const SourceBlock block = deal_source_blocks({Hello{}}, hosts_of(dialled(file->plan))).front();
  const CheckFacts facts{
      .descriptor_limit = raise_descriptor_limit(),
      .ports_per_address = std::uint64_t{1} + block.last_port - block.first_port,
      .memory_available_bytes =
          memory_left(read_host_facts()).value_or(std::numeric_limits<std::int64_t>::max()),
      .target_on_host = any_on_loopback(dialled(file->plan))};
  std::string text = render_check(file->plan, facts);
  if (arguments.explain) text += "\n" + explain_timeline(file->plan, style_of(STDOUT_FILENO));
  return print_or_fail(text);
}

int show_command(const std::string& folder) {
  const Expected<std::string, std::string> shown = show(folder, style_of(STDOUT_FILENO));
  if (!shown) {
    tell("onrush show: {}\n", shown.error());
    return kExitBadPlan;
  }
  return print_or_fail(*shown);
}

}  // namespace onrush
