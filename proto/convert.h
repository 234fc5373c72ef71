// Core values to wire messages and back: the only place where both are named together.
//
// Why: everything else speaks core types, so the protocol can change without the engine or the aggregate
// noticing. From the wire, every enum and count is checked; a message that cannot be right is an error, never
// a crash. Owner: any thread; pure.
#pragma once

#include <string>

#include "control.pb.h"
#include "core/control.h"
#include "core/expected.h"
#include "core/live.h"

namespace onrush {

/// Bytes of one message, both ways. Snapshots of busy agents pass gRPC's default of 4 MiB (cases P061).
inline constexpr int kMaxMessageBytes = 64 * 1024 * 1024;

[[nodiscard]] proto::FromAgent to_proto(const FromAgent& message);
[[nodiscard]] proto::FromCoordinator to_proto(const FromCoordinator& message);
[[nodiscard]] proto::PlanText to_proto(const PlanText& plan);
[[nodiscard]] proto::Live to_proto(const Live& live);
[[nodiscard]] proto::Hello to_proto(const Hello& hello);

[[nodiscard]] Expected<FromAgent, std::string> from_proto(const proto::FromAgent& from);
[[nodiscard]] Expected<FromCoordinator, std::string> from_proto(const proto::FromCoordinator& from);
[[nodiscard]] PlanText from_proto(const proto::PlanText& from);
[[nodiscard]] Live from_proto(const proto::Live& from);
[[nodiscard]] Hello from_proto(const proto::Hello& from);

}  // namespace onrush
