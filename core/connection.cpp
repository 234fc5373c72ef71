#include "core/connection.h"

#include <fmt/format.h>

#include "core/format.h"

namespace onrush {

// Balancers cut idle connections after 60 s as a rule (HAProxy, nginx, AWS), some after 30.
std::string doubt_of(const Connection& connection) {
  constexpr std::int64_t kUsualCut_ns = 60'000'000'000;
  if (!connection.ping || connection.ping->interval_ns < kUsualCut_ns) return "";
  return fmt::format(
      "a ping every {} does not keep a connection alive behind a balancer that cuts idle ones after 60 s, "
      "and "
      "most do; write ping: 20s",
      format_seconds(static_cast<double>(connection.ping->interval_ns) / 1e9));
}

}  // namespace onrush
