// target-floor: a WebSocket server of epoll and nothing else, for a million connections on one machine.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "target-servers/floor/server.h"

namespace {

void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

int main(int argc, char** argv) {
  target::Options options;
  CLI::App app{"A minimal epoll WebSocket server: /echo, /broadcast, /publish, GET /stats", "target-floor"};
  app.add_option("--port", options.port, "port to listen on; 0: any free one")->capture_default_str();
  app.add_option("--host", options.host, "address to listen on")->capture_default_str();
  app.add_option("--workers", options.workers, "processes that share the port")
      ->capture_default_str()
      ->check(CLI::Range(1U, target::Shared::kMaxWorkers));
  CLI11_PARSE(app, argc, argv);

  raise_descriptor_limit();
  try {
    target::Server server{options};
    return server.run([](std::uint16_t port) {
      std::printf("listening on %u\n", port);
      std::fflush(stdout);
    });
  } catch (const std::exception& error) {
    std::fprintf(stderr, "target-floor: %s\n", error.what());
    return 1;
  }
}
