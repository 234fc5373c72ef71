// One thread that runs posted tasks in order, and a tick between them.
//
// Why: agents, followers, HTTP and signals all arrive on threads of their own; everything they change belongs
// to this one thread, so nothing in the coordinator needs a lock but this queue. Owner: post from anywhere,
// run from one.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <utility>

namespace onrush {

class EventLoop {
 public:
  using Task = std::function<void()>;

  void post(Task task) {
    {
      const std::lock_guard lock{mutex_};
      tasks_.push_back(std::move(task));
    }
    changed_.notify_one();
  }

  /// Runs tasks, and `tick` at least every `interval`, until stop().
  void run(std::chrono::milliseconds interval, const Task& tick) {
    auto next = std::chrono::steady_clock::now() + interval;
    for (;;) {
      std::deque<Task> batch;
      {
        std::unique_lock lock{mutex_};
        changed_.wait_until(lock, next, [this] { return stopped_ || !tasks_.empty(); });
        if (stopped_ && tasks_.empty()) return;
        batch.swap(tasks_);
      }
      for (Task& task : batch) task();
      if (const auto now = std::chrono::steady_clock::now(); now >= next) {
        tick();
        next = now + interval;
      }
    }
  }

  /// Lets run() return once the tasks posted so far are done.
  void stop() {
    {
      const std::lock_guard lock{mutex_};
      stopped_ = true;
    }
    changed_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  bool stopped_ = false;
};

}  // namespace onrush
