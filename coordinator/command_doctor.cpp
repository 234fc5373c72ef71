#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "coordinator/commands.h"
#include "coordinator/doctor.h"
#include "coordinator/local_agents.h"
#include "coordinator/output.h"
#include "coordinator/plan_file.h"
#include "coordinator/run_client.h"
#include "coordinator/terminal.h"
#include "core/address.h"
#include "core/verdict.h"
#include "proto/host_facts.h"

namespace onrush {
namespace {

// Those that `onrush run` would start here.
std::vector<Hello> local_agents(const Plan& plan, std::uint32_t wanted) {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  Hello agent;
  agent.host = host;
  agent.boot_id = boot_id();
  agent.descriptor_limit = raise_descriptor_limit();
  agent.facts = read_host_facts();
  std::vector<Hello> agents(wanted != 0 ? wanted : agents_for(plan), agent);
  std::uint32_t number = 0;
  for (Hello& one : agents) {
    one.pid = ++number;
    one.name = fmt::format("agent-{}", number);
  }
  return agents;
}

Expected<std::vector<Hello>, std::string> attached_agents(const std::string& coordinator,
                                                          std::uint32_t wanted) {
  Expected<std::vector<Hello>, std::string> agents = RunClient{coordinator}.survey();
  if (!agents) return agents;
  if (agents->empty() || agents->size() < wanted)
    return Unexpected{
        fmt::format("{} of {} agents are attached to {}; start agents with: onrush-agent "
                    "--coordinator {}",
                    agents->size(), std::max(wanted, 1U), coordinator, coordinator)};
  if (wanted != 0) agents->resize(wanted);
  return agents;
}

}  // namespace

int doctor_command(const DoctorArguments& arguments) {
  const Expected<PlanFile, std::string> file = read_plan_file(arguments.plan);
  if (!file) {
    tell("{}", file.error());
    return kExitBadPlan;
  }
  if (!arguments.coordinator.empty())
    if (const auto address = parse_host_port(arguments.coordinator); !address) {
      tell("onrush: --coordinator {}\n", address.error());
      return kExitBadPlan;
    }
  const Expected<std::vector<Hello>, std::string> agents =
      arguments.coordinator.empty() ? local_agents(file->plan, arguments.agents)
                                    : attached_agents(arguments.coordinator, arguments.agents);
  if (!agents) {
    tell("onrush: {}\n", agents.error());
    return exit_code(Verdict::refused);
  }
  const Examination examination = examine(file->plan, arguments.plan.file, *agents);
  if (arguments.script) return print_or_fail(render_script(examination));
  if (const int failed = print_or_fail(render_examination(examination, style_of(STDOUT_FILENO))))
    return failed;
  return examination.worst() == CheckGrade::refused ? exit_code(Verdict::refused) : 0;
}

}  // namespace onrush
