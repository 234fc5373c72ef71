// One client at the other end of a socket, spoken to in raw bytes, by the thread that serves it.
//
// Why: a fault is told straight through (send this, wait, send that) only where calls may block. And no
// WebSocket library would send what these scripts send. Owner: the connection's thread. Always: once the
// client is gone every call returns at once and does nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "target-servers/faulty/stats.h"

namespace target {

struct Request {
  std::string method;
  std::string path;  ///< without the query
  std::string key;   ///< Sec-WebSocket-Key, "" if there was none
};

struct Frame {
  bool final;
  std::uint8_t opcode;
  std::string payload;  ///< unmasked
};

class Peer {
 public:
  Peer(int descriptor, Stats& stats);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  /// The next request head, or nothing if none that can be read comes.
  std::optional<Request> read_request();
  [[nodiscard]] const Request& request() const { return request_; }

  /// Sends all of it. Takes in what comes meanwhile, so that a client which answers each frame cannot block
  /// both.
  void send(std::string_view bytes);
  /// From now on everything goes out a byte at a time, with this much between.
  void set_gap(std::chrono::milliseconds gap) { gap_ = gap; }
  /// An unmasked frame; a final data frame counts as a message.
  void send_frame(bool final, std::uint8_t opcode, std::string_view payload);

  /// The next data frame. Answers pings and the close frame, which it counts; nothing after that or the end.
  std::optional<Frame> next_frame();
  /// Has the client said anything that was not taken yet?
  [[nodiscard]] bool has_spoken();
  [[nodiscard]] bool gone() const { return gone_; }

  void opened();        ///< the 101 is out: how the client ends this connection counts from here
  void close_sent();    ///< a close frame is out, so the client's is not answered with another
  void message_sent();  ///< the raw bytes just sent were a whole, valid message

  void pause(std::chrono::milliseconds time);  ///< less if the client leaves
  void wait_until_gone();                      ///< without reading
  void reset();                                ///< RST
  void end();  ///< FIN, then takes what still comes until the client's own end

 private:
  void receive();  // waits for more bytes
  void wait(short events, int timeout_ms);
  bool need(std::size_t bytes);
  void take(std::size_t bytes);
  [[nodiscard]] std::size_t waiting() const { return in_.size() - taken_; }
  std::optional<Frame> read_frame();
  void count_close(const Frame& frame);
  void ended(int code);
  template <class Change>
  void count(Change change) {
    stats_.update(request_.path, change);
  }

  int descriptor_;
  Stats& stats_;
  Request request_;
  std::string in_;
  std::size_t taken_ = 0;  // of in_
  std::chrono::milliseconds gap_{0};
  bool gone_ = false;
  bool open_ = false;  // opened, and how it ended not yet counted
  bool close_sent_ = false;
};

}  // namespace target
