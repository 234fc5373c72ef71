// A network and its target in virtual time, replayed from a seed.
//
// Why: faults that real networks show once a week happen here on demand, and an hour passes in seconds. The
// target is written without our frame decoder, so that it does not share its mistakes. On /echo it agrees to
// permessage-deflate, and sends compressed messages back as they are: their contexts go on as ours do. Owner:
// the test, one thread. Always: nothing happens without the clock being moved to it; the same seed gives the
// same run.
#pragma once

#include <cerrno>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/network.h"
#include "core/random.h"
#include "tests/simulation/secure_end.h"

namespace onrush::simulation {

/// How likely each misfortune is for a connection, 0 to 1.
struct Faults {
  double refuse = 0;           ///< ECONNREFUSED
  double connect_to_self = 0;  ///< of the refused ones, those that reach their own port instead
  double silent = 0;           ///< accepts and never answers the upgrade
  double status_503 = 0;
  double reset_mid_frame = 0;  ///< RST in the middle of one of its replies
  double one_byte_reads = 0;   ///< every read of the client gives one byte
  double short_writes = 0;     ///< writes of the client take a byte or some, or none for a while
  double close_1011 = 0;       ///< closes instead of one of its replies
  double mute_on_close = 0;    ///< never answers a close frame
  double no_descriptor = 0;    ///< EMFILE: our own limit
  double port_taken = 0;       ///< EADDRINUSE: our own limit, if it comes often enough in a row
  double no_buffer = 0;        ///< ENOBUFS on a write after the handshake: our own limit
};

/// A bit of everything that a network and its target do wrong.
inline constexpr Faults kEveryFault{.refuse = 0.05,
                                    .silent = 0.03,
                                    .status_503 = 0.05,
                                    .reset_mid_frame = 0.1,
                                    .one_byte_reads = 0.2,
                                    .short_writes = 0.2,
                                    .close_1011 = 0.1,
                                    .mute_on_close = 0.1};

class World;

/// One connection, seen from both ends.
struct Connection {
  static constexpr std::size_t kUnlimited = ~std::size_t{0};
  int descriptor = 0;
  class SimulatedNetwork* network = nullptr;
  SocketToken token;
  bool established = false;
  bool gone = false;              ///< the client has closed it
  int error = 0;                  ///< the client's next read, write or finish_connect gives it
  std::string to_client;          ///< arrived, not read
  bool ended = false;             ///< the target's FIN has arrived
  std::size_t room = kUnlimited;  ///< bytes that the target's kernel still takes
  bool wants_room = false;        ///< the client was told EAGAIN, or that less was taken
  // The target's end.
  std::string path;
  std::int64_t heard_ns = 0;  ///< when it last said something
  std::string from_client;    ///< arrived, not taken apart
  bool upgraded = false;
  bool deflates = false;  ///< permessage-deflate was agreed on
  bool refuse = false, silent = false, refuse_upgrade = false, one_byte = false, short_writes = false,
       mute = false, no_buffer = false, to_self = false;
  int replies_to_reset = -1;  ///< how many replies come before the fault; -1 = never
  int replies_to_close = -1;
  std::unique_ptr<SecureEnd> secure;  ///< none: plain
};

class SimulatedNetwork final : public Network {
 public:
  /// How far its host's clocks are ahead of the world's: wall clock and monotonic clock, each on its own.
  SimulatedNetwork(World& world, std::int64_t wall_skew_us, std::int64_t clock_skew_ns = 0)
      : world_{world}, wall_skew_us_{wall_skew_us}, clock_skew_ns_{clock_skew_ns} {}

  [[nodiscard]] std::int64_t now_ns() noexcept override;
  [[nodiscard]] std::int64_t wall_us() noexcept override;
  [[nodiscard]] std::int64_t thread_cpu_ns() noexcept override { return 0; }
  [[nodiscard]] CoreWait thread_wait() noexcept override { return {}; }
  [[nodiscard]] std::span<const NetworkEvent> wait(std::int64_t until_ns) noexcept override;
  void wake() noexcept override { woken_ = true; }
  [[nodiscard]] Begun connect(const Endpoint& local, const Endpoint& remote, SocketToken token,
                              std::span<const std::uint8_t> first) noexcept override;
  [[nodiscard]] int finish_connect(int descriptor) noexcept override;
  [[nodiscard]] std::ptrdiff_t read(int descriptor, std::span<std::uint8_t> into) noexcept override;
  [[nodiscard]] std::ptrdiff_t write(int descriptor, std::span<const std::uint8_t> bytes) noexcept override;
  void await_room(int, SocketToken) noexcept override {}
  void close(int descriptor, bool reset) noexcept override;

  /// Something waits for its worker, or its wait is over at `now`.
  [[nodiscard]] bool is_due(std::int64_t now) const noexcept {
    return busy_ || woken_ || !pending_.empty() || until_ns_ <= now;
  }
  [[nodiscard]] std::int64_t until_ns() const noexcept { return until_ns_; }
  void tell(const Connection& connection, bool readable, bool writable);
  /// When each attempt began.
  [[nodiscard]] const std::vector<std::int64_t>& connects_ns() const noexcept { return connects_ns_; }

 private:
  World& world_;
  std::int64_t wall_skew_us_;
  std::int64_t clock_skew_ns_;
  std::int64_t until_ns_ = 0;  ///< of the world's clock
  bool woken_ = false;
  bool busy_ =
      true;  ///< the turn since the last wait had something to do, so it may want to be woken earlier
  std::map<int, NetworkEvent> pending_;  ///< by descriptor
  std::vector<NetworkEvent> events_;
  std::vector<std::int64_t> connects_ns_;
};

class World {
 public:
  static constexpr std::int64_t kWall0_us = 1'700'000'000'000'000;

  explicit World(std::uint64_t seed, Faults faults = {}) : random_{seed}, faults_{faults} {}

  [[nodiscard]] std::int64_t now_ns() const noexcept { return now_ns_; }
  /// Our own machine refuses a connection: errno, or 0. Draws no chance where there is none, so that old
  /// seeds give the runs that they gave.
  [[nodiscard]] int own_limit() {
    if (faults_.no_descriptor > 0 && happens(faults_.no_descriptor)) return EMFILE;
    if (faults_.port_taken > 0 && happens(faults_.port_taken)) return EADDRINUSE;
    return 0;
  }
  /// When the next thing happens in the network; a large value if nothing will.
  [[nodiscard]] std::int64_t next_ns() const noexcept;
  /// Moves the clock and lets happen what is due.
  void move_to(std::int64_t at_ns);
  void at(std::int64_t at_ns, std::function<void()> what) { agenda_.emplace(at_ns, std::move(what)); }

  /// From now on the target speaks TLS.
  void speak_tls() { tls_.emplace(); }

  /// The target does nothing in [from, until), then everything that has come meanwhile.
  void freeze(std::int64_t from_ns, std::int64_t until_ns) {
    frozen_from_ns_ = from_ns, frozen_until_ns_ = until_ns;
  }

  /// In that time the target does not read either: after `room` bytes of each connection, its kernel takes no
  /// more.
  void stop_reading(std::int64_t from_ns, std::int64_t until_ns, std::size_t room);
  enum class End { reset, fin, close_frame };
  /// The target ends all its connections at the same instant.
  void end_all(End how);
  /// It cuts every connection that has said nothing for so long, without a close frame, as balancers do.
  void cut_idle_after(std::int64_t ns) noexcept { idle_cut_ns_ = ns; }
  /// It answers the next so many upgrade requests with 429.
  void refuse_upgrades(std::uint32_t count) noexcept { refusals_ = count; }
  /// It closes every connection right after its upgrade, with this payload.
  void close_at_once(std::string payload) { closing_ = std::move(payload); }
  /// Each attempt takes our own machine so long.
  void connect_takes(std::int64_t ns) noexcept { connect_takes_ns_ = ns; }
  [[nodiscard]] std::int64_t connect_takes_ns() const noexcept { return connect_takes_ns_; }
  /// It sends so many messages of so many bytes to everyone on the path, as fast as it can.
  void flood(const std::string& path, std::uint32_t messages, std::size_t bytes);
  /// It sends these bytes to everyone on the path.
  void say(const std::string& path, const std::string& bytes);

  /// What the target answers to a text on the path /graphql, message by message; `subprotocol` stands in its
  /// 101 unless it is empty. A text that begins with "close " is sent as a close frame of that code instead.
  void speak(std::string subprotocol,
             std::function<std::vector<std::string>(const std::string& text)> answers) {
    subprotocol_ = std::move(subprotocol), answers_ = std::move(answers);
  }

  [[nodiscard]] std::size_t open_sockets() const noexcept { return open_sockets_; }
  /// What the target counted, data messages.
  [[nodiscard]] std::uint64_t messages_in() const noexcept { return messages_in_; }
  [[nodiscard]] std::uint64_t messages_out() const noexcept { return messages_out_; }
  /// Pings that came.
  [[nodiscard]] std::uint64_t pings() const noexcept { return pings_; }
  [[nodiscard]] std::uint64_t handshakes() const noexcept { return handshakes_; }
  /// Is told every data message that the target receives.
  void listen(std::function<void(const std::string&)> hears) { hears_ = std::move(hears); }

  // The network's side.
  Connection& add(SimulatedNetwork& network, SocketToken token);
  Connection& connection(int descriptor);
  void close(Connection& connection);
  /// Its process is dead, and the kernel closes what it had.
  void close_all_of(const SimulatedNetwork& network);
  void carry(Connection& connection, std::string bytes);
  Random& random() noexcept { return random_; }
  [[nodiscard]] std::size_t room() const noexcept { return room_; }

 private:
  [[nodiscard]] bool happens(double chance) { return random_.unit() < chance; }
  [[nodiscard]] std::int64_t delay_ns() { return random_.between(20'000, 80'000); }
  void decide_fate(Connection& connection);
  void arrived(Connection& connection, const std::string& bytes);
  void take_apart(Connection& connection);
  void answer_upgrade(Connection& connection, std::size_t head_bytes);
  void message(Connection& connection, std::uint8_t first_byte, const std::string& payload);
  void say(Connection& connection, const std::string& text);
  void reply(Connection& connection, const std::string& frame);
  void broadcast();
  void lie(Connection& connection);
  void send(Connection& connection, const std::string& bytes, bool then_end = false);
  void send_wire(Connection& connection, const std::string& bytes, bool then_end);
  void reset(Connection& connection);

  std::int64_t now_ns_ = 1'000'000'000;
  std::int64_t frozen_from_ns_ = 0;
  std::int64_t frozen_until_ns_ = 0;
  std::int64_t connect_takes_ns_ = 0;
  std::size_t room_ = Connection::kUnlimited;  ///< of a new connection
  Random random_;
  Faults faults_;
  std::optional<SecureContext> tls_;
  std::multimap<std::int64_t, std::function<void()>> agenda_;
  std::map<int, std::unique_ptr<Connection>> connections_;
  std::map<int, std::int64_t>
      last_arrival_ns_;  ///< keeps the bytes of a connection in order; key: +fd out, -fd in
  int next_descriptor_ = 3;
  std::string subprotocol_;
  std::function<std::vector<std::string>(const std::string&)> answers_;
  std::size_t open_sockets_ = 0;
  std::uint32_t refusals_ = 0;
  std::int64_t idle_cut_ns_ = 0;
  std::uint64_t pings_ = 0;
  std::string closing_;
  std::uint64_t sequence_ = 0;
  std::uint64_t messages_in_ = 0;
  std::uint64_t messages_out_ = 0;
  std::uint64_t handshakes_ = 0;
  std::function<void(const std::string&)> hears_;
};

}  // namespace onrush::simulation
