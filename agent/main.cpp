// onrush-agent: attaches to a coordinator and opens the sockets that it is told to.
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <random>
#include <string>
#include <thread>

#include "agent/control_link.h"
#include "core/address.h"
#include "core/label.h"
#include "core/source_block.h"
#include "proto/host_facts.h"
#include "proto/listening_sockets.h"

namespace {

using namespace onrush;

constexpr int kUsage = 2;
constexpr int kRefused = 3;

std::atomic<bool> end_asked{false};

void ask_for_end(int) {
  if (end_asked.exchange(true)) _exit(130);  // the second time: at once
}

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

std::uint64_t start_number() {
  std::random_device random;
  return (static_cast<std::uint64_t>(random()) << 32) | random();
}

}  // namespace

int main(int argc, char** argv) {
  hold_standard_descriptors();
  CLI::App app{"onrush-agent: opens WebSocket connections for an onrush coordinator"};
  app.set_version_flag("--version", ONRUSH_VERSION);
  std::string coordinator = "127.0.0.1:7070";
  std::string name = host_name() + "-" + std::to_string(getpid());
  std::string source_addresses;
  std::uint32_t workers = 1;
  std::uint64_t memory_reserve = 0;
  bool quiet = false;
  pid_t parent = 0;
  app.add_option("--coordinator", coordinator, "HOST:PORT to attach to")->capture_default_str();
  app.add_option("--name", name, "how reports call this agent (default: host and process)");
  app.add_option("--workers", workers, "threads that hold connections")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--source-addresses", source_addresses,
                 "local addresses to connect from: 10.0.0.1-10.0.0.20,10.0.1.0/28");
  app.add_option("--memory-reserve", memory_reserve,
                 "bytes of the host's memory to leave free: 500MB (default: a twenty-fifth)")
      ->transform(CLI::AsSizeValue{true});
  app.add_flag("--quiet", quiet, "log only errors");
  app.add_option("--parent", parent, "wait for a coordinator only as long as this process is the parent")
      ->group("");  // of `onrush run`, for nobody else
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  spdlog::set_default_logger(spdlog::stderr_logger_mt("onrush-agent"));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e %l %n: %v");
  if (quiet) spdlog::set_level(spdlog::level::err);
  if (!is_label(name, kLongestAgentName)) {
    fmt::print(
        stderr,
        "onrush-agent: --name: write 1 to {} letters, digits, - _ . that begin with a letter, digit or "
        "_\n",
        kLongestAgentName);
    return kUsage;
  }
  if (const auto address = parse_host_port(coordinator); !address) {
    fmt::print(stderr, "onrush-agent: --coordinator {}\n", address.error());
    return kUsage;
  }
  if (!source_addresses.empty())
    if (const auto expanded = expand_addresses(source_addresses); !expanded) {
      fmt::print(stderr, "onrush-agent: --source-addresses: {}\n", expanded.error());
      return kUsage;
    }
  if (const std::uint64_t limit = raise_descriptor_limit(); limit < kLeastDescriptors) {
    fmt::print(stderr, "onrush-agent: may open {} files, needs {}: raise it with ulimit -n\n", limit,
               kLeastDescriptors);
    return kRefused;
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGINT, ask_for_end);
  std::signal(SIGTERM, ask_for_end);
  if (std::signal(SIGHUP, ask_for_end) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // nohup

  Hello hello{.version = ONRUSH_VERSION,
              .name = name,
              .start_number = start_number(),
              .host = host_name(),
              .boot_id = boot_id(),
              .pid = static_cast<std::uint32_t>(getpid()),
              .cores = std::thread::hardware_concurrency(),
              .workers = workers,
              .descriptor_limit = raise_descriptor_limit(),
              .source_addresses = {},
              .facts = read_host_facts()};
  if (memory_reserve != 0) hello.facts.set(Fact::memory_reserve, memory_reserve);
  if (!source_addresses.empty()) hello.source_addresses.push_back(source_addresses);
  const AgentSettings settings{.workers = workers,
                               .descriptor_limit = hello.descriptor_limit,
                               .facts = hello.facts,
                               .name = name,
                               .host = hello.host,
                               .look_at_memory = read_memory_facts,
                               .occupied_ports = occupied_ports};
  const auto is_wanted = [parent] { return !end_asked && (parent == 0 || getppid() == parent); };
  return ControlLink{coordinator, hello, settings, end_asked}.serve(is_wanted);
}
