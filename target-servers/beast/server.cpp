#include "target-servers/beast/server.h"

#include <unistd.h>

#include <boost/asio/post.hpp>
#include <boost/version.hpp>
#include <csignal>
#include <thread>

#include "target-servers/beast/connection.h"

namespace target {
namespace {

constexpr int kBacklog = 16384;
constexpr int kAcceptsPerTurn = 64;
constexpr std::chrono::milliseconds kAcceptPause{50};

std::vector<std::unique_ptr<Worker>> make_workers(unsigned count) {
  std::vector<std::unique_ptr<Worker>> workers;
  for (unsigned i = 0; i < count; ++i) workers.push_back(std::make_unique<Worker>());
  return workers;
}

}  // namespace

Server::Server(const Options& options)
    : options_{options},
      workers_{make_workers(options.workers)},
      acceptor_{workers_[0]->context},
      accept_pause_{workers_[0]->context},
      signals_{workers_[0]->context, SIGTERM, SIGINT} {}

std::optional<std::string> Server::load_tls() {
  namespace ssl = net::ssl;
  if (options_.tls.empty()) return std::nullopt;
  tls_.emplace(ssl::context::tls_server);
  boost::system::error_code error;
  tls_->set_options(ssl::context::default_workarounds | ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1,
                    error);
  // An idle connection keeps no buffers, and a client may resume its session.
  SSL_CTX_set_mode(tls_->native_handle(), SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_id_context(tls_->native_handle(), reinterpret_cast<const unsigned char*>("target"), 6);
  tls_->use_certificate_chain_file(options_.tls[0], error);
  if (error) return "cannot use the certificate " + options_.tls[0] + ": " + error.message();
  tls_->use_private_key_file(options_.tls[1], ssl::context::pem, error);
  if (error) return "cannot use the key " + options_.tls[1] + ": " + error.message();
  if (options_.client_ca.empty()) return std::nullopt;
  tls_->load_verify_file(options_.client_ca, error);
  if (error) return "cannot use the CA " + options_.client_ca + ": " + error.message();
  tls_->set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert, error);
  return std::nullopt;
}

std::optional<std::string> Server::listen() {
  if (auto trouble = load_tls()) return trouble;
  const std::string place = options_.host + " port " + std::to_string(options_.port);
  boost::system::error_code error;
  const auto address = net::ip::make_address(options_.host, error);
  if (error) return "--host " + options_.host + " is not an IP address";
  const Tcp::endpoint endpoint{address, options_.port};
  acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(Tcp::acceptor::reuse_address{true}, error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(kBacklog, error);
  if (!error) acceptor_.non_blocking(true, error);
  if (error == net::error::address_in_use) return place + " is taken by another process";
  if (error) return "cannot listen on " + place + ": " + error.message();
  return std::nullopt;
}

void Server::run() {
  signals_.async_wait([this](const boost::system::error_code& error, int) {
    if (!error) stop();
  });
  wait_for_connections();

  std::vector<std::thread> threads;
  for (const auto& worker : workers_)
    threads.emplace_back([&context = worker->context] {
      const auto until_stopped = net::make_work_guard(context);
      context.run();
    });
  for (auto& thread : threads) thread.join();
}

void Server::wait_for_connections() {
  acceptor_.async_wait(Tcp::acceptor::wait_read, [this](const boost::system::error_code& error) {
    if (!error) accept_waiting();
  });
}

void Server::accept_waiting() {
  for (int i = 0; i < kAcceptsPerTurn; ++i) {
    Worker& worker = *workers_[next_worker_ % workers_.size()];
    Socket socket{worker.context.get_executor()};
    boost::system::error_code error;
    acceptor_.accept(socket, error);
    if (error == net::error::would_block) break;
    if (error == net::error::connection_aborted) continue;
    // Out of descriptors the socket stays readable: to try again at once would burn a core until one is free.
    if (error) return accept_again_later();
    ++next_worker_;
    socket.set_option(Tcp::no_delay{true}, error);
    net::post(worker.context, [this, &worker, socket = std::move(socket)]() mutable {
      if (tls_)
        std::make_shared<Connection<SecureSocket>>(SecureSocket{std::move(socket), *tls_}, *this, worker)
            ->start();
      else
        std::make_shared<Connection<Socket>>(std::move(socket), *this, worker)->start();
    });
  }
  wait_for_connections();
}

void Server::accept_again_later() {
  accept_pause_.expires_after(kAcceptPause);
  accept_pause_.async_wait([this](const boost::system::error_code& error) {
    if (!error) wait_for_connections();
  });
}

void Server::stop() {
  for (const auto& worker : workers_) worker->context.stop();
}

std::string Server::stats() const {
  std::int64_t connections = 0;
  std::int64_t messages_in = 0;
  std::int64_t messages_out = 0;
  std::int64_t dropped = 0;
  for (const auto& worker : workers_) {
    connections += worker->counters.connections.load(std::memory_order_relaxed);
    messages_in += worker->counters.messages_in.load(std::memory_order_relaxed);
    messages_out += worker->counters.messages_out.load(std::memory_order_relaxed);
    dropped += worker->counters.broadcasts_dropped.load(std::memory_order_relaxed);
  }
  const std::string version =
      std::to_string(BOOST_VERSION / 100'000) + "." + std::to_string(BOOST_VERSION / 100 % 1000);
  return R"({"pid":)" + std::to_string(getpid()) + R"(,"runtime":"Boost.Beast","version":")" + version +
         R"(","workers":)" + std::to_string(workers_.size()) + R"(,"connections":)" +
         std::to_string(connections) + R"(,"messages_in":)" + std::to_string(messages_in) +
         R"(,"messages_out":)" + std::to_string(messages_out) + R"(,"broadcasts_dropped":)" +
         std::to_string(dropped) + "}\n";
}

}  // namespace target
