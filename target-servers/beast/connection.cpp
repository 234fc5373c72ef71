#include "target-servers/beast/connection.h"

#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <type_traits>
#include <utility>

#include "target-servers/beast/paths.h"

namespace target {

namespace http = beast::http;

template <class Stream>
Connection<Stream>::Connection(Stream stream, Server& server, Worker& worker)
    : stream_{std::move(stream)}, server_{server}, worker_{worker}, deadline_{worker.context} {}

template <class Stream>
void Connection<Stream>::start() {
  if constexpr (std::is_same_v<Stream, SecureSocket>) {
    set_deadline();
    stream_.async_handshake(net::ssl::stream_base::server,
                            [self = this->shared_from_this()](beast::error_code error) {
                              if (!error) return self->read_request();
                              self->deadline_.cancel();
                            });
  } else {
    read_request();
  }
}

template <class Stream>
void Connection<Stream>::set_deadline() {
  deadline_.expires_after(kHandshakeTimeout);
  deadline_.async_wait([weak = this->weak_from_this()](const beast::error_code& error) {
    if (error) return;
    beast::error_code ignored;
    if (const auto self = weak.lock()) beast::get_lowest_layer(self->stream_).close(ignored);
  });
}

template <class Stream>
void Connection<Stream>::read_request() {
  set_deadline();
  parser_.emplace();
  http::async_read_header(stream_, buffer_, *parser_,
                          [self = this->shared_from_this()](beast::error_code error, std::size_t) {
                            if (!error) return self->requested();
                            self->deadline_.cancel();
                          });
}

template <class Stream>
void Connection<Stream>::requested() {
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

template <class Stream>
template <bool Deflate>
bool Connection<Stream>::open_session(const std::string& path) {
  std::shared_ptr<Session<Stream, Deflate>> session;
  if (path == "/echo") {
    session = std::make_shared<Echo<Stream, Deflate>>(std::move(stream_), worker_);
  } else if (path == "/broadcast") {
    session = std::make_shared<BroadcastMember<Stream, Deflate>>(std::move(stream_), worker_,
                                                                 server_.broadcaster(), server_.workers());
  } else if (path == "/publish") {
    auto publisher =
        std::make_shared<Publisher<Stream, Deflate>>(std::move(stream_), worker_, server_.topics());
    publisher->join();
    session = std::move(publisher);
  }
  if (session == nullptr) return false;
  deadline_.cancel();
  session->open(parser_->get());
  return true;
}

template <class Stream>
void Connection<Stream>::answer(http::status status, const char* type, std::string body) {
  response_ = {status, parser_->get().version()};
  response_.set(http::field::content_type, type);
  response_.keep_alive(parser_->get().keep_alive() && parser_->is_done());
  response_.body() = std::move(body);
  response_.prepare_payload();
  http::async_write(stream_, response_,
                    [self = this->shared_from_this()](beast::error_code error, std::size_t) {
                      if (!error) return self->answered();
                      self->deadline_.cancel();
                    });
}

template <class Stream>
void Connection<Stream>::answered() {
  if (response_.keep_alive()) return read_request();
  deadline_.cancel();
  beast::error_code ignored;
  beast::get_lowest_layer(stream_).shutdown(Tcp::socket::shutdown_send, ignored);
}

template class Connection<Socket>;
template class Connection<SecureSocket>;

}  // namespace target
