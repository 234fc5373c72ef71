// The engine as a client of the Autobahn cases: real workers over real sockets, echoing as the suite asks.
//
//   conformance-client PORT FIRST LAST [THREADS [DEFLATE]]
//
// Runs cases FIRST to LAST, then asks for the reports. A case is a run of its own: one user, who connects to
// /runCase?case=N and listens until the connection has ended; DEFLATE is what its plan says as
// connection.deflate, false unless given. What the suite made of it, the suite says; this says only whether
// every case was run to its end. Exit 0: all were; 1: some were not, each in a line on stderr; 2: usage.
#include <fmt/format.h>

#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "agent/epoll_network.h"
#include "agent/worker.h"
#include "core/plan_yaml.h"

namespace onrush {
namespace {

// Longer than the suite gives its slowest cases.
constexpr std::int64_t kCaseTime_ns = 500'000'000'000;

/// Where the suite listens, and what is offered to it.
struct Suite {
  std::uint16_t port;
  const char* deflate;  ///< as connection.deflate of a plan
};

std::string plan_for(const Suite& suite, const std::string& path) {
  return fmt::format(R"(
name: conformance
target: ws://127.0.0.1:{}{}
connection: {{deflate: {}}}
scenarios:
  echo: {{script: [{{connect: {{timeout: 10s}}}}, {{listen: {{}}}}]}}
stages:
  - {{name: case, users: 1, rate: 100/s, for: 1h}}
)",
                     suite.port, path, suite.deflate);
}

/// Connections opened by what the worker has handed over.
std::uint64_t opened_in(Recorder& recorder) {
  std::uint64_t opened = 0;
  while (const Portion* portion = recorder.oldest()) {
    for (const RecordedCell* cell : portion->cells) opened += at(cell->counters, Counter::opened);
    recorder.give_back();
  }
  return opened;
}

/// One user's whole life. What went wrong, if it never had a connection or was not done in time.
std::optional<std::string> run_user(const Suite& suite, const std::string& path) {
  auto plan = read_plan({"conformance.yaml", plan_for(suite, path), {}, ""});
  if (!plan) return render("conformance.yaml", plan.error());
  const auto target = Endpoint::from_text("127.0.0.1", suite.port, AF_INET);
  auto program = Program::make(std::move(*plan), {{*target}});
  if (!program) return program.error();
  auto ports = PortAllocator::make({{""}, 0, 0}, {0, 1}, *target, {});
  if (!ports) return ports.error();
  auto network = EpollNetwork::make();
  if (!network) return network.error();
  WorkerSettings settings;
  settings.capacity = 1;
  settings.echoes = true;
  std::vector<PortAllocator> allocators;
  allocators.push_back(std::move(*ports));
  Worker worker{**program, settings, std::move(allocators), **network};
  const std::int64_t begin_ns = (*network)->now_ns();
  worker.start(begin_ns);
  std::uint64_t opened = 0;
  bool begun = false;
  bool stopped = false;
  while (!worker.done()) {
    if ((*network)->now_ns() - begin_ns > kCaseTime_ns) return "it did not end in time";
    worker.turn();
    opened += opened_in(worker.recorder());
    begun = begun || worker.held().sessions != 0;
    if (begun && worker.held().sessions == 0 && !std::exchange(stopped, true)) worker.stop();
  }
  opened += opened_in(worker.recorder());
  if (opened != 1) return fmt::format("{} connections instead of one", opened);
  return std::nullopt;
}

int run_cases(const Suite& suite, unsigned first, unsigned last, unsigned threads) {
  std::atomic<unsigned> next{first};
  std::atomic<unsigned> failed{0};
  const auto run_some = [&] {
    for (unsigned n = next++; n <= last; n = next++)
      if (const auto trouble = run_user(suite, fmt::format("/runCase?case={}&agent=onrush", n))) {
        std::fprintf(stderr, "conformance-client: case %u: %s\n", n, trouble->c_str());
        ++failed;
      }
  };
  std::vector<std::thread> all;
  for (unsigned i = 0; i < threads; ++i) all.emplace_back(run_some);
  for (std::thread& thread : all) thread.join();
  if (const auto trouble = run_user(suite, "/updateReports?agent=onrush")) {
    std::fprintf(stderr, "conformance-client: reports: %s\n", trouble->c_str());
    ++failed;
  }
  std::printf("%u of %u cases run\n", last - first + 1 - std::min(failed.load(), last - first + 1),
              last - first + 1);
  return failed == 0 ? 0 : 1;
}

std::optional<unsigned> number(const char* text, unsigned least, unsigned most) {
  unsigned value = 0;
  const char* end = text + std::strlen(text);
  const auto [at, error] = std::from_chars(text, end, value);
  if (error != std::errc{} || at != end || value < least || value > most) return std::nullopt;
  return value;
}

}  // namespace
}  // namespace onrush

int main(int argc, char** argv) {
  using onrush::number;
  const auto port = number(argc > 1 ? argv[1] : "", 1, 65535);
  const auto first = number(argc > 2 ? argv[2] : "", 1, 9999);
  const auto last = number(argc > 3 ? argv[3] : "", first.value_or(1), 9999);
  const auto threads = number(argc > 4 ? argv[4] : "4", 1, 64);
  if (!port || !first || !last || !threads || argc > 6) {
    std::fputs("usage: conformance-client PORT FIRST LAST [THREADS [DEFLATE]]\n", stderr);
    return 2;
  }
  const char* deflate = argc > 5 ? argv[5] : "false";
  return onrush::run_cases({static_cast<std::uint16_t>(*port), deflate}, *first, *last, *threads);
}
