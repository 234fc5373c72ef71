// `onrush show`: the screen of a run that has ended, from the files it left.
//
// Owner: any thread.
#pragma once

#include <string>

#include "coordinator/view_text.h"
#include "core/expected.h"

namespace onrush {

/// The summary of the results folder (or the summary.json) at `path`, or why it cannot be shown and what to
/// do.
[[nodiscard]] Expected<std::string, std::string> show(const std::string& path, const ViewStyle& style);

}  // namespace onrush
