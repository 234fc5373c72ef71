// The coordinator's gRPC edge, spoken to by a client that is not ours to trust.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "control.grpc.pb.h"
#include "coordinator/coordinator.h"

namespace onrush {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class ControlServiceTest : public testing::Test {
 protected:
  void SetUp() override {
    auto started = Coordinator::start({.listen = "127.0.0.1:0", .http = "", .results = "unused"});
    ASSERT_TRUE(started) << started.error();
    coordinator = std::move(*started);
    channel = grpc::CreateChannel(coordinator->control_address(), grpc::InsecureChannelCredentials());
  }

  // Says one thing as an agent would, and waits for the end of the stream.
  grpc::Status say(const proto::FromAgent& message) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds{10});
    auto stream = proto::Control::NewStub(channel)->Attach(&context);
    stream->Write(message);
    for (proto::FromCoordinator answer; stream->Read(&answer);) {
    }
    return stream->Finish();
  }

  std::unique_ptr<Coordinator> coordinator;
  std::shared_ptr<grpc::Channel> channel;
};

proto::FromAgent hello(const std::string& version) {
  proto::FromAgent message;
  message.mutable_hello()->set_version(version);
  message.mutable_hello()->set_name("stranger");
  return message;
}

TEST_F(ControlServiceTest, AnAgentOfAnotherVersionIsRefusedWithBothVersionsNamed) {
  const grpc::Status status = say(hello("0.0.9"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), AllOf(HasSubstr("0.0.9"), HasSubstr(ONRUSH_VERSION)));
}

TEST_F(ControlServiceTest, ACommandOfAnotherVersionIsRejectedWithBothVersionsNamed) {
  grpc::ClientContext context;
  auto stream = proto::Runs::NewStub(channel)->Submit(&context);
  proto::RunRequest request;
  request.mutable_submit()->set_version("0.0.9");
  stream->Write(request);
  proto::RunEvent event;
  ASSERT_TRUE(stream->Read(&event));
  ASSERT_TRUE(event.has_rejected());
  EXPECT_EQ(event.rejected().exit_code(), 3);
  EXPECT_THAT(event.rejected().why(), AllOf(HasSubstr("0.0.9"), HasSubstr(ONRUSH_VERSION)));
}

TEST_F(ControlServiceTest, WhoDoesNotBeginWithHelloIsRefused) {
  proto::FromAgent message;
  message.mutable_snapshot()->set_number(1);
  EXPECT_EQ(say(message).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
}

TEST_F(ControlServiceTest, AMessageThatCannotBeRightEndsItsStreamOnly) {
  proto::FromAgent message;
  message.mutable_snapshot()->add_cells();  // without the counters of this version
  EXPECT_EQ(say(message).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(say(proto::FromAgent{}).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(say(hello("0.0.9")).error_code(), grpc::StatusCode::FAILED_PRECONDITION) << "it still answers";
}

TEST_F(ControlServiceTest, ASecondCoordinatorOnThePortIsAClearError) {
  const auto second =
      Coordinator::start({.listen = coordinator->control_address(), .http = "", .results = "unused"});
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error(), HasSubstr(coordinator->control_address()));
}

}  // namespace
}  // namespace onrush
