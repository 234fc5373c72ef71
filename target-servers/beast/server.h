// The server: listens, deals connections out to its workers, knows what they share.
//
// Owner: made and ended by main's thread; accepts on the first worker's loop.
#pragma once

#include <boost/asio/signal_set.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "target-servers/beast/broadcast.h"
#include "target-servers/beast/topics.h"
#include "target-servers/beast/worker.h"

namespace target {

struct Options {
  std::string host = "127.0.0.1";
  std::uint16_t port = 8088;  ///< 0: any free one
  unsigned workers = 1;
  bool deflate = false;
  std::vector<std::string> tls;  ///< files of certificate chain and key; empty: plain
  std::string client_ca;  ///< file: who must have signed its clients' certificates; "": none is asked for
};

class Server {
 public:
  explicit Server(const Options& options);

  /// What stands in the way of listening, in one line.
  [[nodiscard]] std::optional<std::string> listen();
  [[nodiscard]] std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

  /// Serves until SIGTERM or SIGINT.
  void run();

  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] const std::vector<std::unique_ptr<Worker>>& workers() const { return workers_; }
  [[nodiscard]] Broadcaster& broadcaster() { return broadcaster_; }
  [[nodiscard]] Topics& topics() { return topics_; }

  /// The body of GET /stats.
  [[nodiscard]] std::string stats() const;

 private:
  [[nodiscard]] std::optional<std::string> load_tls();
  void wait_for_connections();
  void accept_waiting();
  void accept_again_later();
  void stop();

  Options options_;
  Broadcaster broadcaster_;
  Topics topics_;
  std::optional<net::ssl::context> tls_;
  std::vector<std::unique_ptr<Worker>> workers_;  // after what their sessions use until they end
  Tcp::acceptor acceptor_;
  net::steady_timer accept_pause_;
  net::signal_set signals_;
  std::size_t next_worker_ = 0;
};

}  // namespace target
