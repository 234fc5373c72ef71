// How connections are made: what `connection:` of a plan says, checked.
//
// Owner: part of a Plan; immutable. Always: a member that the plan does not state has the default given here.
#pragma once

namespace onrush {

struct Connection {};

}  // namespace onrush
