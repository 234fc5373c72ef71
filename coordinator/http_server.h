// The coordinator's HTTP interface: /metrics for Prometheus, /healthz, / with the state as JSON. Boost.Beast,
// one thread.
//
// Owner: Coordinator. The pages are made by the loop; a request waits for it at most two seconds, then gets a
// 503, and a client that is slow to ask or to read is dropped after ten.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/expected.h"

namespace onrush {

struct HttpPage {
  std::string content_type;
  std::string body;
};

class HttpServer {
 public:
  /// Makes the page of a path; nothing if there is none. Called on the server's thread.
  using Pages = std::function<std::optional<HttpPage>(const std::string& path)>;

  /// Listens on HOST:PORT (port 0: any). Error: why it cannot.
  static Expected<std::unique_ptr<HttpServer>, std::string> start(const std::string& address, Pages pages);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// HOST:PORT that it listens on.
  [[nodiscard]] const std::string& address() const noexcept { return address_; }

 private:
  struct Listener;  // Beast stays in the .cpp: its headers are slow to compile
  HttpServer(std::unique_ptr<Listener> listener, std::string address);

  std::unique_ptr<Listener> listener_;
  std::string address_;
};

}  // namespace onrush
