// What the engine itself pays for a session and a round trip: a whole worker over a network without a kernel.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "agent/agent_run.h"
#include "agent/worker.h"
#include "core/handshake.h"

namespace onrush {
namespace {

constexpr std::uint32_t kUsers = 1'000;
constexpr std::size_t kEventsPerWait = 50;  // as many as a busy epoll gives
constexpr std::size_t kPayloadBytes = 32;

/// Answers every upgrade and every message at once, from memory, in virtual time that moves by a microsecond
/// a wait.
class Mirror final : public Network {
 public:
  [[nodiscard]] std::int64_t now_ns() noexcept override { return now_ns_; }
  [[nodiscard]] std::int64_t wall_us() noexcept override { return now_ns_ / 1000; }
  [[nodiscard]] std::int64_t thread_cpu_ns() noexcept override { return now_ns_; }
  [[nodiscard]] CoreWait thread_wait() noexcept override { return {}; }

  [[nodiscard]] std::span<const NetworkEvent> wait(std::int64_t) noexcept override {
    now_ns_ += 1000;
    given_.swap(ready_);
    ready_.clear();
    if (given_.size() > kEventsPerWait) {
      ready_.assign(given_.begin() + kEventsPerWait, given_.end());
      given_.resize(kEventsPerWait);
    }
    return given_;
  }
  void wake() noexcept override {}

  [[nodiscard]] Begun connect(const Endpoint&, const Endpoint&, SocketToken token,
                              std::span<const std::uint8_t> first) noexcept override {
    int descriptor = 0;
    if (free_.empty()) {
      descriptor = static_cast<int>(peers_.size());
      peers_.emplace_back();
    } else {
      descriptor = free_.back();
      free_.pop_back();
    }
    Peer& peer = peers_[static_cast<std::size_t>(descriptor)];
    peer.token = token;
    peer.answer.clear();
    return {descriptor, now_ns_, static_cast<std::size_t>(write(descriptor, first))};
  }
  [[nodiscard]] int finish_connect(int) noexcept override { return 0; }

  [[nodiscard]] std::ptrdiff_t read(int descriptor, std::span<std::uint8_t> into) noexcept override {
    std::string& answer = peers_[static_cast<std::size_t>(descriptor)].answer;
    if (answer.empty()) return -EAGAIN;
    const std::size_t bytes = std::min(answer.size(), into.size());
    std::memcpy(into.data(), answer.data(), bytes);
    answer.erase(0, bytes);
    return static_cast<std::ptrdiff_t>(bytes);
  }

  [[nodiscard]] std::ptrdiff_t write(int descriptor, std::span<const std::uint8_t> bytes) noexcept override {
    Peer& peer = peers_[static_cast<std::size_t>(descriptor)];
    const std::string_view text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    if (text.starts_with("GET ")) {
      constexpr std::string_view kName = "Sec-WebSocket-Key: ";
      peer.answer =
          "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
          "Sec-WebSocket-Accept: ";
      peer.answer += accept_of(std::string{text.substr(text.find(kName) + kName.size(), 24)});
      peer.answer += "\r\n\r\n";
      ++handshakes_;
    } else if ((text[0] & 0x0F) == 8) {
      peer.answer.assign("\x88\x02\x03\xE8", 4);
    } else {
      peer.answer.assign(reply_);
      ++messages_;
    }
    ready_.push_back({peer.token, true, false, false});
    return static_cast<std::ptrdiff_t>(bytes.size());
  }

  void await_room(int, SocketToken) noexcept override {}
  void close(int descriptor, bool) noexcept override { free_.push_back(descriptor); }

  [[nodiscard]] std::uint64_t handshakes() const noexcept { return handshakes_; }
  [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }

 private:
  struct Peer {
    SocketToken token;
    std::string answer;
  };

  std::int64_t now_ns_ = 1'000'000'000;
  std::vector<Peer> peers_;
  std::vector<int> free_;
  std::vector<NetworkEvent> ready_;
  std::vector<NetworkEvent> given_;
  std::string reply_ =
      std::string{'\x82', static_cast<char>(kPayloadBytes)} + std::string(kPayloadBytes, 'x');
  std::uint64_t handshakes_ = 0;
  std::uint64_t messages_ = 0;
};

/// A run whose only worker is turned by hand.
class Engine {
 public:
  explicit Engine(std::string_view script) {
    Prepare prepare;
    prepare.run = "benchmark";
    prepare.plan = {
        "benchmark.yaml",
        fmt::format("name: benchmark\ntarget: ws://127.0.0.1:9/\nscenarios: {{user: {{script: {}}}}}\n"
                    "stages: [{{name: hold, users: {}, for: 1h}}]\n",
                    script, kUsers),
        {},
        ""};
    prepare.source = {{"127.0.0.2"}, 1024, 65'535};
    AgentSettings settings;
    settings.descriptor_limit = 20'000;
    settings.threads = settings.watch_host = false;
    auto run = AgentRun::prepare(prepare, settings,
                                 [this](std::uint32_t) -> Expected<std::unique_ptr<Network>, std::string> {
                                   auto network = std::make_unique<Mirror>();
                                   mirror_ = network.get();
                                   return std::unique_ptr<Network>{std::move(network)};
                                 });
    if (!run) throw std::runtime_error{run.error().front()};
    run_ = std::move(*run);
    worker_ = run_->workers().front();
    run_->start(mirror_->now_ns());
  }
  void turn() { worker_->turn(); }
  [[nodiscard]] const Mirror& mirror() const noexcept { return *mirror_; }

 private:
  Mirror* mirror_ = nullptr;
  std::unique_ptr<AgentRun> run_;
  Worker* worker_ = nullptr;
};

void make_a_round_trip(benchmark::State& state) {
  Engine engine{fmt::format("[connect, {{repeat: {{do: [{{request: {{bytes: {}}}}}]}}}}]", kPayloadBytes)};
  while (engine.mirror().messages() < 10 * kUsers) engine.turn();
  const std::uint64_t before = engine.mirror().messages();
  while (state.KeepRunningBatch(kEventsPerWait)) engine.turn();
  if (engine.mirror().messages() - before != static_cast<std::uint64_t>(state.iterations()))
    state.SkipWithError("a turn was not as many round trips as it was given events");
}
BENCHMARK(make_a_round_trip);

// The peer's own hash of the key is in it, some 300 ns.
void open_and_close_a_session(benchmark::State& state) {
  Engine engine{"[connect, close]"};
  while (engine.mirror().handshakes() < 10 * kUsers) engine.turn();
  constexpr std::uint64_t kBatch = 100;
  // Not from what the last turn reached: a turn may open a thousand.
  std::uint64_t until = engine.mirror().handshakes();
  while (state.KeepRunningBatch(kBatch)) {
    until += kBatch;
    while (engine.mirror().handshakes() < until) engine.turn();
  }
}
BENCHMARK(open_and_close_a_session);

}  // namespace
}  // namespace onrush
