// The gRPC edge: Control for agents, Runs for followers. Turns streams into calls on the run control, in its
// loop.
//
// Owner: started and ended by Coordinator; its callbacks run on gRPC's threads and only post to the loop.
#pragma once

#include <memory>

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

 private:
  EventLoop& loop_;
  RunControl& control_;
};

}  // namespace onrush
