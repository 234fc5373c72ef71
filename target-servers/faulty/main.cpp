// target-faulty: a WebSocket server that misbehaves by path; GET / lists how.
//
// A thread a connection: what a fault does is then told straight through. Meant for some thousand
// connections.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <system_error>
#include <thread>

#include "target-servers/faulty/faults.h"
#include "target-servers/faulty/peer.h"

namespace {

using target::Peer;

constexpr int kBacklog = 16384;
constexpr std::chrono::milliseconds kAcceptPause{50};

void answer(Peer& peer, const std::string& status, const std::string& type, const std::string& body) {
  peer.send("HTTP/1.1 " + status + "\r\nContent-Type: " + type +
            "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body);
}

void serve(int descriptor, target::Stats& stats) {
  Peer peer{descriptor, stats};
  const auto request = peer.read_request();
  if (!request) return;
  if (request->path == "/stats") {
    answer(peer, "200 OK", "application/json", stats.json());
  } else if (request->path == "/") {
    answer(peer, "200 OK", "text/plain", target::list_of_faults());
  } else if (const target::Fault* fault = target::find_fault(request->path); fault == nullptr) {
    answer(peer, "404 Not Found", "text/plain", "not found; GET / lists what there is\n");
  } else if (request->method != "GET" || request->key.empty()) {
    answer(peer, "400 Bad Request", "text/plain", "not a WebSocket request\n");
  } else {
    stats.update(request->path, [](target::PathStats& path) { ++path.requests; });
    fault->script(peer);
  }
  peer.end();
}

void accept_for_ever(int listener, target::Stats& stats) {
  for (;;) {
    const int descriptor = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (descriptor < 0) {
      // Out of descriptors the queue stays full: to try again at once would burn a core until one is free.
      if (errno != ECONNABORTED && errno != EINTR) std::this_thread::sleep_for(kAcceptPause);
      continue;
    }
    try {
      std::thread{serve, descriptor, std::ref(stats)}.detach();
    } catch (const std::system_error&) {
      close(descriptor);  // no more threads to be had
    }
  }
}

/// A listening socket, or -1 with errno set.
int listen_on(const std::string& host, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) return errno = EINVAL, -1;
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return -1;
  return listen(listener, kBacklog) == 0 ? listener : -1;
}

std::uint16_t port_of(int listener) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

int main(int argc, char** argv) {
  std::uint16_t port = 8089;
  std::string host = "127.0.0.1";
  CLI::App app{"A WebSocket server that misbehaves by path; GET / lists how", "target-faulty"};
  app.add_option("--port", port, "port to listen on; 0: any free one")->capture_default_str();
  app.add_option("--host", host, "IPv4 address to listen on")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  raise_descriptor_limit();
  const int listener = listen_on(host, port);
  if (listener < 0) {
    const char* why = errno == EADDRINUSE ? "taken by another process" : std::strerror(errno);
    std::fprintf(stderr, "target-faulty: %s port %u: %s\n", host.c_str(), port, why);
    return 1;
  }

  // Blocked before any thread begins, so that only sigwait sees them.
  sigset_t stops;
  sigemptyset(&stops);
  sigaddset(&stops, SIGTERM);
  sigaddset(&stops, SIGINT);
  pthread_sigmask(SIG_BLOCK, &stops, nullptr);

  static target::Stats stats;  // outlives every thread
  std::thread{accept_for_ever, listener, std::ref(stats)}.detach();
  std::printf("listening on %u\n", port_of(listener));
  std::fflush(stdout);
  int signal = 0;
  sigwait(&stops, &signal);
  std::_Exit(0);  // threads are still in their scripts; there is nothing to put in order
}
