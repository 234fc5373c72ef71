// Snapshots to wire messages and back; part of convert, apart for its size.
#pragma once

#include <string>

#include "control.pb.h"
#include "core/expected.h"
#include "core/snapshot.h"

namespace onrush {

void write(const Snapshot& from, proto::Snapshot& to);

/// Error: an enum or a counter that this version does not know. Histograms are checked when they are merged.
[[nodiscard]] Expected<Snapshot, std::string> read(const proto::Snapshot& from);

}  // namespace onrush
