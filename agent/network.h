// What a worker needs from the operating system: sockets that never block, events, and the clock.
//
// Why: the same worker runs over epoll and over a simulated network in virtual time, so every test of the
// engine can be replayed from a seed. Owner: the worker's thread, except wake(). Errors are negative errno
// values, never errno. Always: one event a socket and wait at most; a closed descriptor gives no further
// event in later waits; reads and writes never raise a signal. Readiness is told by edge: after a read that
// filled less than it was given, new bytes make a new event; after one that filled all, or when the event
// says `ended`, there may be more without one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "agent/endpoint.h"
#include "core/expected.h"

namespace onrush {

/// Whom an event is for: the session's slot, and its generation so that a late event is recognised.
struct SocketToken {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;
};

struct NetworkEvent {
  SocketToken token;
  bool readable = false;  ///< bytes, the peer's end, or an error wait to be read
  bool writable = false;  ///< the connection was decided, or there is room again
  bool ended = false;     ///< the peer's end or an error is among what waits: read until it comes
};

class Network {
 public:
  virtual ~Network() = default;

  /// Monotonic; on Linux comparable between all processes of one host.
  [[nodiscard]] virtual std::int64_t now_ns() noexcept = 0;
  /// Microseconds since 1970.
  [[nodiscard]] virtual std::int64_t wall_us() noexcept = 0;
  /// CPU time that the calling thread has used.
  [[nodiscard]] virtual std::int64_t thread_cpu_ns() noexcept = 0;
  /// How long the calling thread was ready to run and was given no core, and how often it was given one;
  /// nothing if nobody counts it.
  struct CoreWait {
    std::int64_t ns = 0;
    std::int64_t times = 0;
  };
  [[nodiscard]] virtual CoreWait thread_wait() noexcept = 0;

  /// Sleeps until something happens, wake() is called, or `until_ns` has come. Valid until the next call.
  [[nodiscard]] virtual std::span<const NetworkEvent> wait(std::int64_t until_ns) noexcept = 0;
  /// Ends a wait, the one under way or the next. From any thread.
  virtual void wake() noexcept = 0;

  /// How an attempt to connect began.
  struct Begun {
    int descriptor = -1;              ///< or -errno
    std::int64_t established_ns = 0;  ///< when it was established, if at once
    std::size_t written = 0;          ///< of the first bytes, if it was; at least one then
  };
  /// Begins to connect from `local` (port 0: the kernel's choice) to `remote`. A connection that is there at
  /// once, as on loopback, takes the `first` bytes along, if there are any, and saves a wake-up; of any
  /// other, finish_connect tells how it went once the socket is writable.
  [[nodiscard]] virtual Begun connect(const Endpoint& local, const Endpoint& remote, SocketToken token,
                                      std::span<const std::uint8_t> first) noexcept = 0;
  /// 0, or -errno why the connection failed; -ELOOP if it reached its own port.
  [[nodiscard]] virtual int finish_connect(int descriptor) noexcept = 0;

  /// Bytes, 0 at the peer's end, -EAGAIN when there are none now, or another -errno.
  [[nodiscard]] virtual std::ptrdiff_t read(int descriptor, std::span<std::uint8_t> into) noexcept = 0;
  [[nodiscard]] virtual std::ptrdiff_t write(int descriptor,
                                             std::span<const std::uint8_t> bytes) noexcept = 0;
  /// Asks for an event when there is room again, after a write that the socket did not take whole.
  virtual void await_room(int descriptor, SocketToken token) noexcept = 0;

  /// `reset`: RST instead of FIN, so that neither side keeps the connection in TIME_WAIT.
  virtual void close(int descriptor, bool reset) noexcept = 0;
};

/// Makes the network of worker `index`; an error is a resource that the machine does not give.
using NetworkFactory = std::function<Expected<std::unique_ptr<Network>, std::string>(std::uint32_t index)>;

}  // namespace onrush
