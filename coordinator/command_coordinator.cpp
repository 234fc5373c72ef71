#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <future>

#include "coordinator/commands.h"
#include "coordinator/coordinator.h"
#include "core/address.h"
#include "core/verdict.h"

namespace onrush {

int coordinator_command(const CoordinatorArguments& arguments, SignalWatch& signals) {
  for (const std::string* text : {&arguments.listen, &arguments.http})
    if (const auto address = parse_host_port(*text); !address) {
      fmt::print(stderr, "onrush coordinator: {}\n", address.error());
      return kExitBadPlan;
    }
  auto started =
      Coordinator::start({.listen = arguments.listen, .http = arguments.http, .results = "onrush-results"});
  if (!started) {
    fmt::print(stderr, "onrush coordinator: {}\n", started.error());
    return exit_code(Verdict::refused);
  }
  Coordinator& coordinator = **started;
  spdlog::info("agents attach to {}, metrics are at http://{}/metrics", coordinator.control_address(),
               coordinator.http_address());
  // A later version brings mTLS and tokens; until then the network around it must be trusted.
  if (const auto listen = parse_host_port(arguments.listen); listen && !is_loopback(listen->host))
    spdlog::warn(
        "CONTROL IS NEITHER ENCRYPTED NOR AUTHENTICATED: whoever reaches {} can make the agents load any "
        "target; listen on a trusted network only",
        coordinator.control_address());
  std::promise<void> asked;
  signals.on_signal([&](int count) {
    if (count == 1) asked.set_value();
    if (count > 1) std::_Exit(exit_code(Verdict::interrupted));
  });
  asked.get_future().wait();
  spdlog::info("told to end");
  coordinator.drain();
  return 0;
}

}  // namespace onrush
