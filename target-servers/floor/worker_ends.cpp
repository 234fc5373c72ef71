// How connections end, and how broadcasts reach those that have not.
#include <unistd.h>

#include "target-servers/floor/worker.h"

namespace target {

// It counts as gone before its peer can know.
void Worker::end_websocket(int descriptor, After after) {
  leave_path(descriptor);
  at(descriptor).path = Path::ended;
  at(descriptor).after = after;
}

void Worker::leave_path(int descriptor) {
  const Path path = at(descriptor).path;
  if (path == Path::http || path == Path::ended) return;
  add(counters_.connections, -1);
  if (path == Path::broadcast)
    fan_out_.leave(descriptor, [this](int d) -> std::uint32_t& { return at(d).place; });
}

void Worker::drop(int descriptor) {
  leave_path(descriptor);
  buffers_.give_back(at(descriptor).borrowed);
  at(descriptor) = {};
  close(descriptor);
}

void Worker::publish_broadcast(std::size_t bytes) {
  shared_.log().add(bytes);
  shared_.wake_others(index_);
}

// A slice of the broadcast under way. At its end the next one begins, in another turn.
void Worker::fan_out() {
  if (!fan_out_.under_way() || fan_out_.at_end()) {
    fan_out_.end();
    Broadcast next;
    std::uint32_t seq = fan_out_.seq() + 1;
    BroadcastLog::Found found = shared_.log().find(seq, next);
    // Overtaken by more than the log holds: on with the oldest that is there. Its members count what they
    // lost.
    while (found == BroadcastLog::Found::gone) found = shared_.log().find(++seq, next);
    if (found == BroadcastLog::Found::not_yet) return;
    fan_out_.begin(next);
  }
  for (std::size_t i = 0; i < FanOut::kSlice && !fan_out_.at_end(); ++i) give(fan_out_.next());
}

void Worker::give(int descriptor) {
  Connection& member = at(descriptor);
  const auto behind = static_cast<std::int32_t>(fan_out_.seq() - member.number);
  // One that joined later; or one that lags, and catches up when it has taken what it was given.
  if (behind <= 0 || has_unsent(descriptor)) return;
  add(counters_.broadcasts_dropped, behind - 1);
  member.number = fan_out_.seq();
  add(counters_.messages_out, 1);
  send(descriptor, fan_out_.frame().stamped());
}

void Worker::catch_up(int descriptor) {
  for (std::uint32_t seq = at(descriptor).number + 1; static_cast<std::int32_t>(fan_out_.seq() - seq) >= 0;
       ++seq) {
    Broadcast broadcast;
    if (shared_.log().find(seq, broadcast) != BroadcastLog::Found::here) continue;
    Connection& member = at(descriptor);
    add(counters_.broadcasts_dropped, seq - member.number - 1);
    member.number = seq;
    add(counters_.messages_out, 1);
    missed_.render(broadcast);
    if (!send(descriptor, missed_.stamped()) || has_unsent(descriptor)) return;
  }
}

}  // namespace target
