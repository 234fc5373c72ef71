#include "coordinator/signal_watch.h"

#include <csignal>
#include <ctime>
#include <utility>

namespace onrush {
namespace {

sigset_t watched() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGHUP);  // the terminal is gone, and the results shall not go with it
  return signals;
}

}  // namespace

SignalWatch::SignalWatch() {
  const sigset_t signals = watched();
  // Started by nohup: a blocked signal would arrive although it is ignored.
  struct sigaction hangup {};
  sigaction(SIGHUP, nullptr, &hangup);
  ignores_hangup_ = hangup.sa_handler == SIG_IGN;
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  thread_ = std::thread{[this] { run(); }};
}

SignalWatch::~SignalWatch() {
  end_ = true;
  thread_.join();
}

void SignalWatch::on_signal(std::function<void(int)> handler) {
  const std::lock_guard lock{mutex_};
  handler_ = std::move(handler);
  if (handler_ && count_ > 0) handler_(count_);
}

void SignalWatch::run() {
  const sigset_t signals = watched();
  constexpr timespec kPatience{0, 50'000'000};  // how long the destructor may wait
  while (!end_) {
    const int signal = sigtimedwait(&signals, nullptr, &kPatience);
    if (signal < 0 || (signal == SIGHUP && ignores_hangup_)) continue;
    const std::lock_guard lock{mutex_};
    ++count_;
    if (handler_) handler_(count_);
  }
}

}  // namespace onrush
