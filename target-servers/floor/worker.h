// One process's loop: accepts on the shared port, answers, fans out; nothing in it blocks.
//
// Why: the least that a correct server can do for a connection, so that what is measured is the generator.
// An event costs one epoll_wait (shared), one recv and one send; a socket is registered once, by edge. Owner:
// its process. Always: a connection that does not take its bytes is not read from until it has; a broadcast
// member that lags is given what it missed from the log, so it never owns more than one unsent frame.
//
// worker.cpp: loop, accept, read and write · worker_paths.cpp: requests and messages · worker_ends.cpp:
// leaving and closing, broadcasts
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "target-servers/floor/connection.h"
#include "target-servers/floor/fan_out.h"
#include "target-servers/floor/http.h"
#include "target-servers/floor/shared.h"

namespace target {

class Worker {
 public:
  /// `signals`: a signalfd; what comes there ends the loop. Throws std::system_error.
  Worker(Shared& shared, unsigned index, int listener, int signals);

  /// Serves until a signal comes.
  void run();

 private:
  // worker.cpp
  [[nodiscard]] int wait_ms() const noexcept;
  void watch(int descriptor, std::uint32_t events, bool again = false);
  void accept_waiting();
  void pause_accepting();
  void ready(int descriptor, std::uint32_t events);
  void readable(int descriptor, bool to_the_end);
  void read_again();
  /// Sends `bytes`, or keeps what the socket does not take. False if the connection is gone.
  bool send(int descriptor, std::string_view bytes);
  bool send_unsent(int descriptor);
  /// All has been sent: does what was to follow. False if the connection is gone.
  bool sent_all(int descriptor);
  [[nodiscard]] bool has_unsent(int descriptor) {
    const std::uint32_t borrowed = connections_[static_cast<std::size_t>(descriptor)].borrowed;
    return borrowed != 0 && buffers_[borrowed].has_unsent();
  }
  [[nodiscard]] Connection& at(int descriptor) { return connections_[static_cast<std::size_t>(descriptor)]; }
  [[nodiscard]] Borrowed& borrowed(int descriptor);
  void return_if_at_rest(int descriptor);

  // worker_paths.cpp
  void received(int descriptor, std::span<char> bytes);
  [[nodiscard]] std::span<char> head_received(int descriptor, std::span<char> bytes);
  void requested(int descriptor, std::string_view head);
  void opened(int descriptor, Path path, std::string_view key);
  void frames_received(int descriptor, std::span<char> bytes);
  void message_received(int descriptor, bool text, std::string_view message);
  void deliver_publications();

  // worker_ends.cpp
  void end_websocket(int descriptor, After after);
  void leave_path(int descriptor);
  void drop(int descriptor);
  void publish_broadcast(std::size_t bytes);
  void fan_out();
  void give(int descriptor);
  void catch_up(int descriptor);

  struct Publication {
    int descriptor;
    std::uint32_t topic;
    std::string text;
  };

  static constexpr std::size_t kReceiveBytes = 64 * 1024;

  Shared& shared_;
  Counters& counters_;
  const unsigned index_;
  const int listener_;
  const int signals_;
  const int epoll_;
  std::vector<Connection> connections_;  // by descriptor
  Buffers buffers_;
  FanOut fan_out_;
  Acceptor acceptor_;
  Incoming fresh_;   // whose frame under way is nobody's: most frames come whole
  std::string out_;  // what one chunk of input is answered with
  std::vector<Publication> publications_;
  std::uint32_t last_topic_ = 0;
  std::vector<int> unread_;  // their read budget was used up
  std::vector<int> reading_;
  BroadcastFrame missed_;
  std::int64_t accept_again_ms_ = 0;  // 0: it accepts
  bool stopped_ = false;
  std::array<char, kReceiveBytes> receive_;
  std::array<epoll_event, 512> events_;
};

}  // namespace target
