#include "target-servers/beast/connection.h"

#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <utility>

#include "target-servers/beast/paths.h"

namespace target {

namespace http = beast::http;

Connection::Connection(Socket socket, Server& server, Worker& worker)
    : socket_{std::move(socket)}, server_{server}, worker_{worker}, deadline_{worker.context} {}

void Connection::start() { read_request(); }

void Connection::read_request() {
  deadline_.expires_after(kHandshakeTimeout);
  deadline_.async_wait([weak = weak_from_this()](const beast::error_code& error) {
    if (error) return;
    beast::error_code ignored;
    if (const auto self = weak.lock()) self->socket_.close(ignored);
  });
  parser_.emplace();
  http::async_read_header(socket_, buffer_, *parser_,
                          [self = shared_from_this()](beast::error_code error, std::size_t) {
                            if (!error) return self->requested();
                            self->deadline_.cancel();
                          });
}

void Connection::requested() {
  const Request& request = parser_->get();
  const std::string target{request.target()};
  const std::string path = target.substr(0, target.find('?'));
  if (beast::websocket::is_upgrade(request) && buffer_.size() == 0) {
    const bool opened = server_.options().deflate ? open_session<true>(path) : open_session<false>(path);
    if (opened) return;
  }
  if (request.method() == http::verb::get && path == "/stats")
    return answer(http::status::ok, "application/json", server_.stats());
  answer(http::status::not_found, "text/plain", "not found\n");
}

template <bool Deflate>
bool Connection::open_session(const std::string& path) {
  std::shared_ptr<Session<Deflate>> session;
  if (path == "/echo") {
    session = std::make_shared<Echo<Deflate>>(std::move(socket_), worker_);
  } else if (path == "/broadcast") {
    session = std::make_shared<BroadcastMember<Deflate>>(std::move(socket_), worker_, server_.broadcaster(),
                                                         server_.workers());
  } else if (path == "/publish") {
    auto publisher = std::make_shared<Publisher<Deflate>>(std::move(socket_), worker_, server_.topics());
    publisher->join();
    session = std::move(publisher);
  }
  if (session == nullptr) return false;
  deadline_.cancel();
  session->open(parser_->get());
  return true;
}

void Connection::answer(http::status status, const char* type, std::string body) {
  response_ = {status, parser_->get().version()};
  response_.set(http::field::content_type, type);
  response_.keep_alive(parser_->get().keep_alive() && parser_->is_done());
  response_.body() = std::move(body);
  response_.prepare_payload();
  http::async_write(socket_, response_, [self = shared_from_this()](beast::error_code error, std::size_t) {
    if (!error) return self->answered();
    self->deadline_.cancel();
  });
}

void Connection::answered() {
  if (response_.keep_alive()) return read_request();
  deadline_.cancel();
  beast::error_code ignored;
  socket_.shutdown(Tcp::socket::shutdown_send, ignored);
}

}  // namespace target
