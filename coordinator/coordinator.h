// A coordinator at work: the loop's thread, the gRPC server, the HTTP server, around one RunControl.
//
// Why: `onrush coordinator` and the embedded default of `onrush run` are the same thing, so they are one
// class. Owner: the command. It works from start() until it is destroyed.
#pragma once

#include <memory>
#include <string>
#include <thread>

#include "core/expected.h"

namespace onrush {

class Coordinator {
 public:
  struct Settings {
    std::string listen;   ///< HOST:PORT for agents and followers; port 0: any
    std::string http;     ///< HOST:PORT; "" = none
    std::string results;  ///< folder for results that nobody is there to take
  };
  /// Error: why it cannot listen.
  static Expected<std::unique_ptr<Coordinator>, std::string> start(const Settings& settings);
  ~Coordinator();
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  /// HOST:PORT of each, with the port that it got.
  [[nodiscard]] const std::string& control_address() const noexcept { return control_address_; }
  [[nodiscard]] const std::string& http_address() const noexcept { return http_address_; }

  /// Stops the run under way in order, if there is one; returns when nothing is under way any more.
  void drain();

 private:
  struct Edges;  // gRPC and Beast stay in the .cpp
  Coordinator();

  std::unique_ptr<Edges> edges_;
  std::string control_address_;
  std::string http_address_;
};

}  // namespace onrush
