// The gRPC edge: Control for agents, Runs for followers. Turns streams into calls on the run control, in its
// loop.
//
// Owner: started and ended by Coordinator; its callbacks run on gRPC's threads and only post to the loop.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "control.grpc.pb.h"
#include "coordinator/event_loop.h"
#include "coordinator/run_control.h"

namespace onrush {

class ControlService final : public proto::Control::CallbackService {
 public:
  ControlService(EventLoop& loop, RunControl& control) : loop_{loop}, control_{control} {}
  grpc::ServerBidiReactor<proto::FromAgent, proto::FromCoordinator>* Attach(
      grpc::CallbackServerContext* context) override;

 private:
  EventLoop& loop_;
  RunControl& control_;
};

class RunsService final : public proto::Runs::CallbackService {
 public:
  RunsService(EventLoop& loop, RunControl& control) : loop_{loop}, control_{control} {}
  grpc::ServerBidiReactor<proto::RunRequest, proto::RunEvent>* Submit(
      grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* Survey(grpc::CallbackServerContext* context, const proto::SurveyRequest* request,
                                   proto::SurveyReply* reply) override;

 private:
  EventLoop& loop_;
  RunControl& control_;
};

/// Both services, listening.
class Services {
 public:
  /// Listens on HOST:PORT (port 0: any). Null if it cannot.
  static std::unique_ptr<Services> start(const std::string& address, EventLoop& loop, RunControl& control);
  /// Cuts every stream.
  ~Services();

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

 private:
  Services(EventLoop& loop, RunControl& control);

  ControlService control_service_;
  RunsService runs_service_;
  std::unique_ptr<grpc::Server> server_;
  std::uint16_t port_ = 0;
};

}  // namespace onrush
