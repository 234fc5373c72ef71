// One open WebSocket connection, whatever its path: the handshake, the read loop, one write at a time.
//
// Why: what the paths share. A path says what to do with a message that has come (received) and what when its
// own has gone out (written). Owner: the worker whose loop it lives in; kept alive by its operation under
// way. Always: joined to what its path joins, and counted as a connection, before the 101 is written.
#pragma once

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "target-servers/beast/worker.h"

namespace target {

namespace beast = boost::beast;
using SecureSocket = beast::ssl_stream<Socket>;
using Request = beast::http::request<beast::http::empty_body>;

inline constexpr std::chrono::seconds kHandshakeTimeout{30};

/// Deflate is a type's matter in Beast: a stream that can compress is larger even when it does not. So is
/// TLS.
template <class Stream, bool Deflate>
class Session : public std::enable_shared_from_this<Session<Stream, Deflate>> {
 public:
  Session(Stream stream, Worker& worker) : stream_{std::move(stream)}, worker_{worker} {
    add(worker_.counters.connections, 1);
  }
  virtual ~Session() { add(worker_.counters.connections, -1); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void open(const Request& request) {
    // No idle time-out and no pings; the time-out is that of the opening and closing handshakes alone.
    namespace websocket = beast::websocket;
    stream_.set_option(
        websocket::stream_base::timeout{kHandshakeTimeout, websocket::stream_base::none(), false});
    if constexpr (Deflate) {
      websocket::permessage_deflate deflate;
      deflate.server_enable = true;
      stream_.set_option(deflate);
    }
    stream_.auto_fragment(false);
    stream_.read_message_max(kMaxMessageBytes);
    stream_.async_accept(request, [self = this->shared_from_this()](beast::error_code error) {
      if (error) return;
      self->opened();
      self->read();
    });
  }

 protected:
  virtual void opened() {}
  virtual void
  received() = 0;  ///< a whole message is in `buffer`; the path calls next() when it is done with it
  virtual void written() = 0;

  [[nodiscard]] Worker& worker() { return worker_; }
  [[nodiscard]] const beast::flat_buffer& buffer() const { return buffer_; }
  [[nodiscard]] bool got_text() const { return stream_.got_text(); }
  [[nodiscard]] std::string_view message() const {
    const auto data = buffer_.data();
    return {static_cast<const char*>(data.data()), data.size()};
  }

  void next() {
    buffer_.consume(buffer_.size());
    if (buffer_.capacity() > kKeptBytes) buffer_.shrink_to_fit();
    read();
  }

  /// Only one at a time. It counts from now, so that whoever has received it finds it in GET /stats.
  template <class Buffers>
  void write(bool text, const Buffers& buffers) {
    stream_.text(text);
    add(worker_.counters.messages_out, 1);
    stream_.async_write(buffers, [self = this->shared_from_this()](beast::error_code error, std::size_t) {
      if (!error) return self->written();
      add(self->worker_.counters.messages_out, -1);
      self->end();
    });
  }

 private:
  // An idle connection waits in a read, so the first piece of a message is kept small: flat_buffer's least.
  static constexpr std::size_t kFirstPieceBytes = 512;
  static constexpr std::size_t kKeptBytes = 4096;

  void read() {
    const std::size_t limit = buffer_.size() == 0 ? kFirstPieceBytes : kMaxMessageBytes;
    stream_.async_read_some(buffer_, limit,
                            [self = this->shared_from_this()](beast::error_code error, std::size_t) {
                              if (error) return self->end();
                              if (!self->stream_.is_message_done()) return self->read();
                              add(self->worker_.counters.messages_in, 1);
                              self->received();
                            });
  }

  /// Lets go of what is still under way; the last of it destroys the session.
  void end() {
    beast::error_code ignored;
    beast::get_lowest_layer(stream_).close(ignored);
  }

  beast::websocket::stream<Stream, Deflate> stream_;
  Worker& worker_;
  beast::flat_buffer buffer_;
};

}  // namespace target
