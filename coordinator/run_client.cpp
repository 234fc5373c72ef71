#include "coordinator/run_client.h"

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <mutex>
#include <optional>
#include <utility>

#include "control.grpc.pb.h"
#include "core/verdict.h"
#include "proto/convert.h"
#include "proto/file_pieces.h"
#include "proto/grpc_log.h"

namespace onrush {
namespace {

constexpr std::chrono::seconds kConnectPatience{5};
constexpr std::chrono::milliseconds kStopNoticed{50};

RunEvent event_of(const proto::RunEvent& from) {
  switch (from.message_case()) {
    case proto::RunEvent::kAccepted: return RunAccepted{from.accepted().run(), from.accepted().http()};
    case proto::RunEvent::kRejected: return RunRejected{from.rejected().why(), from.rejected().exit_code()};
    case proto::RunEvent::kLive: return from_proto(from.live());
    case proto::RunEvent::kLog: return RunLog{from.log()};
    case proto::RunEvent::kFile: return RunFile{from.file().name(), from.file().content()};
    case proto::RunEvent::kFinished: return RunFinished{from.finished().exit_code()};
    case proto::RunEvent::MESSAGE_NOT_SET: break;
  }
  return RunLog{"the coordinator said something that this version does not know"};
}

std::optional<int> exit_code_of(const RunEvent& event) {
  if (const auto* rejected = std::get_if<RunRejected>(&event)) return rejected->exit_code;
  if (const auto* finished = std::get_if<RunFinished>(&event)) return finished->exit_code;
  return std::nullopt;
}

}  // namespace

struct RunClient::Stream {
  [[nodiscard]] bool is_reached() {
    const auto deadline = std::chrono::system_clock::now() + kConnectPatience;
    while (!is_stopped() && std::chrono::system_clock::now() < deadline)
      if (channel->WaitForConnected(std::chrono::system_clock::now() + kStopNoticed)) return true;
    return false;
  }
  [[nodiscard]] bool is_stopped() {
    const std::lock_guard lock{mutex};
    return stopped;
  }
  [[nodiscard]] std::string unreachable() const {
    return "no coordinator answers at " + coordinator +
           "; start one with: onrush coordinator --listen HOST:PORT";
  }

  std::string coordinator;
  std::shared_ptr<grpc::Channel> channel;
  std::mutex mutex;      // of writer, which follow() makes and stop() uses
  bool stopped = false;  ///< before there was a writer
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReaderWriter<proto::RunRequest, proto::RunEvent>> writer;
};

RunClient::RunClient(const std::string& coordinator) : stream_{std::make_unique<Stream>()} {
  silence_grpc_log();
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  stream_->coordinator = coordinator;
  stream_->channel = grpc::CreateCustomChannel(coordinator, grpc::InsecureChannelCredentials(), arguments);
}

RunClient::~RunClient() = default;

Expected<int, std::string> RunClient::follow(const Submission& submission, const Follower& follower) {
  Stream& stream = *stream_;
  const bool reached = stream.is_reached();
  if (stream.is_stopped()) return onrush::exit_code(Verdict::interrupted);
  if (!reached) return Unexpected{stream.unreachable()};
  proto::RunRequest request;
  request.mutable_submit()->set_version(submission.version);
  *request.mutable_submit()->mutable_plan() = to_proto(submission.plan);
  request.mutable_submit()->set_agents(submission.agents);
  {
    const std::lock_guard lock{stream.mutex};
    if (stream.stopped) return onrush::exit_code(Verdict::interrupted);
    stream.writer = proto::Runs::NewStub(stream.channel)->Submit(&stream.context);
    cut_files(submission.plan.files, [&](proto::FilePiece piece) {
      proto::RunRequest part;
      *part.mutable_file() = std::move(piece);
      stream.writer->Write(part);
    });
    stream.writer->Write(request);
  }
  std::optional<int> exit_code;
  for (proto::RunEvent wire; stream.writer->Read(&wire);) {
    const RunEvent event = event_of(wire);
    follower(event);
    if ((exit_code = exit_code_of(event))) break;
  }
  stream.writer->WritesDone();
  if (!exit_code) stream.context.TryCancel();
  const grpc::Status status = stream.writer->Finish();
  if (exit_code) return *exit_code;
  return Unexpected{"the coordinator at " + stream.coordinator +
                    " went away in mid-run: " + status.error_message()};
}

Expected<std::vector<Hello>, std::string> RunClient::survey() {
  if (!stream_->is_reached()) return Unexpected{stream_->unreachable()};
  proto::SurveyRequest request;
  request.set_version(ONRUSH_VERSION);
  proto::SurveyReply reply;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kConnectPatience);
  const grpc::Status status = proto::Runs::NewStub(stream_->channel)->Survey(&context, request, &reply);
  if (!status.ok())
    return Unexpected{"the coordinator at " + stream_->coordinator +
                      " does not tell who is attached: " + status.error_message()};
  std::vector<Hello> agents;
  for (const proto::Hello& agent : reply.agents()) agents.push_back(from_proto(agent));
  return agents;
}

void RunClient::stop(const std::string& why, bool at_once) {
  const std::lock_guard lock{stream_->mutex};
  if (!stream_->writer) {
    stream_->stopped = true;
    return;
  }
  proto::RunRequest request;
  request.mutable_stop()->set_why(why);
  request.mutable_stop()->set_at_once(at_once);
  stream_->writer->Write(request);  // one that fails means a stream that is over, which follow() sees
}

}  // namespace onrush
