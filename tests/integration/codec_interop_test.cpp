// Our codec and handshake against Boost.Beast's, an independent peer, over a socket pair.
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/integration/codec_client.h"

namespace onrush {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using Socket = asio::local::stream_protocol::socket;
using Peer = websocket::stream<Socket>;

Url url() {
  Url url;
  url.host = "a.test";
  url.host_header = "a.test";
  url.path = "/echo?q=1";
  return url;
}

// Beast's end runs in a thread of its own until its story is told. What is thrown there, an assertion of
// Beast's peer or of the test, fails the test when it is joined.
class CodecInterop : public testing::Test {
 protected:
  void serve(const std::function<void(Socket)>& story) {
    Socket ours{context_}, theirs{context_};
    asio::local::connect_pair(ours, theirs);
    client_.emplace(ours.release());
    thread_ = std::thread{[story, socket = std::move(theirs)]() mutable {
      try {
        story(std::move(socket));
      } catch (const std::exception& error) {
        ADD_FAILURE() << "Beast: " << error.what();
      }
    }};
  }

  void serve_websocket(const std::function<void(Peer&)>& story) {
    serve([story](Socket socket) {
      Peer peer{std::move(socket)};
      peer.read_message_max(16 << 20);
      peer.accept();
      story(peer);
    });
    ASSERT_EQ(client_->upgrade(url()).failure.cause, Cause::none);
  }

  // Beast answers pings and closes while it reads; the story's last act.
  static void echo_until_closed(Peer& peer) {
    while (true) {
      beast::flat_buffer buffer;
      beast::error_code error;
      peer.read(buffer, error);
      if (error == websocket::error::closed) return;
      if (error) throw beast::system_error{error};
      peer.text(peer.got_text());
      peer.write(buffer.data());
    }
  }

  void close_and_join() {
    client_->send_close(1000, "");
    EXPECT_EQ(client_->receive_message(), (Event{Opcode::close, "\x03\xE8"}));
    join();
  }

  // The server ends TCP first and waits until we do (RFC 6455 section 7.1.1).
  void join() {
    client_.reset();
    if (thread_.joinable()) thread_.join();
  }

  void TearDown() override { join(); }

  asio::io_context context_;
  std::optional<CodecClient> client_;
  std::thread thread_;
};

std::string text_of(std::size_t size) {
  std::string text;
  while (text.size() + 3 <= size) text += text.size() % 5 == 0 ? "\xE2\x82\xAC" : "abc";
  return text.append(size - text.size(), 'x');
}

TEST_F(CodecInterop, BeastEchoesMessagesOfEverySize) {
  serve_websocket(echo_until_closed);
  for (const std::size_t size : {0u, 1u, 125u, 126u, 127u, 65535u, 65536u, 1u << 20}) {
    for (const Opcode opcode : {Opcode::text, Opcode::binary}) {
      std::string payload = text_of(size);
      if (opcode == Opcode::binary && size > 0) payload[size / 2] = '\xFF';
      client_->send(opcode, payload);
      ASSERT_EQ(client_->receive_message(), (Event{opcode, payload})) << size;
    }
  }
  close_and_join();
}

TEST_F(CodecInterop, WhatBeastFragmentsArrivesWhole) {
  const std::string text = text_of(5000);
  serve_websocket([&](Peer& peer) {
    peer.auto_fragment(true);
    peer.write_buffer_bytes(8);  // fragments end inside characters
    peer.text(true);
    peer.write(asio::buffer(text));
    peer.binary(true);
    peer.write_some(false, asio::buffer("he", 2));
    peer.ping("between");
    peer.write_some(false, asio::buffer("", 0));
    peer.pong("unasked");
    peer.write_some(true, asio::buffer("llo", 3));
    echo_until_closed(peer);
  });
  EXPECT_EQ(client_->receive(), (Event{Opcode::text, text}));
  EXPECT_EQ(client_->receive(), (Event{Opcode::ping, "between"}));
  EXPECT_EQ(client_->receive(), (Event{Opcode::pong, "unasked"}));
  EXPECT_EQ(client_->receive(), (Event{Opcode::binary, "hello"}));
  close_and_join();
}

TEST_F(CodecInterop, PingsAreAnsweredBothWays) {
  std::vector<std::string> pongs;
  serve_websocket([&](Peer& peer) {
    peer.control_callback([&](websocket::frame_type type, beast::string_view payload) {
      if (type == websocket::frame_type::pong) pongs.emplace_back(payload);
    });
    peer.ping("are you there");
    peer.ping("");
    echo_until_closed(peer);
  });
  client_->send(Opcode::ping, std::string(125, 'p'));
  for (int pongs_seen = 0; pongs_seen < 1;) {
    const Event event = client_->receive();
    if (event.opcode == Opcode::ping) client_->send(Opcode::pong, event.payload);
    if (event.opcode != Opcode::pong) continue;
    EXPECT_EQ(event.payload, std::string(125, 'p'));
    ++pongs_seen;
  }
  close_and_join();
  EXPECT_EQ(pongs, (std::vector<std::string>{"are you there", ""}));
}

TEST_F(CodecInterop, BeastReadsOurCloseCodeAndReason) {
  websocket::close_reason seen;
  serve_websocket([&](Peer& peer) {
    echo_until_closed(peer);
    seen = peer.reason();
  });
  client_->send_close(4000, "b\xC3\xBF!");
  EXPECT_EQ(client_->receive_message().opcode, Opcode::close);
  join();
  EXPECT_EQ(seen.code, 4000);
  EXPECT_EQ(std::string{seen.reason.c_str()}, "b\xC3\xBF!");
}

TEST_F(CodecInterop, WeReadBeastsCloseCodeAndReason) {
  websocket::close_reason answered;
  serve_websocket([&](Peer& peer) {
    peer.close({websocket::close_code::going_away, "restart"});
    answered = peer.reason();
  });
  const Event close = client_->receive_message();
  ASSERT_EQ(close.opcode, Opcode::close);
  const ClosePayload payload = parse_close(as_bytes(close.payload));
  EXPECT_EQ(payload.error.cause, Cause::none);
  EXPECT_EQ(payload.code, 1001);
  EXPECT_EQ(payload.reason, "restart");
  client_->send_close(1001, "");
  join();
  EXPECT_EQ(answered.code, 1001);
}

TEST_F(CodecInterop, AMessageRightBehindThe101IsNotLost) {
  serve_websocket([](Peer& peer) {
    peer.write(asio::buffer("first", 5));
    echo_until_closed(peer);
  });
  EXPECT_EQ(client_->receive_message(), (Event{Opcode::text, "first"}));
  close_and_join();
}

TEST_F(CodecInterop, BeastReadsOurRequestAsItWasMeant) {
  http::request<http::empty_body> request;
  serve([&](Socket socket) {
    beast::flat_buffer buffer;
    http::read(socket, buffer, request);
    http::response<http::empty_body> response{http::status::service_unavailable, 11};
    response.prepare_payload();
    http::write(socket, response);
  });
  const HandshakeVerdict verdict = client_->upgrade(url());
  EXPECT_EQ(verdict.failure, (Failure{Phase::upgrade, Cause::refused_status, 503}));
  join();
  EXPECT_TRUE(websocket::is_upgrade(request));
  EXPECT_EQ(request.target(), "/echo?q=1");
  EXPECT_EQ(request[http::field::host], "a.test");
}

TEST_F(CodecInterop, ASubprotocolThatBeastChoosesUnaskedIsRefused) {
  serve([](Socket socket) {
    Peer peer{std::move(socket)};
    peer.set_option(websocket::stream_base::decorator{[](websocket::response_type& response) {
      response.set(http::field::sec_websocket_protocol, "chat");
    }});
    peer.accept();
  });
  const HandshakeVerdict verdict = client_->upgrade(url());
  EXPECT_EQ(verdict.failure.cause, Cause::unasked_protocol);
  EXPECT_EQ(verdict.sample, "Sec-WebSocket-Protocol: chat");
}

}  // namespace
}  // namespace onrush
