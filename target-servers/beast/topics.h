// Publish and subscribe: a message to a topic goes to whoever subscribed to it, on the subscriber's own
// worker.
//
// Why: /publish measures the way through a server's publish path. Beast has none, so this is the plainest
// one: a table of topics under one lock, and one posted delivery a subscriber. Owner: any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace target {

struct Worker;
using Publication = std::shared_ptr<const std::string>;

class Subscriber {
 public:
  /// On the worker that the subscription named.
  virtual void deliver(const Publication& publication) = 0;

 protected:
  ~Subscriber() = default;
};

class Topics {
 public:
  /// A topic that nobody else has.
  [[nodiscard]] std::uint64_t create();
  void subscribe(std::uint64_t topic, Worker& worker, std::weak_ptr<Subscriber> subscriber);
  void remove(std::uint64_t topic);
  void publish(std::uint64_t topic, const Publication& publication);

 private:
  struct Subscription {
    Worker* worker;
    std::weak_ptr<Subscriber> subscriber;
  };
  std::mutex mutex_;
  std::uint64_t last_ = 0;
  std::unordered_map<std::uint64_t, std::vector<Subscription>> topics_;
};

}  // namespace target
