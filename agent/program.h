// What every worker of a run executes: the plan, compiled once, and where to connect.
//
// Why: scripts, pointers and the timeline are the same for all workers, so they are made once and only read
// after. Owner: the run; immutable once made. Always: scripts refer into `plan`, which therefore never moves.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/endpoint.h"
#include "agent/tls_identity.h"
#include "core/arrival_mix.h"
#include "core/feed_table.h"
#include "core/json_field.h"
#include "core/plan.h"
#include "core/script.h"
#include "core/timeline.h"

namespace onrush {

/// A listen step's members of a message; absent ones are not looked for.
struct ListenFields {
  std::optional<JsonPointer> sequence;
  std::optional<JsonPointer> batch_sent;
  std::optional<JsonPointer> sent;
  [[nodiscard]] bool any() const noexcept { return sequence || batch_sent || sent; }
};

/// A value to be kept: `place` of it, and where it comes from; what is a text lies in the plan.
struct CaptureSource {
  std::uint32_t place = 0;
  const Template* text = nullptr;
  const std::string* pointer = nullptr;
  std::optional<JsonPointer> json;  ///< taken apart
  const Regex* regex = nullptr;
};

/// An instruction and what can be worked out of it beforehand.
struct ProgramStep {
  Instruction instruction;
  std::uint8_t due_depth = 0;  ///< paced: the repeat that sets its due time
  ListenFields listen;
  std::vector<JsonPointer> reply;  ///< of its JSON members; of an event /payload stands before them
  std::vector<CaptureSource> set;
  const Reply* awaited = nullptr;  ///< request, expect: in the plan
  std::int64_t timeout_ns = 0;     ///< request, expect, ping, operate
  std::uint32_t head = 0;          ///< connect: its place in Program::heads
};

/// Where a connection goes: an address of a target.
struct Destination {
  std::uint16_t target;    ///< of the plan
  std::uint16_t endpoint;  ///< of the program
};

struct Program {
  Plan plan;
  std::vector<Endpoint> endpoints;                   ///< of all targets, none twice
  std::vector<Destination> destinations;             ///< target by target
  std::vector<std::uint32_t> destination_of_target;  ///< where its destinations begin, and the end of all
  std::vector<std::vector<ProgramStep>> scripts;     ///< by scenario
  std::string extensions;  ///< what every handshake offers: the value of Sec-WebSocket-Extensions
  std::vector<UpgradeHead> heads;
  std::vector<FeedTable> feeds;  ///< this agent's rows of each
  ClientIdentities identities;   ///< of its users, by a feed
  std::vector<StageTimeline> stages;
  std::vector<std::uint64_t> user_bases;  ///< by scenario
  std::vector<std::uint64_t> user_peaks;  ///< by scenario
  std::size_t subscriptions = 0;          ///< GraphQL: that a script names at most
  std::uint64_t all_users = 0;            ///< sum of user_peaks: arrivals are numbered after them
  ArrivalMix mix;

  /// `addresses`: of each that the plan dials (core/plan.h) at least one. `files`: those with which the plan
  /// was read, with shares of its feeds. Errors: what this engine cannot run.
  static Expected<std::unique_ptr<const Program>, std::string> make(
      Plan plan, const std::vector<std::vector<Endpoint>>& addresses, const PlanFiles& files = {});
};

/// Users of a scenario that belong to the share: user first + i * count for i = 0, 1, ...
struct ShareOfUsers {
  std::uint64_t first;
  std::uint64_t count;  ///< of users
};
[[nodiscard]] ShareOfUsers share_of_users(const Program& program, std::uint32_t scenario,
                                          Share share) noexcept;

}  // namespace onrush
