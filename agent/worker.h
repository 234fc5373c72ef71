// The machine that runs sessions: one loop, one thread, nothing shared.
//
// Why: a user is data and a scenario is a program; what is left is this loop, which takes each as far as it
// can go and waits for the next thing to happen. Its functions are named after what has happened or is due.
// Owner: its thread calls turn(); the mailbox functions may be called from any thread.
// Always: attempted = opened + failed + opening, opened = closed + open + closing; every opened connection is
// timed once when it ends; after done() no slot, buffer, timer or port is held.
//
// Every event counts in the stage under way when it happens: a connection may be attempted in one stage, open
// in the next and close in a third, and the identities above hold for each with what was open before it.
// Arrivals count in the stage in which they are due, because a stage is left only when all of them were
// started or dropped.
//
// worker.cpp: turn, dispatch, hand-over
// worker_stages.cpp: what the timeline wants
// worker_connect.cpp: attempts
// worker_tls.cpp: TLS
// worker_receive.cpp: bytes, frames, messages
// worker_listen.cpp: broadcasts
// worker_script.cpp: steps
// worker_steps.cpp: expectations, pings, log lines
// worker_graphql.cpp, worker_graphql_steps.cpp: GraphQL
// worker_feeds.cpp: rows of data
// worker_send.cpp: frames out
// worker_deflate.cpp: compressed messages
// worker_ping.cpp: keep-alive pings
// worker_close.cpp: ends
// worker_return.cpp: who was cut off comes back
// worker_trace.cpp: what is followed
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "agent/broadcasts.h"
#include "agent/buffer_pool.h"
#include "agent/captures.h"
#include "agent/compression.h"
#include "agent/destinations.h"
#include "agent/feed_rows.h"
#include "agent/graphql_users.h"
#include "agent/keep_alive.h"
#include "agent/network.h"
#include "agent/port_allocator.h"
#include "agent/program.h"
#include "agent/recorder.h"
#include "agent/stage_share.h"
#include "agent/tls_layer.h"
#include "core/handshake.h"
#include "core/random.h"
#include "core/timer_wheel.h"
#include "core/trace.h"

namespace onrush {

/// What an attempt is doing, as its failure calls it.
[[nodiscard]] constexpr Phase phase_of(State state) noexcept {
  if (state == State::connecting) return Phase::connect;
  if (state == State::securing) return Phase::tls;
  if (state == State::acknowledging) return Phase::ack;
  return state == State::tunnelling ? Phase::proxy : Phase::upgrade;
}

struct WorkerSettings {
  Share share{0, 1};                   ///< of all workers of all agents
  Share agent{0, 1};                   ///< the agent's own, of which this is one
  std::uint32_t capacity = 0;          ///< sessions at once
  std::uint32_t arrival_capacity = 0;  ///< of them, those of the open model at most
  std::uint32_t trace_users = 0;       ///< users of each scenario that are followed
  bool echoes = false;  ///< every message goes back as it came: what tests/conformance asks for
};

class Worker {
 public:
  /// Sessions closed a second at the end of a run, over all shares: faster floods the network with FINs and
  /// RSTs.
  static constexpr double kClosesPerSecond = 20'000;
  /// How long a peer may take to answer our close frame before the connection is reset.
  static constexpr std::int64_t kCloseWait_ns = 1'000'000'000;
  static constexpr std::uint32_t kMaxMessageBytes = 16 * 1024 * 1024;

  /// `ports`: an allocator for each endpoint of the program. `tls`: of a plan whose targets are wss.
  Worker(const Program& program, const WorkerSettings& settings, std::vector<PortAllocator> ports,
         Network& network, std::unique_ptr<TlsLayer> tls = nullptr);

  /// Waits for what comes next, at most until it is due, and does it.
  void turn();
  /// Every session has ended and the last portion was handed over.
  [[nodiscard]] bool done() const noexcept { return done_.load(std::memory_order_acquire); }

  // The mailbox; each wakes the worker.
  void start(std::int64_t at_ns);
  void end_stage(std::uint32_t stage, std::int64_t at_ns);
  void stop();
  void correct_wall_clock(std::int64_t offset_us) {
    wall_correction_us_.store(offset_us, std::memory_order_relaxed);
  }

  /// Stages that are known to have settled here: all less than this.
  [[nodiscard]] std::uint32_t settled() const noexcept { return settled_.load(std::memory_order_acquire); }
  [[nodiscard]] Recorder& recorder() noexcept { return recorder_; }
  /// Rises whenever a stage has settled and at the end: what cannot wait for the next snapshot.
  [[nodiscard]] std::uint32_t news() const noexcept { return settled() + (done() ? 1 : 0); }
  [[nodiscard]] std::uint32_t capacity() const noexcept { return slab_.capacity(); }

  /// What is held now, for tests of the invariants.
  struct Held {
    std::uint32_t sessions, timers, unsent, partial, contexts;
    std::size_t unsent_bytes;
    std::uint32_t tls;
  };
  [[nodiscard]] Held held() const noexcept;
  [[nodiscard]] Gauges gauges() const noexcept;

 private:
  static constexpr std::uint32_t kStartsPerTurn = 128;
  static constexpr std::uint32_t kDropsPerTurn = 32 * 1024;
  static constexpr std::uint32_t kClosesPerTurn = 256;
  static constexpr std::uint32_t kHandshakesPerTurn = 16;
  static constexpr std::uint32_t kTimersPerTurn = 1024;
  static constexpr std::uint32_t kPingsPerTurn = 256;
  /// The second finds the peer's end behind the last bytes; who still has more waits for its next turn.
  static constexpr std::uint32_t kReadsPerEvent = 2;
  /// How long a turn goes on with those, so that many floods do not hold up everybody else.
  static constexpr std::int64_t kReadOn_ns = 2'000'000;
  static constexpr std::uint32_t kStepsPerRun = 64;
  /// How long a refusal's body is waited for, and how often: one shows what all of them say.
  static constexpr std::int64_t kBodyWait_ns = 100'000'000;
  static constexpr std::int64_t kBodyPause_ns = 1'000'000'000;
  static constexpr std::size_t kReceiveBytes = 64 * 1024;
  /// What a peer may still send that is no longer looked at, before the connection is reset.
  static constexpr std::uint32_t kMostIgnoredBytes = 1024 * 1024;

  struct Letter {
    enum class Kind : std::uint8_t { start, end_stage, stop } kind;
    std::uint32_t stage;
    std::int64_t at_ns;
  };
  enum class Course : std::uint8_t { before, running, closing, over };

  // worker.cpp
  void handle(const NetworkEvent& event);
  void timer_due(Session& session);
  void read_on();
  void open_mail();
  void post(Letter letter);
  [[nodiscard]] std::int64_t next_wake_ns() const noexcept;
  void hand_over();
  void set_state(Session& session, State state) noexcept;
  /// The wall clock at a monotonic instant. Instants of one second are converted alike, so that a reply may
  /// be compared with what was sent.
  [[nodiscard]] std::int64_t wall_us(std::int64_t at_ns) noexcept;
  [[nodiscard]] std::int64_t measured_wall_offset_us() noexcept;
  [[nodiscard]] bool still(const Session& session, const SocketToken& token, int descriptor) noexcept {
    return slab_.find(token.slot, token.generation) == &session && session.fd == descriptor;
  }
  [[nodiscard]] SocketToken token_of(const Session& session) const noexcept {
    return {slab_.slot_of(session), session.generation};
  }
  [[nodiscard]] std::int64_t run_us(std::int64_t at_ns) const noexcept { return (at_ns - start_ns_) / 1000; }
  void count(const Session& session, Counter counter, std::uint64_t add = 1) noexcept {
    recorder_.count(session.scenario, counter, add);
  }

  // worker_stages.cpp
  void follow_timeline();
  void enter_stage(std::uint32_t stage, std::int64_t begin_ns);
  void leave_stage(std::int64_t end_ns);
  [[nodiscard]] bool start_due(std::int64_t limit_ns);
  [[nodiscard]] bool drop_due(std::int64_t limit_ns);
  [[nodiscard]] bool start_item(const DueItem& item);
  void end_user(std::uint32_t scenario, std::uint64_t user);
  void cut_user(std::uint32_t scenario, std::uint64_t user);
  void begin_closing(std::int64_t at_ns);
  void close_due();
  [[nodiscard]] std::int64_t next_close_ns() const noexcept;
  void note_settled() noexcept;
  void settle(Session& session) noexcept;
  [[nodiscard]] SlotIndex& user_slot(std::uint32_t scenario, std::uint64_t user) noexcept;

  // worker_connect.cpp
  [[nodiscard]] bool start_session(std::uint32_t scenario, std::uint64_t user, std::int64_t due_ns,
                                   bool arrival);
  void begin_session(Session& session, std::int64_t due_ns);
  void connect(Session& session, const ConnectStep& step, std::int64_t due_ns);
  [[nodiscard]] Network::Begun open_socket(Session& session);
  void connected(Session& session);
  void established(Session& session) noexcept;
  [[nodiscard]] bool encode_first_of(const Session& session);
  [[nodiscard]] bool is_proxied() const noexcept { return program_.plan.connection.proxy.has_value(); }
  void request_tunnel(Session& session);
  [[nodiscard]] bool encode_request_of(const Session& session);
  void request_upgrade(Session& session);
  [[nodiscard]] const Destination& destination_of(const Session& session) const noexcept {
    return program_.destinations[destinations_.of(slab_.slot_of(session))];
  }
  [[nodiscard]] const Url& target_of(const Session& session) const noexcept {
    return program_.plan.targets[destination_of(session).target].url;
  }
  void upgrade_received(Session& session, std::span<const std::uint8_t> bytes);
  struct Head {
    std::string_view text;
    std::span<const std::uint8_t> rest;  ///< what came behind it
  };
  [[nodiscard]] std::optional<Head> take_head(Session& session, std::span<const std::uint8_t> bytes,
                                              Phase phase);
  void head_received(Session& session, std::string_view head, std::span<const std::uint8_t> rest);
  void tunnel_received(Session& session, std::span<const std::uint8_t> bytes);
  void refused(Session& session, const HandshakeVerdict& verdict, std::string_view head,
               std::string_view behind);
  void body_received(Session& session, std::string_view bytes);
  void show_refusal(Session& session);
  void opened(Session& session);
  void session_open(Session& session);
  void attempt_failed(Session& session, const Failure& failure, std::string_view sample = {});
  [[nodiscard]] KeyText key_of(const Session& session) const noexcept;

  // worker_tls.cpp
  [[nodiscard]] bool must_wait(Session& session);
  void begin_securing(Session& session);
  [[nodiscard]] bool secure(Session& session);
  void secured(Session& session);
  void tls_received(Session& session, std::span<const std::uint8_t> bytes);
  void tls_failed(Session& session);
  [[nodiscard]] bool flush_tls(Session& session);
  [[nodiscard]] bool send_tls(Session& session, std::string_view bytes);
  void end_tls(Session& session) noexcept;

  // worker_return.cpp
  [[nodiscard]] bool comes_back(Session& session);
  void cut(Session& session);
  [[nodiscard]] bool was_cut(const Session& session) const noexcept;
  void cut_off(const Session& session) noexcept;
  void attempt_ended(const Session& session, bool opened) noexcept;
  // worker_ping.cpp
  void keep_alive();
  [[nodiscard]] bool ping_due(SlotIndex slot);
  void answer_due(SlotIndex slot);
  [[nodiscard]] bool is_keep_alive_pong(const Session& session,
                                        std::span<const std::uint8_t> payload) noexcept;
  // worker_receive.cpp
  void readable(Session& session, bool ended);
  void received(Session& session, std::span<const std::uint8_t> bytes);
  void frames_received(Session& session, std::span<const std::uint8_t> bytes);
  void turn_deaf(Session& session) noexcept;
  void ignore(Session& session, std::size_t bytes);
  void control_received(Session& session, const FramePiece& piece);
  void control_complete(Session& session, Opcode opcode, std::span<const std::uint8_t> payload);
  void close_received(Session& session, std::span<const std::uint8_t> payload);
  void data_received(Session& session, const FramePiece& piece);
  void message_received(Session& session, Opcode opcode, std::span<const std::uint8_t> payload,
                        bool complete);
  [[nodiscard]] bool wants_content(const Session& session) const noexcept;
  [[nodiscard]] bool is_reply(Session& session, std::span<const std::uint8_t> payload, bool complete);
  [[nodiscard]] bool is_equal(const Session& session, const Template& wanted, std::string_view text);
  void replied(Session& session);
  void step_failed(Session& session);
  void stream_ended(Session& session, Cause cause, std::uint32_t detail, std::string_view sample = {});
  [[nodiscard]] Cause end_of_tcp(const Session& session) const noexcept;
  [[nodiscard]] Partial& partial_of(Session& session);

  // worker_listen.cpp
  void begin_listening(Session& session, const ProgramStep& step, std::int64_t ready_ns);
  void end_listening(Session& session) noexcept;
  void broadcast_received(Session& session, std::span<const std::uint8_t> payload, bool complete);
  void delivery_took(Session& session, Time time, std::int64_t stamp_us, std::int64_t received_us);
  [[nodiscard]] bool is_first_copy(Session& session, std::uint64_t sequence) noexcept;

  // worker_feeds.cpp
  /// What the message under way, or the reply to it, may name.
  [[nodiscard]] TemplateValues values_of(const Session& session) noexcept;
  /// The same of what goes out while the connection is made.
  [[nodiscard]] TemplateValues values_of_attempt(const Session& session) noexcept;
  [[nodiscard]] bool take_rows(const Session& session, std::uint64_t user, bool arrival);
  void without_row(const Session& session, std::uint32_t feed);

  // worker_graphql.cpp
  void begin_graphql(Session& session, std::size_t chosen);
  [[nodiscard]] bool send_graphql(Session& session);
  [[nodiscard]] bool send_graphql(Session& session, GraphqlType type, std::uint32_t id);
  void graphql_received(Session& session, Opcode opcode, std::span<const std::uint8_t> payload,
                        bool complete);
  void acknowledged(Session& session);
  void graphql_ping_received(Session& session, std::string_view payload);
  void graphql_fault(Session& session, const Failure& failure, std::span<const std::uint8_t> message);
  void note_graphql_errors(Session& session, const Failure& failure, std::span<const std::uint8_t> message);
  void result_received(Session& session, const GraphqlMessage& message,
                       std::span<const std::uint8_t> payload);
  void event_received(Session& session, std::size_t place, bool has_errors,
                      std::span<const std::uint8_t> payload);
  [[nodiscard]] bool is_event(Session& session, const OperateStep& step);
  void operation_refused(Session& session, std::uint32_t id, std::span<const std::uint8_t> payload);
  void operation_complete(Session& session, const GraphqlMessage& message,
                          std::span<const std::uint8_t> payload);
  void operation_replied(Session& session);

  // worker_graphql_steps.cpp
  [[nodiscard]] bool run_graphql(Session& session, const ProgramStep& step, std::int64_t& ready_ns);
  [[nodiscard]] bool send_operation(Session& session, const GraphqlPayload& payload, std::uint32_t id);
  [[nodiscard]] bool end_subscription(Session& session, std::size_t place);
  [[nodiscard]] bool give_up_operation(Session& session);
  [[nodiscard]] bool say_goodbye(Session& session);

  // worker_script.cpp
  void run(Session& session, std::int64_t ready_ns);
  [[nodiscard]] bool run_step(Session& session, const ProgramStep& step, std::int64_t& ready_ns);
  [[nodiscard]] bool run_message(Session& session, const ProgramStep& step, std::int64_t& ready_ns);
  void wait_until(Session& session, State state, std::int64_t deadline_ns);
  [[nodiscard]] bool begin_repeat(Session& session, const ProgramStep& step, std::int64_t ready_ns);
  [[nodiscard]] bool end_repeat(Session& session, const ProgramStep& step, std::int64_t& ready_ns);
  [[nodiscard]] bool pace(Session& session, std::int64_t due_ns, std::int64_t& ready_ns);
  void script_ended(Session& session);
  [[nodiscard]] const ProgramStep& step_of(const Session& session) const noexcept {
    return program_.scripts[session.scenario][session.step];
  }

  // worker_steps.cpp
  /// How the wait of a step for its answer is counted.
  struct Wait {
    Counter all;
    Counter failed;
    Time time;
    Phase phase;
  };
  [[nodiscard]] static const Wait& wait_of(Op op) noexcept {
    static constexpr Wait kRequest{Counter::requests, Counter::failed_requests, Time::round_trip,
                                   Phase::request};
    static constexpr Wait kExpect{Counter::expectations, Counter::failed_expectations, Time::expect,
                                  Phase::request};
    static constexpr Wait kPing{Counter::pings, Counter::failed_pings, Time::ping, Phase::open};
    return op == Op::expect ? kExpect : op == Op::ping ? kPing : kRequest;
  }
  void begin_expecting(Session& session, const ProgramStep& step);
  void begin_ping(Session& session, const ProgramStep& step);
  [[nodiscard]] std::uint64_t ping_number(const Session& session) const noexcept;
  void pong_received(Session& session, std::span<const std::uint8_t> payload);
  void log(const Session& session, const LogStep& step);
  [[nodiscard]] Cause keep(Session& session, const ProgramStep& step, std::span<const std::uint8_t> reply);
  void answer_lacks(Session& session, Cause cause, std::span<const std::uint8_t> reply);
  [[nodiscard]] bool is_met(const Session& session, const std::vector<Until>& until);
  void choose(Session& session, const ProgramStep& step) noexcept;

  // worker_send.cpp: false if the connection was lost over it
  [[nodiscard]] bool send_message(Session& session, const Message& message);
  [[nodiscard]] bool send_data(Session& session, Opcode opcode, std::span<const std::uint8_t> payload);
  [[nodiscard]] bool send_bytes(Session& session, std::string_view bytes);
  [[nodiscard]] bool send_wire(Session& session, std::string_view bytes);
  void wrote(Session& session, std::string_view bytes, std::size_t written);
  [[nodiscard]] bool send_pong(Session& session);
  [[nodiscard]] bool send_echo(Session& session, Opcode opcode, std::span<const std::uint8_t> payload);
  [[nodiscard]] bool send_close(Session& session, std::uint16_t code, std::string_view reason);
  void writable(Session& session);

  // worker_trace.cpp
  /// Off, it costs one branch that is never taken.
  [[nodiscard]] bool is_traced(const Session& session) const noexcept {
    return settings_.trace_users != 0 && session.user - first_user(session) < settings_.trace_users;
  }
  [[nodiscard]] std::uint64_t first_user(const Session& session) const noexcept {
    return 1 + (session.has(kArrival) ? program_.all_users : program_.user_bases[session.scenario]);
  }
  void trace(const Session& session, Direction direction, std::string_view text);
  void trace_connect(const Session& session, const Endpoint& local);
  void trace_head(const Session& session, Direction direction, std::string_view head);
  void trace_sent(const Session& session, std::string_view bytes);
  void trace_piece(const Session& session, const FramePiece& piece);

  // worker_deflate.cpp
  void encode_deflated(Session& session, Opcode opcode, std::span<const std::uint8_t> payload);
  void deflated_received(Session& session, const FramePiece& piece);
  // worker_close.cpp
  void end_session(Session& session);
  void begin_close(Session& session, std::uint16_t code, std::string_view reason);
  void fail_connection(Session& session, const FrameError& error);
  void note_failure(const Session& session, const Failure& failure, std::string_view sample = {});
  void lose_connection(Session& session, const Failure& failure, std::string_view sample = {});
  void leave_step(Session& session) noexcept;
  void connection_ended(Session& session);
  void close_socket(Session& session) noexcept;
  void finish_session(Session& session, bool normally);

  /// What is known of a user who comes back when it was cut off.
  struct Away {
    std::int64_t since_ns = 0;  ///< when its connection ended; 0 while it has one, or before its first
    std::uint32_t row = 0;      ///< attempts in a row without a connection that held
    std::uint16_t tries = 0;    ///< attempts since `since_ns`
    bool returning = false;     ///< the attempt under way, or next, follows a back-off
    bool cut = false;           ///< its stage takes it the connection
  };

  const Program& program_;
  const WorkerSettings settings_;
  Network& network_;
  std::vector<PortAllocator> ports_;  ///< by endpoint
  Destinations destinations_;
  const std::unique_ptr<TlsLayer> tls_;  ///< none: plain
  Slab slab_;
  TimerWheel timers_;
  Recorder recorder_;
  Random random_;
  StageShare stages_;
  JsonReader json_;
  Captures captures_;
  std::unique_ptr<GraphqlUsers> graphql_;  ///< nullptr unless the plan speaks it
  BufferPool<Unsent> unsent_;
  BufferPool<Partial> partial_;
  Compression compression_;
  FeedRows feed_rows_;
  std::vector<Broadcasts> broadcasts_;         ///< by scenario
  std::vector<std::vector<SlotIndex>> users_;  ///< by scenario and place in the share; 0 = away
  KeepAliveRound keep_alive_;
  std::vector<Away> away_;           ///< by slot; empty if nobody comes back or is cut
  std::vector<SocketToken> unread_;  ///< sockets whose read budget was used up
  std::vector<SocketToken> reading_;
  std::vector<std::uint8_t> receive_;  ///< one receive buffer, with padding for the JSON reader
  std::string text_;                   ///< a message being rendered
  std::string reply_text_;             ///< a reply being compared
  std::string frame_;                  ///< a frame being sent
  std::string noise_;                  ///< content of binary messages
  std::string pong_;                   ///< payload of the newest ping of this read
  std::string pongs_;                  ///< frames that answer the pings of this read so far
  bool pong_owed_ = false;
  std::uint32_t handshakes_ = 0;  ///< steps of TLS handshakes in this turn

  std::int64_t now_ns_ = 0;
  std::array<std::int64_t, 64> wall_offsets_us_{};  ///< of the latest seconds
  std::int64_t wall_second_ = -1;                   ///< the latest of them
  std::int64_t start_ns_;
  Course course_ = Course::before;
  std::uint32_t stage_ = 0;
  std::int64_t stage_begin_ns_ = 0;
  std::vector<std::int64_t> stage_ends_ns_;  ///< kNever until known
  std::uint64_t unsettled_ = 0;
  std::int64_t closing_begin_ns_ = 0;
  std::uint64_t closes_begun_ = 0;
  SlotIndex close_cursor_ = 0;
  bool dropping_ = false;  ///< the stage is over, and what was due in it is being counted
  bool stop_asked_ = false;
  bool more_due_ = false;  ///< a budget was used up: do not wait

  std::int64_t body_sought_ns_ = -kBodyPause_ns;  ///< when the body of a refusal was last waited for

  std::uint32_t opening_ = 0;
  std::uint32_t open_ = 0;
  std::uint32_t closing_ = 0;
  std::uint32_t arrivals_ = 0;
  std::int64_t next_log_ns_ = 0;
  std::uint64_t unshown_ = 0;  ///< log lines since the last that was shown
  std::uint32_t second_ = 0;   ///< the next to be handed over
  std::int64_t turn_max_ns_ = 0;
  std::int64_t cpu_ns_ = 0;
  Network::CoreWait wait_;

  std::mutex mail_mutex_;
  std::vector<Letter> mail_;
  std::atomic<bool> has_mail_{false};
  std::atomic<std::int64_t> wall_correction_us_{0};
  std::atomic<std::uint32_t> settled_{0};
  std::atomic<bool> done_{false};
};

}  // namespace onrush
