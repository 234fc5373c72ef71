// How connections are made: what `connection:` of a plan says, checked.
//
// Owner: part of a Plan; immutable. Always: a member that the plan does not state has the default given here.
#pragma once

#include "core/tls.h"
#include "core/upgrade_head.h"

namespace onrush {

struct Connection {
  UpgradeFields upgrade;
  Tls tls;
};

}  // namespace onrush
