// What `onrush doctor` finds: every check of every machine whose agents would run a plan, as a table and as a
// script that mends what can be mended.
//
// Why: an operator wants to know before the load, on all machines at once, and to read what he is to run as
// root. Owner: any thread; pure: who the agents are and what their machines allow comes in. Always: the
// script holds nothing that the plan does not need, and no text from an agent that a shell could take for its
// own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coordinator/view_text.h"
#include "core/control.h"
#include "core/plan.h"
#include "core/preflight.h"

namespace onrush {

/// One line of a machine's table: a check, and the agents of whom it is true.
struct Finding {
  Check check;
  std::vector<std::string> agents;  ///< empty: it is the whole machine's
};

struct ExaminedHost {
  HostPlace place;
  std::vector<Finding> findings;
};

struct Examination {
  std::string plan;
  std::string plan_file;
  std::string target_host;
  std::uint32_t agents = 0;
  std::vector<ExaminedHost> hosts;

  /// The worst of all findings; unknown counts as ok.
  [[nodiscard]] CheckGrade worst() const noexcept;
};

/// As the run would be dealt out to `agents`, of which there is one at least.
[[nodiscard]] Examination examine(const Plan& plan, const std::string& plan_file,
                                  const std::vector<Hello>& agents);

[[nodiscard]] std::string render_examination(const Examination& examination, const ViewStyle& style);

/// For /bin/sh, to be read and then run as root on the machines.
[[nodiscard]] std::string render_script(const Examination& examination);

}  // namespace onrush
