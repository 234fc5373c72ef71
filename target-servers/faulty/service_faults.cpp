// Services that answer late, too much or not at all, and connections that end without a word.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>

#include "target-servers/faulty/faults.h"
#include "target-servers/faulty/peer.h"

namespace target {
namespace {

using namespace std::chrono_literals;
using namespace std::string_view_literals;
using Clock = std::chrono::steady_clock;

constexpr int kFloodPings = 100'000;
constexpr int kFloodMessages = 100'000;
constexpr int kFloodPiece = 500;  // frames a send: few calls, and a look at the client between

// RST and FIN after the 101 wait a little, so that the client is open by then however it polls.
constexpr auto kOpenFor = 100ms;

std::atomic<Clock::duration> frozen_until{Clock::duration{0}};

/// The whole echo service of these paths freezes when any client says `stall`, as in a long collection of
/// garbage.
void stall_when_told(Peer& peer) {
  const std::chrono::seconds length{std::atoi(peer.request().path.c_str() + "/stall/"sv.size())};
  open(peer);
  while (const auto frame = peer.next_frame()) {
    if (frame->payload == "stall") frozen_until = Clock::now().time_since_epoch() + length;
    std::this_thread::sleep_until(Clock::time_point{frozen_until.load()});
    peer.send_frame(frame->final, frame->opcode, frame->payload);
  }
}

/// Who serves the messages of everybody on one path, one after the other.
struct Clerk {
  int clients = 0;
  Clock::time_point free_at;
};

std::mutex clerks_mutex;
std::map<int, Clerk> clerks;  // by messages a second

/// Waits without holding up the end of a client who leaves.
void wait_until(Peer& peer, Clock::time_point due) {
  constexpr auto kLook = 20ms;
  while (!peer.gone() && Clock::now() + kLook < due) peer.pause(kLook);
  if (!peer.gone()) std::this_thread::sleep_until(due);
}

/// A server that can do so much and no more: what comes faster waits in line, and the line has no end.
void serve_so_many(Peer& peer) {
  const int per_s = std::atoi(peer.request().path.c_str() + "/capacity/"sv.size());
  if (per_s <= 0) return;
  const Clock::duration each = std::chrono::nanoseconds{1s} / per_s;
  const auto change_clients = [per_s](int by) {
    const std::lock_guard lock{clerks_mutex};
    Clerk& clerk = clerks[per_s];
    clerk.clients += by;
    if (clerk.clients == 0) clerk.free_at = {};  // those who stood in line have left
  };
  change_clients(1);
  open(peer);
  while (const auto frame = peer.next_frame()) {
    Clock::time_point done;
    {
      const std::lock_guard lock{clerks_mutex};
      Clerk& clerk = clerks[per_s];
      done = clerk.free_at = std::max(clerk.free_at, Clock::now()) + each;
    }
    wait_until(peer, done);
    if (peer.gone()) break;  // what it still had in line is nobody's
    peer.send_frame(frame->final, frame->opcode, frame->payload);
  }
  change_clients(-1);
}

void ping_flood(Peer& peer) {
  open(peer);
  std::string pings;
  for (int i = 0; i < kFloodPiece; ++i) pings += "\x89\x00"sv;
  for (int sent = 0; sent < kFloodPings && !peer.gone(); sent += kFloodPiece) peer.send(pings);
  echo(peer);
}

void flood(Peer& peer) {
  open(peer);
  for (int i = 0; i < kFloodMessages && !peer.has_spoken(); ++i)
    peer.send_frame(true, 1, "drop in the ocean");
  echo(peer);
}

void leave(Peer& peer, void (*how)(Peer&)) {
  open(peer);
  peer.pause(kOpenFor);
  how(peer);
}

}  // namespace

const std::vector<Fault>& service_faults() {
  static const std::vector<Fault> table{
      {"/echo", "a good echo",
       [](Peer& peer) {
         open(peer);
         echo(peer);
       }},
      {"/no-reply", "takes every message and answers none",
       [](Peer& peer) {
         open(peer);
         take_all(peer);
       }},
      {"/stall", "after the 101 reads nothing and sends nothing",
       [](Peer& peer) {
         open(peer);
         peer.wait_until_gone();
       }},
      {"/stall/3s", "an echo; a message `stall` freezes it for that long (any number goes), for everyone",
       stall_when_told},
      {"/capacity/500",
       "an echo of that many messages a second (any number goes) over all its connections, in turn",
       serve_so_many},
      {"/flood", "100,000 small messages as fast as they are read, or until the client speaks; then an echo",
       flood},
      {"/ping-flood", "100,000 pings, then an echo", ping_flood},
      {"/accept-then-reset", "RST 100 ms after the 101",
       [](Peer& peer) { leave(peer, [](Peer& p) { p.reset(); }); }},
      {"/accept-then-end", "FIN without close frame 100 ms after the 101",
       [](Peer& peer) { leave(peer, [](Peer& p) { p.end(); }); }},
      {"/mid-frame-end", "half a frame, then FIN",
       [](Peer& peer) {
         leave(peer, [](Peer& p) {
           p.send("\x81\x05he"sv);
           p.end();
         });
       }},
  };
  return table;
}

}  // namespace target
