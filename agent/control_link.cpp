#include "agent/control_link.h"

#include <grpcpp/grpcpp.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "agent/epoll_network.h"
#include "control.grpc.pb.h"
#include "core/clock_offset.h"
#include "core/overloaded.h"
#include "proto/convert.h"
#include "proto/file_pieces.h"
#include "proto/grpc_log.h"
#include "proto/host_facts.h"

namespace onrush {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds kDialPatience = 60s;
// How soon a signal or a snapshot that is due is noticed; what the coordinator says and what a worker cannot
// keep to itself is noticed at once.
constexpr std::chrono::milliseconds kPollInterval = 100ms;
constexpr std::int64_t kProbeInterval_ns = 1'000'000'000;
// Between runs, so that `onrush doctor` sees the machine as it is; ours is read again before each run.
constexpr std::int64_t kFactsInterval_ns = 5'000'000'000;
// The first probes come fast, so that the offset is good before the first start instant.
constexpr int kFastProbes = 8;
constexpr std::chrono::seconds kCloseDeadline = 60s;
constexpr int kInternal = 70;

}  // namespace

struct ControlLink::Stream {
  explicit Stream(const std::string& coordinator) {
    silence_grpc_log();
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 20'000);
    arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1'000);
    arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
    channel = grpc::CreateCustomChannel(coordinator, grpc::InsecureChannelCredentials(), arguments);
  }
  ~Stream() {
    if (reader.joinable()) {
      context.TryCancel();
      reader.join();
    }
  }

  void attach() {
    stub = proto::Control::NewStub(channel);
    writer = stub->Attach(&context);
    reader = std::thread{[this] { read(); }};
  }

  void read() {
    for (proto::FromCoordinator wire; writer->Read(&wire);) {
      const std::lock_guard lock{mutex};
      heard.push_back({std::exchange(wire, {}), monotonic_ns()});
      changed.notify_one();
    }
    const std::lock_guard lock{mutex};
    ended = true;
    changed.notify_one();
  }

  struct Heard {
    proto::FromCoordinator message;
    std::int64_t at_ns;  ///< a probe's t4 must not include the time in the queue
  };
  std::deque<Heard> take(std::chrono::milliseconds patience) {
    std::unique_lock lock{mutex};
    changed.wait_for(lock, patience, [this] { return ended || news || !heard.empty(); });
    news = false;
    return std::exchange(heard, {});
  }

  void tell() {
    const std::lock_guard lock{mutex};
    news = true;
    changed.notify_one();
  }

  [[nodiscard]] bool is_over() {
    const std::lock_guard lock{mutex};
    return ended && heard.empty();
  }

  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<proto::Control::Stub> stub;
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReaderWriter<proto::FromAgent, proto::FromCoordinator>> writer;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Heard> heard;
  bool ended = false;
  bool news = false;  ///< a worker has something to tell
  std::thread reader;
  FilePieces files;  ///< of the plan that is to be prepared
  ClockOffset clock;
  std::int64_t heard_at_ns = 0;
  std::int64_t probed_ns = 0;
  int probes = 0;
};

ControlLink::ControlLink(std::string coordinator, Hello hello, AgentSettings settings,
                         const std::atomic<bool>& end)
    : coordinator_{std::move(coordinator)},
      hello_{std::move(hello)},
      settings_{std::move(settings)},
      end_{end},
      looked_ns_{monotonic_ns()} {}

ControlLink::~ControlLink() = default;

int ControlLink::serve(const std::function<bool()>& is_wanted) {
  stream_ = std::make_unique<Stream>(coordinator_);
  settings_.on_news = [this] { stream_->tell(); };
  if (!attach(is_wanted)) {
    if (!is_wanted()) return 0;
    spdlog::error("no coordinator answers at {}; start one with: onrush coordinator --listen HOST:PORT",
                  coordinator_);
    return kInternal;
  }
  return serve_attached();
}

bool ControlLink::attach(const std::function<bool()>& is_wanted) {
  const auto deadline = std::chrono::steady_clock::now() + kDialPatience;
  bool told = false;
  while (!stream_->channel->WaitForConnected(std::chrono::system_clock::now() + kPollInterval)) {
    if (!is_wanted() || std::chrono::steady_clock::now() > deadline) return false;
    if (!std::exchange(told, true)) spdlog::info("waiting for a coordinator at {}", coordinator_);
  }
  stream_->attach();
  send(hello_);
  return true;
}

int ControlLink::serve_attached() {
  while (!end_) {
    for (Stream::Heard& heard : stream_->take(kPollInterval)) {
      stream_->heard_at_ns = heard.at_ns;
      if (heard.message.has_file()) {
        if (stream_->files.add(*heard.message.mutable_file())) continue;
        spdlog::error("the coordinator sent more files than a plan may name");
        return leave();
      }
      const Expected<FromCoordinator, std::string> message = from_proto(heard.message);
      if (!message) {
        spdlog::error("the coordinator sent what cannot be right: {}", message.error());
        return leave();
      }
      this->heard(*message);
    }
    if (stream_->is_over()) return leave();
    probe(monotonic_ns());
    tell_facts(monotonic_ns());
    poll();
  }
  spdlog::info("told to end");
  close_in_order();
  return 0;
}

// The stream is over: why, and what becomes of the run.
int ControlLink::leave() {
  if (!stream_->is_over()) stream_->context.TryCancel();
  stream_->reader.join();
  const grpc::Status status = stream_->writer->Finish();
  if (status.error_code() == grpc::StatusCode::FAILED_PRECONDITION) {
    spdlog::error("the coordinator at {} refuses this agent: {}", coordinator_, status.error_message());
    return kInternal;
  }
  if (!run_) {
    spdlog::info("the coordinator at {} has ended", coordinator_);
    return 0;
  }
  spdlog::error("lost the coordinator at {} in mid-run: closing all connections in order", coordinator_);
  close_in_order();
  spdlog::error("all connections are closed; what was not acknowledged is lost");
  return kInternal;
}

void ControlLink::heard(const FromCoordinator& message) {
  std::visit(
      Overloaded{
          [&](const Welcome& m) {
            spdlog::info("attached to {} as {}", coordinator_, hello_.name);
            if (!m.boot_id.empty() && m.boot_id == hello_.boot_id) stream_->clock.same_kernel();
          },
          [&](const ProbeReply& m) { stream_->clock.probe(m.t1_ns, m.t2_ns, m.t3_ns, stream_->heard_at_ns); },
          [&](const Prepare& m) {
            Prepare whole = m;
            whole.plan.files = stream_->files.take();
            prepare(whole);
          },
          [&](const Start& m) {
            if (run_) run_->start(to_local_ns(m.at_ns));
          },
          [&](const EndStage& m) {
            if (run_) run_->end_stage(m.stage, to_local_ns(m.at_ns));
          },
          [&](const Stop& m) {
            spdlog::info("stopping: {}", m.why);
            if (run_) run_->stop();
          },
          [&](const Acknowledge& m) {
            if (run_) run_->acknowledge(m.number);
          },
      },
      message);
}

// What was set on the command line stays.
void ControlLink::look_at_host() {
  HostFacts facts = read_host_facts();
  if (const auto reserve = settings_.facts.find(Fact::memory_reserve))
    facts.set(Fact::memory_reserve, *reserve);
  settings_.facts = facts;
  looked_ns_ = monotonic_ns();
}

void ControlLink::tell_facts(std::int64_t now_ns) {
  if (run_ || now_ns - looked_ns_ < kFactsInterval_ns) return;
  look_at_host();
  send(settings_.facts);
}

void ControlLink::prepare(const Prepare& message) {
  spdlog::info("run {}: share {} of {}", message.run, message.share.index + 1, message.share.count);
  run_.reset();
  look_at_host();
  auto run = AgentRun::prepare(message, settings_, [](std::uint32_t) { return EpollNetwork::make(); });
  if (!run) {
    for (const std::string& reason : run.error()) spdlog::error("{}", reason);
    return send(Refused{run.error()});
  }
  run_ = std::move(*run);
  send(Ready{run_->capacity(), run_->warnings()});
}

void ControlLink::send(const FromAgent& message) {
  // A failed write means a broken stream, which the reader reports.
  stream_->writer->Write(to_proto(message));
}

void ControlLink::probe(std::int64_t now_ns) {
  if (stream_->probes >= kFastProbes && now_ns - stream_->probed_ns < kProbeInterval_ns) return;
  stream_->probed_ns = now_ns;
  ++stream_->probes;
  send(Probe{monotonic_ns()});
}

void ControlLink::poll() {
  if (!run_) return;
  for (const FromAgent& message : run_->poll(monotonic_ns())) {
    if (const auto* snapshot = std::get_if<Snapshot>(&message))
      for (const LogLine& line : snapshot->log)
        spdlog::info("{}", describe(line, run_->scenario_name(line.scenario)));
    send(message);
  }
  if (run_->finished()) {
    run_.reset();
    spdlog::info("the run is over; ready for the next");
  }
}

void ControlLink::close_in_order() {
  if (!run_) return;
  run_->stop();
  run_->resend();  // the last snapshot may be among those that were sent in vain
  const auto deadline = std::chrono::steady_clock::now() + kCloseDeadline;
  std::uint64_t last = 0;
  while (!run_->finished() && std::chrono::steady_clock::now() < deadline) {
    // Nobody is there to acknowledge, so this does: the snapshots have nowhere to go.
    for (const FromAgent& message : run_->poll(monotonic_ns()))
      if (const auto* snapshot = std::get_if<Snapshot>(&message)) last = snapshot->number;
    run_->acknowledge(last);
    std::this_thread::sleep_for(kPollInterval);
  }
}

std::int64_t ControlLink::to_local_ns(std::int64_t coordinator_ns) const {
  const std::optional<ClockEstimate> estimate = stream_->clock.at(monotonic_ns());
  return coordinator_ns - (estimate ? estimate->offset_ns : 0);
}

}  // namespace onrush
