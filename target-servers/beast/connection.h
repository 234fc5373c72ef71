// A connection that has not been upgraded yet: plain HTTP until a request opens a session or closes it.
//
// Why apart: what HTTP needs (a parser, a head's buffer, a deadline) is freed when the WebSocket begins.
// Owner: the worker whose loop it lives in; kept alive by its operation under way.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <memory>
#include <optional>
#include <string>

#include "target-servers/beast/server.h"
#include "target-servers/beast/session.h"

namespace target {

/// Stream: Socket, or SecureSocket under --tls.
template <class Stream>
class Connection : public std::enable_shared_from_this<Connection<Stream>> {
 public:
  Connection(Stream stream, Server& server, Worker& worker);
  void start();

 private:
  void set_deadline();
  void read_request();
  void requested();
  void answer(beast::http::status status, const char* type, std::string body);
  void answered();
  template <bool Deflate>
  bool open_session(const std::string& path);

  Stream stream_;
  Server& server_;
  Worker& worker_;
  net::steady_timer deadline_;
  beast::flat_buffer buffer_;
  std::optional<beast::http::request_parser<beast::http::empty_body>> parser_;
  beast::http::response<beast::http::string_body> response_;
};

}  // namespace target
