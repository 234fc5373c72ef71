#include "coordinator/services.h"

#include <chrono>
#include <utility>

#include "coordinator/service_stream.h"
#include "core/overloaded.h"
#include "proto/convert.h"
#include "proto/file_pieces.h"
#include "proto/grpc_log.h"

namespace onrush {
namespace {

using AgentStream = ServiceStream<proto::FromAgent, proto::FromCoordinator>;
using RunStream = ServiceStream<proto::RunRequest, proto::RunEvent>;

// Known to the loop from the moment its attachment task has run; no message is read before.
struct AgentSide {
  AgentId id = 0;
};

AgentLink link_to(const std::shared_ptr<AgentStream>& stream) {
  return {.send =
              [stream](const FromCoordinator& message) {
                if (const auto* prepare = std::get_if<Prepare>(&message))
                  cut_files(prepare->plan.files, [&](proto::FilePiece piece) {
                    proto::FromCoordinator to;
                    *to.mutable_file() = std::move(piece);
                    stream->send(std::move(to));
                  });
                stream->send(to_proto(message));
              },
          .refuse =
              [stream](const std::string& why) {
                stream->end({grpc::StatusCode::FAILED_PRECONDITION, why});
              },
          .cut = [stream] { stream->cut(); }};
}

proto::RunEvent to_proto(const RunEvent& event) {
  proto::RunEvent to;
  std::visit(Overloaded{
                 [&](const RunAccepted& e) {
                   to.mutable_accepted()->set_run(e.run);
                   to.mutable_accepted()->set_http(e.http);
                 },
                 [&](const RunRejected& e) {
                   to.mutable_rejected()->set_why(e.why);
                   to.mutable_rejected()->set_exit_code(e.exit_code);
                 },
                 [&](const Live& e) { *to.mutable_live() = to_proto(e); },
                 [&](const RunLog& e) { to.set_log(e.line); },
                 [&](const RunFile& e) {
                   to.mutable_file()->set_name(e.name);
                   to.mutable_file()->set_content(e.content);
                 },
                 [&](const RunFinished& e) { to.mutable_finished()->set_exit_code(e.exit_code); },
             },
             event);
  return to;
}

void set_keepalive(grpc::ServerBuilder& builder) {
  // Agents ping every 20 s; the default would answer that with GOAWAY too_many_pings (cases P099).
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 5'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  // Without this a second coordinator on the same port would share it silently.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
}

Follower follower_on(const std::shared_ptr<RunStream>& stream) {
  return [stream](const RunEvent& event) {
    stream->send(to_proto(event));
    if (std::holds_alternative<RunRejected>(event) || std::holds_alternative<RunFinished>(event))
      stream->end(grpc::Status::OK);
  };
}

}  // namespace

grpc::ServerBidiReactor<proto::FromAgent, proto::FromCoordinator>* ControlService::Attach(
    grpc::CallbackServerContext* context) {
  const std::shared_ptr<AgentStream> stream = AgentStream::make(context);
  const auto side = std::make_shared<AgentSide>();
  loop_.post([this, side, stream] {
    side->id = control_.agent_attached(link_to(stream));
    stream->begin({.message =
                       [this, side, stream](const proto::FromAgent& wire) {
                         Expected<FromAgent, std::string> message = from_proto(wire);
                         loop_.post([this, side, stream, message = std::move(message)] {
                           if (message)
                             control_.agent_said(side->id, *message);
                           else
                             stream->end({grpc::StatusCode::INVALID_ARGUMENT, message.error()});
                           stream->read_next();
                         });
                       },
                   .gone = [this, side] { loop_.post([this, side] { control_.agent_gone(side->id); }); }});
  });
  return stream.get();
}

grpc::ServerBidiReactor<proto::RunRequest, proto::RunEvent>* RunsService::Submit(
    grpc::CallbackServerContext* context) {
  const std::shared_ptr<RunStream> stream = RunStream::make(context);
  const auto follower = std::make_shared<FollowerId>(0);
  const auto pieces = std::make_shared<FilePieces>();
  stream->begin(
      {.message =
           [this, stream, follower, pieces](proto::RunRequest request) {
             if (request.has_file()) {  // one message is read at a time, so the pieces need no lock
               if (!pieces->add(*request.mutable_file()))
                 return stream->end({grpc::StatusCode::INVALID_ARGUMENT, "the plan's files are too large"});
               return stream->read_next();
             }
             loop_.post([this, stream, follower, pieces, request = std::move(request)] {
               if (request.has_submit() && *follower == 0) {
                 Submission submission{.version = request.submit().version(),
                                       .plan = from_proto(request.submit().plan()),
                                       .agents = request.submit().agents()};
                 submission.plan.files = pieces->take();
                 *follower = control_.submitted(submission, follower_on(stream));
               } else if (request.has_stop() && *follower != 0)
                 control_.stop_asked(*follower, request.stop().why(), request.stop().at_once());
               stream->read_next();
             });
           },
       .gone = [this, follower] { loop_.post([this, follower] { control_.follower_gone(*follower); }); }});
  return stream.get();
}

grpc::ServerUnaryReactor* RunsService::Survey(grpc::CallbackServerContext* context,
                                              const proto::SurveyRequest* request,
                                              proto::SurveyReply* reply) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  // gRPC keeps request and reply until the reactor is finished.
  loop_.post([this, reactor, request, reply] {
    if (request->version() != ONRUSH_VERSION)
      return reactor->Finish(
          {grpc::StatusCode::FAILED_PRECONDITION,
           std::string{"the coordinator is onrush "} + ONRUSH_VERSION + ": use one version"});
    for (const Hello& agent : control_.survey()) *reply->add_agents() = to_proto(agent);
    reactor->Finish(grpc::Status::OK);
  });
  return reactor;
}

std::unique_ptr<Services> Services::start(const std::string& address, EventLoop& loop, RunControl& control) {
  std::unique_ptr<Services> services{new Services{loop, control}};
  silence_grpc_log();
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&services->control_service_);
  builder.RegisterService(&services->runs_service_);
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  set_keepalive(builder);
  services->server_ = builder.BuildAndStart();
  if (services->server_ == nullptr || port == 0) return nullptr;
  services->port_ = static_cast<std::uint16_t>(port);
  return services;
}

Services::Services(EventLoop& loop, RunControl& control)
    : control_service_{loop, control}, runs_service_{loop, control} {}

Services::~Services() {
  if (server_) server_->Shutdown(std::chrono::system_clock::now());
}

}  // namespace onrush
