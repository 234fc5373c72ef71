// One gRPC stream on the server's side: messages in, one at a time, to the loop; messages out, queued.
//
// Why: gRPC's callback reactors need one read and one write in flight at most, and a moment at which all are
// done. Both services need exactly that. Owner: shared by gRPC (until OnDone) and the loop; safe from any
// thread. Always: the next message is read only after the handler has dealt with the one before, so a
// flooding peer is slowed by flow control instead of filling the loop's queue.
#pragma once

#include <grpcpp/grpcpp.h>

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace onrush {

template <class In, class Out>
class ServiceStream final : public grpc::ServerBidiReactor<In, Out> {
 public:
  /// Called on gRPC's threads; the handler calls read_next() when it is done with the message.
  struct Handlers {
    std::function<void(In)> message;
    std::function<void()> gone;  ///< once, last
  };

  static std::shared_ptr<ServiceStream> make(grpc::CallbackServerContext* context) {
    std::shared_ptr<ServiceStream> stream{new ServiceStream{context}};
    stream->self_ = stream;
    return stream;
  }

  void begin(Handlers handlers) {
    handlers_ = std::move(handlers);
    read_next();
  }

  void read_next() {
    const std::lock_guard lock{mutex_};
    if (!finishing_) this->StartRead(&in_);
  }

  void send(Out message) {
    const std::lock_guard lock{mutex_};
    if (finishing_ || end_) return;
    // A peer that takes nothing for this long is not there; its stream is cut rather than its memory grown.
    if (queue_.size() >= kMostQueued) return context_->TryCancel();
    queue_.push_back(std::move(message));
    if (queue_.size() == 1) this->StartWrite(&queue_.front());
  }

  /// Ends the stream once everything queued is written.
  void end(grpc::Status status) {
    const std::lock_guard lock{mutex_};
    if (finishing_ || end_) return;
    end_ = std::move(status);
    if (queue_.empty()) finish();
  }

  /// Breaks the stream at once.
  void cut() { context_->TryCancel(); }

  [[nodiscard]] std::string peer() const { return context_->peer(); }

 private:
  static constexpr std::size_t kMostQueued = 10'000;

  explicit ServiceStream(grpc::CallbackServerContext* context) : context_{context} {}

  void OnReadDone(bool ok) override {
    if (ok) return handlers_.message(std::move(in_));
    const std::lock_guard lock{mutex_};
    if (finishing_) return;
    if (!end_) end_ = grpc::Status::OK;
    if (queue_.empty()) finish();
  }

  void OnWriteDone(bool ok) override {
    const std::lock_guard lock{mutex_};
    queue_.pop_front();
    if (!ok) queue_.clear();
    if (!queue_.empty()) return this->StartWrite(&queue_.front());
    if (end_ && !finishing_) finish();
  }

  void OnDone() override {
    handlers_.gone();
    handlers_ = {};
    self_.reset();  // may be the last owner
  }

  void finish() {
    finishing_ = true;
    this->Finish(*end_);
  }

  grpc::CallbackServerContext* context_;
  std::shared_ptr<ServiceStream> self_;
  Handlers handlers_;
  In in_;
  std::mutex mutex_;
  std::deque<Out> queue_;
  std::optional<grpc::Status> end_;
  bool finishing_ = false;
};

}  // namespace onrush
