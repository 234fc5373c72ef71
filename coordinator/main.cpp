// onrush: runs plans, checks them, and is the coordinator of a cluster.
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <string>
#include <vector>

#include "coordinator/commands.h"
#include "coordinator/shipped.h"
#include "core/verdict.h"
#include "proto/host_facts.h"

namespace {

constexpr int kUsage = 2;

constexpr const char* kExitCodes =
    "exit codes: 0 passed, 2 bad plan or usage, 3 refused before the start, 4 aborted by the plan, 5 "
    "degraded\n"
    "(an agent was lost), 6 invalid measurement, 99 a threshold failed, 130 interrupted, 70 internal error;\n"
    "the worst reason wins, the report lists all";

// An unset variable in a script (`--target "$TARGET"`) must not mean the default.
const CLI::Validator kNotEmpty{
    [](const std::string& text) { return text.empty() ? std::string{"is empty"} : std::string{}; }, ""};

void add_plan_options(CLI::App& command, onrush::PlanArguments& plan) {
  command.add_option("PLAN", plan.file, "the plan's YAML file")->required();
  // One value each time, so that a value with commas or spaces stays whole.
  command.add_option("--set", plan.settings, "a parameter of the plan: --set users=10k")
      ->allow_extra_args(false);
  command.add_option("--target", plan.target, "ws://HOST:PORT/PATH instead of the plan's own")
      ->check(kNotEmpty);
}

void add_run_options(CLI::App& command, onrush::RunArguments& run) {
  command.add_option("--agents", run.agents, "agent processes (default: as many as the plan needs)")
      ->check(CLI::Range(1, 1000));
  command.add_option("--workers", run.workers, "threads of each local agent")->check(CLI::Range(1, 256));
  command
      .add_option("--coordinator", run.coordinator,
                  "HOST:PORT of a cluster's coordinator (default: embedded)")
      ->check(kNotEmpty);
  command
      .add_option("--http", run.http, "HOST:PORT for metrics of the embedded coordinator (127.0.0.1:7080)")
      ->check(kNotEmpty);
  command.add_option("--out", run.out, "folder for the results (default: onrush-results/<run>)")
      ->check(kNotEmpty);
  command
      .add_option("--memory-reserve", run.memory_reserve,
                  "bytes of memory that local agents leave free: 500MB (default: a twenty-fifth)")
      ->transform(CLI::AsSizeValue{true});
  command.add_flag("--quiet", run.quiet, "no live view");
  command.footer(kExitCodes);
}

std::vector<std::string> starter_kinds() {
  std::vector<std::string> kinds;
  for (const onrush::StarterPlan& plan : onrush::starter_plans()) kinds.emplace_back(plan.kind);
  return kinds;
}

}  // namespace

int main(int argc, char** argv) {
  onrush::hold_standard_descriptors();
  std::signal(SIGXFSZ, SIG_IGN);  // a file at its limit is an error of writing, with a message
  CLI::App app{"Onrush holds a million WebSocket users against your server and tells what they felt."};
  app.set_version_flag("--version", ONRUSH_VERSION);
  app.footer(kExitCodes);
  app.require_subcommand(1);

  onrush::RunArguments run;
  CLI::App& run_command = *app.add_subcommand("run", "run a plan and print its verdict");
  add_plan_options(run_command, run.plan);
  add_run_options(run_command, run);
  run_command
      .add_option("--trace", run.trace,
                  "users=N: write what the first N users of each scenario sent and received to trace.txt")
      ->check(kNotEmpty);

  onrush::RunArguments search;
  CLI::App& search_command =
      *app.add_subcommand("search", "find the load at which the target breaks a promise");
  add_plan_options(search_command, search.plan);
  add_run_options(search_command, search);

  onrush::CheckArguments check;
  CLI::App& check_command = *app.add_subcommand("check", "check a plan and print the timeline it would run");
  add_plan_options(check_command, check.plan);
  check_command.add_flag("--explain", check.explain, "the timeline as a chart, too");

  onrush::DoctorArguments doctor;
  CLI::App& doctor_command =
      *app.add_subcommand("doctor", "tell whether the agents' machines can run a plan");
  add_plan_options(doctor_command, doctor.plan);
  doctor_command.add_option("--agents", doctor.agents, "agents that run it (default: as onrush run)")
      ->check(CLI::Range(1, 1000));
  doctor_command
      .add_option("--coordinator", doctor.coordinator,
                  "HOST:PORT of a cluster's coordinator, whose agents are asked (default: this host)")
      ->check(kNotEmpty);
  doctor_command.add_flag("--script", doctor.script, "print a shell script that sets what is missing");
  doctor_command.footer("exit codes: 0 it can run, perhaps with warnings, 2 bad plan or usage, 3 it cannot");

  onrush::CoordinatorArguments coordinator;
  CLI::App& coordinator_command = *app.add_subcommand("coordinator", "serve a cluster of agents");
  coordinator_command.add_option("--listen", coordinator.listen, "HOST:PORT for agents and `onrush run`")
      ->capture_default_str();
  coordinator_command.add_option("--http", coordinator.http, "HOST:PORT for /metrics and /healthz")
      ->capture_default_str();

  std::string folder;
  CLI::App& show_command = *app.add_subcommand("show", "print the summary of a run's results again");
  show_command.add_option("FOLDER", folder, "a folder that `onrush run` has left")->required();

  onrush::InitArguments init;
  CLI::App& init_command = *app.add_subcommand("init", "write a starter plan, with comments");
  init_command.add_option("KIND", init.kind, "what the server does")
      ->check(CLI::IsMember(starter_kinds()))
      ->capture_default_str();
  init_command.add_option("FILE", init.file, "the plan to write; - for standard output (default: KIND.yaml)")
      ->check(kNotEmpty);
  init_command.add_flag("--force", init.force, "overwrite a file that is there");
  CLI::App& schema_command =
      *app.add_subcommand("schema", "print the JSON Schema of the plan language, for editors");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  spdlog::set_default_logger(spdlog::stderr_logger_mt("onrush"));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e %l %n: %v");

  if (check_command.parsed()) return onrush::check_command(check);
  if (init_command.parsed()) return onrush::init_command(init);
  if (schema_command.parsed()) return onrush::schema_command();
  if (show_command.parsed()) return onrush::show_command(folder);
  if (const std::uint64_t limit = onrush::raise_descriptor_limit(); limit < onrush::kLeastDescriptors) {
    fmt::print(stderr, "onrush: may open {} files, needs {}: raise it with ulimit -n\n", limit,
               onrush::kLeastDescriptors);
    return onrush::exit_code(onrush::Verdict::refused);
  }
  if (doctor_command.parsed()) return onrush::doctor_command(doctor);
  std::signal(SIGPIPE, SIG_IGN);  // who reads our output may go, and the results shall not go with it
  onrush::SignalWatch signals;    // before any thread of gRPC, so that all block what it waits for
  if (coordinator_command.parsed()) return onrush::coordinator_command(coordinator, signals);
  spdlog::set_level(spdlog::level::err);  // the view tells what happens; agents and services stay silent
  if (search_command.parsed()) return onrush::search_command(search, signals);
  return onrush::run_command(run, signals);
}
