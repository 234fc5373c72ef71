// What coordinator and agents say to each other, as plain values: proto/ converts them to and from the wire,
// the simulation passes them on directly, lost, doubled and late as the seed wants.
//
// The order in a run:   agent                        coordinator
//                       Hello                     ->
//                                                 <-  Welcome (or refused, with the reason)
//                       HostFacts (without a run) ->
//                       Probe (each second)       <-> ProbeReply
//                                                 <-  Prepare
//                       Ready | Refused           ->
//                                                 <-  Start
//                       Snapshot (each second)    <-> Acknowledge
//                       StageSettled              ->
//                                                 <-  EndStage
//                                                 <-  Stop (early end only)
//                       Snapshot (last)           <-> Acknowledge
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/host_facts.h"
#include "core/plan_files.h"
#include "core/schedule.h"
#include "core/snapshot.h"

namespace onrush {

/// Who the agent is and what its machine allows.
struct Hello {
  std::string version;
  std::string name;
  std::uint64_t start_number =
      0;  ///< differs each time a process starts; name + start number is the identity
  std::string host;
  std::string boot_id;  ///< equal on one kernel: then both monotonic clocks are one
  std::uint32_t pid = 0;
  std::uint32_t cores = 0;
  std::uint32_t workers = 0;
  std::uint64_t descriptor_limit = 0;
  std::vector<std::string> source_addresses;  ///< ranges, as given; empty: whatever the route gives
  HostFacts facts;  ///< when it attached; told again every few seconds while it has no run
};

struct Welcome {
  std::string version;
  std::string boot_id;
};

/// Four-timestamp clock probe: t1 sent and t4 received by the agent, t2 received and t3 sent by the
/// coordinator.
struct Probe {
  std::int64_t t1_ns = 0;
};
struct ProbeReply {
  std::int64_t t1_ns = 0;
  std::int64_t t2_ns = 0;
  std::int64_t t3_ns = 0;
};

/// The plan as text, so that both sides read it with the same parser; it was checked before.
struct PlanText {
  std::string file;
  std::string yaml;
  std::vector<std::pair<std::string, std::string>> settings;  ///< --set
  std::string target;                                         ///< --target, "" = the plan's own
  PlanFiles files = {};  ///< that the plan names; on the wire in pieces before the message with the plan
  PlanEnvironment environment = {};  ///< variables that the plan names, as the command found them
  std::uint32_t trace_users = 0;     ///< --trace: users of each scenario that are followed
};

/// Local endpoints that belong to one agent alone: each address with each port of the range.
struct SourceBlock {
  std::vector<std::string> addresses;  ///< "" = whatever the route gives
  std::uint16_t first_port = 0;
  std::uint16_t last_port = 0;  ///< inclusive
  /// Towards addresses that none of `addresses` can reach: these ports of whatever address the route gives,
  /// which the agents of its host share. 0: there are none.
  std::uint16_t first_shared_port = 0;
  std::uint16_t last_shared_port = 0;  ///< inclusive
};

struct Prepare {
  std::string run;
  PlanText plan;
  Share share{0, 1};
  SourceBlock source;
  std::uint32_t agents_on_host = 1;  ///< this one included: they share the machine's memory
};

struct Ready {
  std::uint64_t capacity = 0;         ///< connections it can hold
  std::vector<std::string> warnings;  ///< of its figures; "what it is about: ..."
};
struct Refused {
  std::vector<std::string> reasons;  ///< figure needed, figure found, the remedy
};

struct Start {
  std::int64_t at_ns = 0;  ///< coordinator's monotonic clock
};
struct StageSettled {
  std::uint32_t stage = 0;
};
/// The stage ends at this instant (coordinator's monotonic clock), for all agents alike.
struct EndStage {
  std::uint32_t stage = 0;
  std::int64_t at_ns = 0;
};
/// Ends the run early: closes everything in order.
struct Stop {
  std::string why;
};
struct Acknowledge {
  std::uint64_t number = 0;
};

using FromAgent = std::variant<Hello, HostFacts, Probe, Ready, Refused, StageSettled, Snapshot>;
using FromCoordinator = std::variant<Welcome, ProbeReply, Prepare, Start, EndStage, Stop, Acknowledge>;

}  // namespace onrush
