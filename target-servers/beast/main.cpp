// target-beast: a WebSocket server on Boost.Beast, the target that demo and tests use.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "target-servers/beast/server.h"

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
  CLI::App app{"A WebSocket server on Boost.Beast: /echo, /broadcast, /publish, GET /stats", "target-beast"};
  app.add_option("--port", options.port, "port to listen on; 0: any free one")->capture_default_str();
  app.add_option("--host", options.host, "address to listen on")->capture_default_str();
  app.add_option("--workers", options.workers, "threads")->capture_default_str()->check(CLI::Range(1, 256));
  app.add_flag("--deflate", options.deflate, "offer permessage-deflate");
  auto* tls =
      app.add_option("--tls", options.tls, "certificate chain and key (PEM files): wss:// instead of ws://")
          ->expected(2)
          ->type_name("CERT KEY");
  app.add_option("--client-ca", options.client_ca,
                 "ask clients for a certificate that this CA (PEM file) has signed")
      ->needs(tls);
  CLI11_PARSE(app, argc, argv);

  raise_descriptor_limit();
  target::Server server{options};
  if (const auto trouble = server.listen()) {
    std::fprintf(stderr, "target-beast: %s\n", trouble->c_str());
    return 1;
  }
  std::printf("listening on %u\n", server.port());
  std::fflush(stdout);
  server.run();
  return 0;
}
