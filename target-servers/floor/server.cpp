#include "target-servers/floor/server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <system_error>

#include "target-servers/floor/worker.h"

namespace target {
namespace {

constexpr int kBacklog = 65535;  // the kernel takes net.core.somaxconn of it

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;
  [[nodiscard]] sockaddr* get() noexcept { return reinterpret_cast<sockaddr*>(&storage); }
};

Address address_of(const std::string& host, std::uint16_t port) {
  Address address;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  if (inet_pton(AF_INET, host.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    address.length = sizeof *v4;
  } else if (inet_pton(AF_INET6, host.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    address.length = sizeof *v6;
  } else {
    throw std::runtime_error{"--host " + host + " is not an IP address"};
  }
  return address;
}

void set(int descriptor, int level, int option) {
  const int on = 1;
  if (setsockopt(descriptor, level, option, &on, sizeof on) != 0)
    throw std::system_error{errno, std::generic_category(), "setsockopt"};
}

/// The first of a port's sockets binds before it says that others may: so it fails if there is another
/// server.
int bound_socket(const std::string& host, std::uint16_t port, bool first) {
  Address address = address_of(host, port);
  const std::string place = host + " port " + std::to_string(port);
  const int listener = socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (listener < 0) throw std::system_error{errno, std::generic_category(), "socket"};
  set(listener, SOL_SOCKET, SO_REUSEADDR);
  set(listener, IPPROTO_TCP, TCP_NODELAY);
  if (!first) set(listener, SOL_SOCKET, SO_REUSEPORT);
  if (bind(listener, address.get(), address.length) != 0) {
    if (errno == EADDRINUSE) throw std::runtime_error{place + " is taken by another process"};
    throw std::runtime_error{"cannot listen on " + place + ": " + std::strerror(errno)};
  }
  if (first) set(listener, SOL_SOCKET, SO_REUSEPORT);
  return listener;
}

std::uint16_t port_of(int listener) {
  Address address;
  address.length = sizeof address.storage;
  getsockname(listener, address.get(), &address.length);
  // The port lies at the same place for both families.
  return ntohs(reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_port);
}

sigset_t signals(std::initializer_list<int> numbers) {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : numbers) sigaddset(&set, number);
  return set;
}

int make_signalfd(std::initializer_list<int> numbers) {
  const sigset_t set = signals(numbers);
  const int descriptor = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
  if (descriptor < 0) throw std::system_error{errno, std::generic_category(), "signalfd"};
  return descriptor;
}

}  // namespace

Server::Server(const Options& options) : options_{options}, shared_{options.workers} {
  listeners_.push_back(bound_socket(options.host, options.port, true));
  port_ = port_of(listeners_.front());
  while (listeners_.size() < options.workers) listeners_.push_back(bound_socket(options.host, port_, false));
  for (const int listener : listeners_)
    if (listen(listener, kBacklog) != 0) throw std::system_error{errno, std::generic_category(), "listen"};
}

int Server::run(void (*ready)(std::uint16_t port)) {
  const sigset_t ours = signals({SIGTERM, SIGINT, SIGCHLD});
  sigprocmask(SIG_BLOCK, &ours, nullptr);
  if (options_.workers == 1) return serve_alone(ready);
  start_workers();
  for (const int listener : listeners_) close(listener);
  ready(port_);
  return wait_for_the_end();
}

int Server::serve_alone(void (*ready)(std::uint16_t port)) {
  const auto worker = std::make_unique<Worker>(shared_, 0, listeners_[0], make_signalfd({SIGTERM, SIGINT}));
  ready(port_);
  worker->run();
  return 0;
}

void Server::start_workers() {
  const pid_t parent = getpid();
  for (unsigned i = 0; i < options_.workers; ++i) {
    const pid_t pid = fork();
    if (pid == 0) be_worker(i, parent);
    if (pid < 0) {
      const int error = errno;
      end_workers(SIGKILL);
      throw std::system_error{error, std::generic_category(), "cannot start worker " + std::to_string(i)};
    }
    workers_.push_back(pid);
    shared_.counters(i).pid.store(pid);
  }
}

void Server::be_worker(unsigned index, pid_t parent) {
  try {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);  // it died before it was watched
    for (unsigned i = 0; i < listeners_.size(); ++i)
      if (i != index) close(listeners_[i]);
    std::make_unique<Worker>(shared_, index, listeners_[index], make_signalfd({SIGTERM}))->run();
    _exit(0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "target-floor: worker %u: %s\n", index, error.what());
    _exit(1);
  }
}

int Server::wait_for_the_end() {
  const sigset_t ours = signals({SIGTERM, SIGINT, SIGCHLD});
  for (;;) {
    int signal = 0;
    sigwait(&ours, &signal);
    if (signal != SIGCHLD) return end_workers(SIGTERM), 0;
    if (reap_worker()) return end_workers(SIGKILL), 1;
  }
}

/// Whether one has ended that nobody ended; it is told.
bool Server::reap_worker() {
  int status = 0;
  const pid_t pid = waitpid(-1, &status, WNOHANG);
  if (pid <= 0) return false;
  for (unsigned i = 0; i < workers_.size(); ++i) {
    if (workers_[i] != pid) continue;
    workers_[i] = 0;
    std::fprintf(stderr, "target-floor: worker %u (pid %d) ended by %s %d; so does the server\n", i,
                 static_cast<int>(pid), WIFSIGNALED(status) ? "signal" : "exit code",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return true;
  }
  return false;
}

void Server::end_workers(int signal) {
  for (const pid_t pid : workers_)
    if (pid != 0) kill(pid, signal);
  for (const pid_t pid : workers_)
    if (pid != 0) waitpid(pid, nullptr, 0);
}

}  // namespace target
