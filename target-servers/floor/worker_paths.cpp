// From bytes to requests and messages, and what each path does with them.
#include <algorithm>
#include <utility>

#include "target-servers/floor/worker.h"

namespace target {

void Worker::received(int descriptor, std::span<char> bytes) {
  out_.clear();
  while (!bytes.empty() && at(descriptor).path == Path::http && at(descriptor).after == After::stay)
    bytes = head_received(descriptor, bytes);
  const Path path = at(descriptor).path;
  if (path != Path::http && path != Path::ended) frames_received(descriptor, bytes);
  return_if_at_rest(descriptor);
  if (out_.empty()) return;
  send(descriptor, out_);
  constexpr std::size_t kKeptBytes = std::size_t{1} << 20;
  if (out_.capacity() > kKeptBytes) std::string{}.swap(out_);
}

/// What follows the head, if it is complete.
std::span<char> Worker::head_received(int descriptor, std::span<char> bytes) {
  constexpr std::string_view kEnd = "\r\n\r\n";
  std::string_view head{bytes.data(), bytes.size()};
  std::string* kept = nullptr;
  std::size_t before = 0;
  if (at(descriptor).borrowed != 0) {
    kept = &borrowed(descriptor).head;
    before = kept->size();
    head = kept->append(head);
  }
  const std::size_t end = head.find(kEnd, before - std::min(before, kEnd.size() - 1));
  if (end > kMaxHeadBytes) {  // or not there: npos
    if (head.size() > kMaxHeadBytes) {
      out_.append(answer("431 Request Header Fields Too Large", "text/plain", "too large\n", false));
      at(descriptor).after = After::linger;
    } else if (kept == nullptr) {
      borrowed(descriptor).head.assign(head);
    }
    return {};
  }
  requested(descriptor, head.substr(0, end + kEnd.size()));
  if (kept != nullptr) kept->clear();
  return bytes.subspan(end + kEnd.size() - before);
}

void Worker::requested(int descriptor, std::string_view head) {
  const Request request = read_request(head);
  if (request.method.empty()) {
    out_.append(answer("400 Bad Request", "text/plain", "not HTTP\n", false));
    at(descriptor).after = After::linger;
    return;
  }
  if (!request.key.empty()) {
    if (request.path == "/echo") return opened(descriptor, Path::echo, request.key);
    if (request.path == "/broadcast") return opened(descriptor, Path::broadcast, request.key);
    if (request.path == "/publish") return opened(descriptor, Path::publish, request.key);
  }
  const bool keep_alive = request.keep_alive && !request.has_body && request.method == "GET";
  if (!keep_alive) at(descriptor).after = After::linger;
  if (request.path == "/stats" && request.method == "GET")
    out_.append(answer("200 OK", "application/json", shared_.stats(), keep_alive));
  else
    out_.append(
        answer("404 Not Found", "text/plain", request.method == "HEAD" ? "" : "not found\n", keep_alive));
}

// Joined and counted before the 101 is written: who has seen it gets every broadcast that begins after.
void Worker::opened(int descriptor, Path path, std::string_view key) {
  Connection& connection = at(descriptor);
  connection.path = path;
  add(counters_.connections, 1);
  if (path == Path::publish) connection.number = ++last_topic_;
  if (path == Path::broadcast) {
    connection.number = shared_.log().last();
    fan_out_.join(descriptor, [this](int d) -> std::uint32_t& { return at(d).place; });
  }
  acceptor_.append_answer(out_, key);
}

void Worker::frames_received(int descriptor, std::span<char> bytes) {
  const std::uint32_t lent = at(descriptor).borrowed;
  Incoming& incoming = lent != 0 ? buffers_[lent].incoming : fresh_;
  for (;;) {
    switch (incoming.next(bytes)) {
      case Incoming::Event::more:
        if (lent == 0 && !incoming.at_rest()) {
          borrowed(descriptor).incoming = std::move(fresh_);
          fresh_ = {};
        }
        return;
      case Incoming::Event::message:
        add(counters_.messages_in, 1);
        message_received(descriptor, incoming.text(), incoming.message());
        incoming.taken();
        break;
      case Incoming::Event::ping: append_frame(out_, Opcode::pong, incoming.control()); break;
      case Incoming::Event::pong: break;
      case Incoming::Event::close:
        append_close(out_, incoming.code());
        incoming = {};
        return end_websocket(descriptor, After::close);
      case Incoming::Event::broken:
        append_close(out_, incoming.code());
        incoming = {};
        return end_websocket(descriptor, After::linger);
    }
  }
}

void Worker::message_received(int descriptor, bool text, std::string_view message) {
  switch (at(descriptor).path) {
    case Path::echo:
      add(counters_.messages_out, 1);
      return append_frame(out_, text ? Opcode::text : Opcode::binary, message);
    case Path::broadcast:
      if (const auto bytes = text ? parse_broadcast(message) : std::nullopt) publish_broadcast(*bytes);
      return;
    case Path::publish:
      if (text) publications_.push_back({descriptor, at(descriptor).number, std::string{message}});
      return;
    default: return;
  }
}

// A topic has one subscriber, the connection that it is named after. It may be gone, and its descriptor
// another's.
void Worker::deliver_publications() {
  for (const Publication& publication : publications_) {
    const Connection& subscriber = at(publication.descriptor);
    if (subscriber.path != Path::publish || subscriber.number != publication.topic) continue;
    add(counters_.messages_out, 1);
    out_.clear();
    append_frame(out_, Opcode::text, publication.text);
    send(publication.descriptor, out_);
  }
  publications_.clear();
}

}  // namespace target
