#include "target-servers/beast/topics.h"

#include <boost/asio/post.hpp>
#include <utility>

#include "target-servers/beast/worker.h"

namespace target {

std::uint64_t Topics::create() {
  const std::lock_guard lock{mutex_};
  return ++last_;
}

void Topics::subscribe(std::uint64_t topic, Worker& worker, std::weak_ptr<Subscriber> subscriber) {
  const std::lock_guard lock{mutex_};
  topics_[topic].push_back({&worker, std::move(subscriber)});
}

void Topics::remove(std::uint64_t topic) {
  const std::lock_guard lock{mutex_};
  topics_.erase(topic);
}

void Topics::publish(std::uint64_t topic, const Publication& publication) {
  const std::lock_guard lock{mutex_};
  const auto found = topics_.find(topic);
  if (found == topics_.end()) return;
  for (const Subscription& subscription : found->second) {
    // The delivery itself keeps the subscriber alive: one that has stopped reading has nothing else under
    // way.
    auto subscriber = subscription.subscriber.lock();
    if (subscriber == nullptr) continue;
    net::post(subscription.worker->context,
              [subscriber = std::move(subscriber), publication] { subscriber->deliver(publication); });
  }
}

}  // namespace target
