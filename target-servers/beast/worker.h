// A thread of the server with everything that only this thread touches: its loop, its recipients of
// broadcasts.
//
// Why: connections that share nothing across threads need no locks; what crosses threads is posted to the
// loop. Owner: the thread that runs `context`; counters may be read from anywhere. Always: every worker sees
// every broadcast, in the order of their numbers.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <vector>

#include "target-servers/beast/broadcast.h"

namespace target {

namespace net = boost::asio;
using Executor = net::io_context::executor_type;
using Tcp = net::ip::tcp;
using Socket =
    net::basic_stream_socket<Tcp, Executor>;  // its own executor type costs less than the erased one

/// Written by one worker with relaxed order, read by whoever answers GET /stats.
struct alignas(64) Counters {
  std::atomic<std::int64_t> connections{0};
  std::atomic<std::int64_t> messages_in{0};
  std::atomic<std::int64_t> messages_out{0};
  std::atomic<std::int64_t> broadcasts_dropped{0};
};

inline void add(std::atomic<std::int64_t>& counter, std::int64_t n) {
  counter.fetch_add(n, std::memory_order_relaxed);
}

struct Worker {
  Counters counters;
  std::vector<Broadcast> begun;  ///< on their way here; the Broadcaster guards it
  BroadcastLog broadcasts;
  Recipients recipients;
  Pad pad;
  net::io_context context{1};  // last: what still waits in it when it ends uses the members above
};

}  // namespace target
