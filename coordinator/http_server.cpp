#include "coordinator/http_server.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <thread>
#include <utility>

#include "core/address.h"

namespace onrush {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;

constexpr std::chrono::seconds kPatience{10};
constexpr std::size_t kMaxRequestBytes = 16 * 1024;

// One connection: requests answered one after the other until the client has enough.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, const HttpServer::Pages& pages)
      : stream_{std::move(socket)}, pages_{pages} {}

  void read() {
    parser_.emplace();
    parser_->header_limit(kMaxRequestBytes);
    parser_->body_limit(kMaxRequestBytes);
    stream_.expires_after(kPatience);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](beast::error_code error, std::size_t) {
                       if (!error) self->answer();
                     });
  }

 private:
  void answer() {
    const http::request<http::string_body>& request = parser_->get();
    response_ = {};
    response_.version(request.version());
    response_.keep_alive(request.keep_alive());
    fill(request);
    if (request.method() == http::verb::head) response_.body().clear();
    response_.prepare_payload();
    stream_.expires_after(kPatience);
    http::async_write(stream_, response_, [self = shared_from_this()](beast::error_code error, std::size_t) {
      if (!error && self->response_.keep_alive()) self->read();
    });
  }

  void fill(const http::request<http::string_body>& request) {
    response_.set(http::field::content_type, "text/plain; charset=utf-8");
    if (request.method() != http::verb::get && request.method() != http::verb::head) {
      response_.result(http::status::method_not_allowed);
      response_.set(http::field::allow, "GET, HEAD");
      response_.body() = "only GET and HEAD\n";
      return;
    }
    const std::string target{request.target()};
    if (const std::optional<HttpPage> page = pages_(target.substr(0, target.find('?')))) {
      response_.result(page->body.empty() ? http::status::service_unavailable : http::status::ok);
      response_.set(http::field::content_type, page->content_type);
      response_.body() = page->body;
      return;
    }
    response_.result(http::status::not_found);
    response_.body() = "there is /metrics, /healthz and /\n";
  }

  beast::tcp_stream stream_;
  const HttpServer::Pages& pages_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> response_;
};

}  // namespace

struct HttpServer::Listener {
  explicit Listener(Pages made_pages) : pages{std::move(made_pages)} {}

  beast::error_code listen(const tcp::endpoint& endpoint) {
    beast::error_code error;
    acceptor.open(endpoint.protocol(), error);
    if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor.bind(endpoint, error);
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
    return error;
  }

  void accept() {
    acceptor.async_accept([this](beast::error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (!error) {
        std::make_shared<Connection>(std::move(socket), pages)->read();
        return accept();
      }
      // Out of descriptors, most likely: the pending connection would report it again at once and spin the
      // thread.
      pause.expires_after(std::chrono::milliseconds{100});
      pause.async_wait([this](beast::error_code cancelled) {
        if (!cancelled) accept();
      });
    });
  }

  Pages pages;
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
  asio::steady_timer pause{context};
  std::thread thread;
};

Expected<std::unique_ptr<HttpServer>, std::string> HttpServer::start(const std::string& address,
                                                                     Pages pages) {
  const Expected<HostPort, std::string> wanted = parse_host_port(address);
  if (!wanted) return Unexpected{wanted.error()};
  auto listener = std::make_unique<Listener>(std::move(pages));
  beast::error_code error;
  tcp::resolver resolver{listener->context};
  const auto found = resolver.resolve(wanted->host, std::to_string(wanted->port), error);
  if (!error) error = listener->listen(found.begin()->endpoint());
  if (error) return Unexpected{"cannot listen on " + address + " for HTTP: " + error.message()};
  const std::string bound = join_host_port({wanted->host, listener->acceptor.local_endpoint().port()});
  return std::unique_ptr<HttpServer>{new HttpServer{std::move(listener), bound}};
}

HttpServer::HttpServer(std::unique_ptr<Listener> listener, std::string address)
    : listener_{std::move(listener)}, address_{std::move(address)} {
  listener_->accept();
  listener_->thread = std::thread{[this] { listener_->context.run(); }};
}

HttpServer::~HttpServer() {
  listener_->context.stop();
  listener_->thread.join();
}

}  // namespace onrush
