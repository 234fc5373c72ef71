// The processes of the server: one port, one listening socket a worker, one parent that keeps them together.
//
// Owner: main. Always: the server runs whole or not at all: when a worker dies the others are ended, when the
// parent dies the kernel ends the workers. One worker is this process itself.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "target-servers/floor/shared.h"

namespace target {

struct Options {
  std::string host = "127.0.0.1";
  std::uint16_t port = 8087;  ///< 0: any free one
  unsigned workers = 1;
};

class Server {
 public:
  /// Listens. Throws std::runtime_error with one line that says what stands in the way.
  explicit Server(const Options& options);

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

  /// Starts the workers; `ready` is called once all serve. Serves until SIGTERM or SIGINT; the exit code.
  int run(void (*ready)(std::uint16_t port));

 private:
  [[nodiscard]] int serve_alone(void (*ready)(std::uint16_t port));
  void start_workers();
  [[noreturn]] void be_worker(unsigned index, pid_t parent);
  [[nodiscard]] int wait_for_the_end();
  [[nodiscard]] bool reap_worker();
  void end_workers(int signal);

  Options options_;
  Shared shared_;
  std::uint16_t port_ = 0;
  std::vector<int> listeners_;
  std::vector<pid_t> workers_;  // 0: has ended
};

}  // namespace target
