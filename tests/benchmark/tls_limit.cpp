// The floor under wss: the least that OpenSSL lets a client do for a connection that it verifies.
//
//   tls-limit PORT CONNECTIONS CA [WINDOW]
//
// Opens CONNECTIONS to 127.0.0.1 with WINDOW handshakes in flight, upgrades each, and holds them; prints one
// line of JSON. OpenSSL as its manual has it: a socket BIO for each connection, buffers released when idle.
// No plan, no statistics, no timers, and it gives up at the first error. What the agent spends above this is
// its own cost.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

namespace {

double monotonic_s() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

double cpu_s() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

double resident_bytes() {
  long pages = 0;
  long skipped = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (std::fscanf(file, "%ld %ld", &skipped, &pages) != 2) pages = 0;
  std::fclose(file);
  return static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "tls-limit: %s: %s\n", what, std::strerror(errno));
  ERR_print_errors_fp(stderr);
  std::exit(1);
}

enum class State : std::uint8_t { connecting, securing, upgrading, open };
struct Connection {
  int descriptor = -1;
  State state = State::connecting;
  SSL* ssl = nullptr;
};

SSL_CTX* make_context(const char* ca) {
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  X509_VERIFY_PARAM_set1_ip_asc(SSL_CTX_get0_param(context), "127.0.0.1");
  if (SSL_CTX_load_verify_locations(context, ca, nullptr) != 1) give_up("the CA");
  return context;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("usage: tls-limit PORT CONNECTIONS CA [WINDOW]\n", stderr);
    return 2;
  }
  const auto port = static_cast<std::uint16_t>(std::atoi(argv[1]));
  const auto wanted = static_cast<std::size_t>(std::atoi(argv[2]));
  const auto window = static_cast<std::size_t>(argc > 4 ? std::atoi(argv[4]) : 256);
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  SSL_CTX* context = make_context(argv[3]);
  const std::string request = "GET /echo HTTP/1.1\r\nHost: 127.0.0.1:" + std::string{argv[1]} +
                              "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: "
                              "dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
  const int poll = epoll_create1(0);
  std::vector<Connection> all(wanted);
  std::vector<epoll_event> events(1024);
  std::size_t started = 0;
  std::size_t pending = 0;
  std::size_t open = 0;
  const double resident_before = resident_bytes();
  const double began_s = monotonic_s();
  const double cpu_before_s = cpu_s();

  const auto start = [&] {
    while (started < wanted && pending < window) {
      const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
      if (descriptor < 0) give_up("socket");
      const int one = 1;
      setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
      sockaddr_in to{};
      to.sin_family = AF_INET;
      to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      to.sin_port = htons(port);
      if (connect(descriptor, reinterpret_cast<sockaddr*>(&to), sizeof to) < 0 && errno != EINPROGRESS)
        give_up("connect");
      epoll_event event{};
      event.events = EPOLLIN | EPOLLOUT | EPOLLET;
      event.data.u64 = started;
      epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event);
      all[started++].descriptor = descriptor;
      ++pending;
    }
  };
  const auto go_on = [&](Connection& c) {
    if (c.state == State::connecting) {
      c.ssl = SSL_new(context);
      if (c.ssl == nullptr || SSL_set_fd(c.ssl, c.descriptor) != 1) give_up("SSL_new");
      SSL_set_connect_state(c.ssl);
      c.state = State::securing;
    }
    if (c.state == State::securing) {
      const int result = SSL_do_handshake(c.ssl);
      if (result != 1) {
        if (SSL_get_error(c.ssl, result) != SSL_ERROR_WANT_READ) give_up("handshake");
        return;
      }
      if (SSL_write(c.ssl, request.data(), static_cast<int>(request.size())) <= 0) give_up("write");
      c.state = State::upgrading;
    }
    char bytes[4096];
    int got = 0;
    while ((got = SSL_read(c.ssl, bytes, sizeof bytes)) > 0) {
      if (c.state != State::upgrading) continue;
      if (got < 12 || std::memcmp(bytes + 9, "101", 3) != 0) give_up("the upgrade was refused");
      c.state = State::open;
      ++open;
      --pending;
    }
    if (SSL_get_error(c.ssl, got) != SSL_ERROR_WANT_READ) give_up("read");
  };

  start();
  while (open < wanted) {
    const int count = epoll_wait(poll, events.data(), static_cast<int>(events.size()), 10'000);
    if (count <= 0) give_up("nothing comes any more");
    for (int i = 0; i < count; ++i) go_on(all[events[static_cast<std::size_t>(i)].data.u64]);
    start();
  }
  const double took_s = monotonic_s() - began_s;
  const double cpu_took_s = cpu_s() - cpu_before_s;
  const auto n = static_cast<double>(wanted);
  std::printf(
      "{\"connections\":%zu,\"handshakes_per_s\":%.0f,\"cpu_us_per_handshake\":%.2f,"
      "\"resident_bytes_per_connection\":%.0f}\n",
      wanted, n / took_s, cpu_took_s / n * 1e6, (resident_bytes() - resident_before) / n);
  return 0;
}
