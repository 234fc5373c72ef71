#include "coordinator/coordinator.h"

#include <chrono>
#include <future>
#include <optional>
#include <utility>

#include "coordinator/http_server.h"
#include "coordinator/services.h"
#include "core/address.h"

namespace onrush {
namespace {

using namespace std::chrono_literals;

// Stage ends and live views are due to a few hundredths of a second.
constexpr std::chrono::milliseconds kTick = 20ms;
constexpr std::chrono::seconds kPageDeadline = 2s;

}  // namespace

struct Coordinator::Edges {
  explicit Edges(const std::string& results)
      : control{{.results = results, .post = [this](EventLoop::Task task) { loop.post(std::move(task)); }}} {}

  // A page is made by the loop, which owns what it shows.
  std::optional<HttpPage> page(const std::string& path) {
    using Make = std::string (RunControl::*)() const;
    Make make = nullptr;
    std::string content_type = "application/json";
    if (path == "/metrics") {
      make = &RunControl::metrics;
      content_type = "text/plain; version=0.0.4; charset=utf-8";
    } else if (path == "/" || path == "/api/run") {
      make = &RunControl::status;
    } else if (path == "/healthz") {
      make = &RunControl::health;
      content_type = "text/plain; charset=utf-8";
    } else {
      return std::nullopt;
    }
    const auto made = std::make_shared<std::promise<std::string>>();
    std::future<std::string> body = made->get_future();
    loop.post([this, made, make] { made->set_value((control.*make)()); });
    if (body.wait_for(kPageDeadline) != std::future_status::ready) return HttpPage{content_type, ""};
    return HttpPage{content_type, body.get()};
  }

  EventLoop loop;
  RunControl control;
  std::unique_ptr<HttpServer> http;
  std::unique_ptr<Services> services;
  std::thread thread;  ///< the loop's
};

Coordinator::Coordinator() = default;

Expected<std::unique_ptr<Coordinator>, std::string> Coordinator::start(const Settings& settings) {
  const Expected<HostPort, std::string> listen = parse_host_port(settings.listen);
  if (!listen) return Unexpected{listen.error()};
  std::unique_ptr<Coordinator> made{new Coordinator};
  made->edges_ = std::make_unique<Edges>(settings.results);
  Edges& edges = *made->edges_;
  if (!settings.http.empty()) {
    auto http =
        HttpServer::start(settings.http, [&edges](const std::string& path) { return edges.page(path); });
    if (!http) return Unexpected{http.error()};
    edges.http = std::move(*http);
    made->http_address_ = edges.http->address();
    edges.control.serves_http_at(made->http_address_);
  }
  edges.services = Services::start(settings.listen, edges.loop, edges.control);
  if (edges.services == nullptr)
    return Unexpected{"cannot listen on " + settings.listen +
                      " for agents: is the port taken, the address ours?"};
  made->control_address_ = join_host_port({listen->host, edges.services->port()});
  edges.thread = std::thread{[&edges] { edges.loop.run(kTick, [&edges] { edges.control.tick(); }); }};
  return made;
}

Coordinator::~Coordinator() {
  if (!edges_) return;
  edges_->http.reset();
  edges_->services.reset();
  edges_->loop.stop();
  if (edges_->thread.joinable()) edges_->thread.join();
}

void Coordinator::drain() {
  edges_->loop.post([this] { edges_->control.stop("the coordinator was told to end"); });
  for (;;) {
    std::promise<bool> asked;
    edges_->loop.post([&] { asked.set_value(edges_->control.is_idle()); });
    if (asked.get_future().get()) return;
    std::this_thread::sleep_for(kTick);
  }
}

}  // namespace onrush
