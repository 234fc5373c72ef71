// What `onrush` does for each of its commands, after main has read the arguments. Each returns the exit code.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/signal_watch.h"
#include "core/control.h"

namespace onrush {

/// A plan file with its --set and --target.
struct PlanArguments {
  std::string file;
  std::vector<std::string> settings;  ///< key=value
  std::string target;
};

struct RunArguments {
  PlanArguments plan;
  std::uint32_t agents = 0;   ///< 0: as many as the plan needs (embedded), or all attached ones (cluster)
  std::uint32_t workers = 1;  ///< of each local agent
  std::string coordinator;    ///< "" = embedded
  std::string http;           ///< "" = the default, or any free port if that is taken
  std::string out;            ///< "" = onrush-results/<run>
  bool quiet = false;
  std::string trace;                 ///< "users=N"
  std::uint64_t memory_reserve = 0;  ///< bytes that local agents leave free; 0: their own rule
};
int run_command(const RunArguments& arguments, SignalWatch& signals);
/// Finds the load at which the target breaks the promise of the plan's `search`, trial by trial.
int search_command(const RunArguments& arguments, SignalWatch& signals);

struct CheckArguments {
  PlanArguments plan;
  bool explain = false;  ///< with the timeline as a chart
};
int check_command(const CheckArguments& arguments);

struct InitArguments {
  std::string kind = "echo";
  std::string file;    ///< "" = KIND.yaml; "-" = standard output
  bool force = false;  ///< overwrite
};
int init_command(const InitArguments& arguments);
int schema_command();

struct DoctorArguments {
  PlanArguments plan;
  std::uint32_t agents = 0;  ///< 0: as many as `onrush run` would take
  std::string coordinator;   ///< "" = this host
  bool script = false;
};
int doctor_command(const DoctorArguments& arguments);

struct CoordinatorArguments {
  std::string listen = "127.0.0.1:7070";
  std::string http = "127.0.0.1:7080";
};
int coordinator_command(const CoordinatorArguments& arguments, SignalWatch& signals);

int show_command(const std::string& folder);

}  // namespace onrush
