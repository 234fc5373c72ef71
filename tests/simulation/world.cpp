#include "tests/simulation/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "core/check.h"
#include "core/handshake.h"

namespace onrush::simulation {
namespace {

constexpr std::uint8_t kCompressed = 0x40;  // RSV1, RFC 7692 section 6

// RFC 6455 section 5.2, the server's side: not masked, FIN set. `opcode`: with RSV1 if it is compressed.
std::string server_frame(std::uint8_t opcode, const std::string& payload) {
  std::string frame(1, static_cast<char>(0x80 | opcode));
  const std::size_t length = payload.size();
  if (length < 126) {
    frame += static_cast<char>(length);
  } else if (length < 65'536) {
    frame += static_cast<char>(126);
    frame += static_cast<char>(length >> 8);
    frame += static_cast<char>(length & 255);
  } else {
    frame += static_cast<char>(127);
    for (int shift = 56; shift >= 0; shift -= 8) frame += static_cast<char>(length >> shift & 255);
  }
  return frame + payload;
}

std::string nested(const std::string& begin, int deep) {
  std::string text;
  for (int level = 0; level < deep; ++level) text += begin;
  return text;
}

}  // namespace

std::int64_t SimulatedNetwork::now_ns() noexcept { return world_.now_ns() + clock_skew_ns_; }
std::int64_t SimulatedNetwork::wall_us() noexcept {
  return World::kWall0_us + world_.now_ns() / 1000 + wall_skew_us_;
}

std::span<const NetworkEvent> SimulatedNetwork::wait(std::int64_t until_ns) noexcept {
  until_ns_ = until_ns - clock_skew_ns_;
  busy_ = woken_ || !pending_.empty() || until_ns_ <= world_.now_ns();
  woken_ = false;
  events_.clear();
  for (const auto& [descriptor, event] : pending_) events_.push_back(event);
  pending_.clear();
  return events_;
}

void SimulatedNetwork::tell(const Connection& connection, bool readable, bool writable) {
  if (connection.gone) return;
  NetworkEvent& event = pending_[connection.descriptor];
  event.token = connection.token;
  event.readable |= readable;
  event.writable |= writable;
  event.ended |= connection.ended || connection.error != 0;
}

Network::Begun SimulatedNetwork::connect(const Endpoint&, const Endpoint&, SocketToken token,
                                         std::span<const std::uint8_t> first) noexcept {
  connects_ns_.push_back(now_ns());
  if (world_.connect_takes_ns() > 0) world_.move_to(world_.now_ns() + world_.connect_takes_ns());
  if (const int error = world_.own_limit(); error != 0) return {-error};
  const Connection& made = world_.add(*this, token);
  if (!made.established) return {made.descriptor};
  if (first.empty()) {
    tell(made, false, true);
    return {made.descriptor};
  }
  const std::ptrdiff_t put = write(made.descriptor, first);
  if (put <= 0) return {made.descriptor};
  return {made.descriptor, now_ns(), static_cast<std::size_t>(put)};
}

int SimulatedNetwork::finish_connect(int descriptor) noexcept {
  Connection& connection = world_.connection(descriptor);
  return connection.established ? 0 : -connection.error;
}

std::ptrdiff_t SimulatedNetwork::read(int descriptor, std::span<std::uint8_t> into) noexcept {
  Connection& connection = world_.connection(descriptor);
  if (connection.to_client.empty()) {
    if (connection.error != 0) return -connection.error;
    return connection.ended ? 0 : -EAGAIN;
  }
  std::size_t length = std::min(into.size(), connection.to_client.size());
  if (connection.one_byte) length = 1;
  std::copy_n(connection.to_client.begin(), length, into.begin());
  connection.to_client.erase(0, length);
  // What was held back comes as if it had only just arrived.
  if (!connection.to_client.empty()) tell(connection, true, false);
  return static_cast<std::ptrdiff_t>(length);
}

std::ptrdiff_t SimulatedNetwork::write(int descriptor, std::span<const std::uint8_t> bytes) noexcept {
  Connection& connection = world_.connection(descriptor);
  if (connection.error != 0) return -connection.error;
  if (connection.no_buffer && connection.upgraded) return -ENOBUFS;
  std::size_t length = bytes.size();
  if (connection.short_writes) {
    length = static_cast<std::size_t>(world_.random().between(0, static_cast<std::int64_t>(length)));
    if (length < bytes.size()) {
      const int which = descriptor;
      world_.at(world_.now_ns() + world_.random().between(1'000, 3'000'000), [this, which] {
        if (Connection& waiting = world_.connection(which); !waiting.gone) tell(waiting, false, true);
      });
    }
    if (length == 0) return -EAGAIN;
  }
  if (length > connection.room) {
    connection.wants_room = true;
    length = connection.room;
    if (length == 0) return -EAGAIN;
  }
  if (connection.room != Connection::kUnlimited) connection.room -= length;
  world_.carry(connection, {reinterpret_cast<const char*>(bytes.data()), length});
  return static_cast<std::ptrdiff_t>(length);
}

void SimulatedNetwork::close(int descriptor, bool) noexcept {
  Connection& connection = world_.connection(descriptor);
  world_.close(connection);
  pending_.erase(descriptor);
}

std::int64_t World::next_ns() const noexcept {
  return agenda_.empty() ? std::numeric_limits<std::int64_t>::max() : agenda_.begin()->first;
}

void World::move_to(std::int64_t at_ns) {
  while (!agenda_.empty() && agenda_.begin()->first <= at_ns) {
    now_ns_ = std::max(now_ns_, agenda_.begin()->first);
    const std::function<void()> what = std::move(agenda_.begin()->second);
    agenda_.erase(agenda_.begin());
    what();
  }
  now_ns_ = std::max(now_ns_, at_ns);
}

Connection& World::connection(int descriptor) { return *connections_.at(descriptor); }

void World::close(Connection& connection) {
  ONRUSH_CHECK(!connection.gone);
  connection.gone = true;
  --open_sockets_;
}

void World::close_all_of(const SimulatedNetwork& network) {
  for (const auto& [descriptor, connection] : connections_)
    if (connection->network == &network && !connection->gone) close(*connection);
}

Connection& World::add(SimulatedNetwork& network, SocketToken token) {
  const int descriptor = next_descriptor_++;
  Connection& made = *(connections_[descriptor] = std::make_unique<Connection>());
  made.descriptor = descriptor;
  ++open_sockets_;
  made.network = &network;
  made.token = token;
  made.room = room_;
  decide_fate(made);
  if (tls_) made.secure = std::make_unique<SecureEnd>(*tls_);
  // Half of the connections are there at once, as on loopback.
  if (!made.refuse && happens(0.5)) {
    made.established = true;
    return made;
  }
  at(now_ns_ + 2 * delay_ns(), [&made] {
    if (made.gone) return;
    if (made.refuse) made.error = made.to_self ? ELOOP : ECONNREFUSED;
    made.established = !made.refuse;
    made.network->tell(made, made.refuse, true);
  });
  return made;
}

void World::decide_fate(Connection& c) {
  c.refuse = happens(faults_.refuse);
  c.silent = happens(faults_.silent);
  c.refuse_upgrade = happens(faults_.status_503);
  c.one_byte = happens(faults_.one_byte_reads);
  c.short_writes = happens(faults_.short_writes);
  c.mute = happens(faults_.mute_on_close);
  c.to_self = c.refuse && faults_.connect_to_self > 0 && happens(faults_.connect_to_self);
  c.no_buffer = faults_.no_buffer > 0 && happens(faults_.no_buffer);
  if (happens(faults_.reset_mid_frame)) c.replies_to_reset = static_cast<int>(random_.between(0, 5));
  if (happens(faults_.close_1011)) c.replies_to_close = static_cast<int>(random_.between(0, 5));
}

void World::carry(Connection& connection, std::string bytes) {
  std::int64_t& last = last_arrival_ns_[connection.descriptor];
  last = std::max(last + 1, now_ns_ + delay_ns());
  at(last, [this, &connection, bytes = std::move(bytes)] { arrived(connection, bytes); });
}

void World::arrived(Connection& connection, const std::string& bytes) {
  if (connection.secure != nullptr) {
    connection.from_client += connection.secure->open(bytes);
    if (const std::string own = connection.secure->said(); !own.empty()) send_wire(connection, own, false);
  } else {
    connection.from_client += bytes;
  }
  connection.heard_ns = now_ns_;
  if (idle_cut_ns_ > 0)
    at(now_ns_ + idle_cut_ns_, [this, &connection] {
      if (connection.gone || now_ns_ - connection.heard_ns < idle_cut_ns_) return;
      connection.ended = true;
      connection.network->tell(connection, true, false);
    });
  if (now_ns_ >= frozen_from_ns_ && now_ns_ < frozen_until_ns_) {
    at(frozen_until_ns_, [this, &connection] { take_apart(connection); });
    return;
  }
  take_apart(connection);
}

void World::take_apart(Connection& c) {
  if (c.silent) return;
  if (!c.upgraded) {
    const std::size_t end = c.from_client.find("\r\n\r\n");
    if (end == std::string::npos) return;
    answer_upgrade(c, end + 4);
  }
  while (c.upgraded && c.from_client.size() >= 6) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(c.from_client[i]); };
    const std::uint8_t flags = byte(0) & 0xf0;  // FIN, no RSV but the first, masked
    ONRUSH_CHECK((flags == 0x80 || (c.deflates && flags == 0xC0)) && (byte(1) & 0x80) != 0);
    std::size_t length = byte(1) & 127, head = 2;
    if (length == 126)
      length = std::size_t{byte(2)} << 8 | byte(3), head = 4;
    else
      ONRUSH_CHECK(length < 126);
    if (c.from_client.size() < head + 4 + length) return;
    std::string payload = c.from_client.substr(head + 4, length);
    for (std::size_t i = 0; i < length; ++i)
      payload[i] = static_cast<char>(static_cast<std::uint8_t>(payload[i]) ^ byte(head + i % 4));
    const std::uint8_t first_byte = byte(0);
    c.from_client.erase(0, head + 4 + length);
    message(c, first_byte, payload);
  }
}

void World::answer_upgrade(Connection& c, std::size_t head_bytes) {
  const std::string head = c.from_client.substr(0, head_bytes);
  c.from_client.erase(0, head_bytes);
  if (head.starts_with("CONNECT ")) return send(c, "HTTP/1.1 200 OK\r\n\r\n");  // it is its own proxy
  const std::string field = "Sec-WebSocket-Key: ";
  const std::size_t key = head.find(field);
  ONRUSH_CHECK(head.starts_with("GET ") && key != std::string::npos);
  c.path = head.substr(4, head.find(' ', 4) - 4);
  if (c.refuse_upgrade) return send(c, "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n", true);
  if (refusals_ > 0) {
    --refusals_;
    return send(c, "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n", true);
  }
  c.upgraded = true;
  ++handshakes_;
  // Of what may be asked for, it grants that no context goes on.
  std::string extensions;
  if (c.path == "/echo" && head.find("permessage-deflate") != std::string::npos) {
    c.deflates = true;
    extensions = "Sec-WebSocket-Extensions: permessage-deflate";
    if (head.find("server_no_context_takeover") != std::string::npos)
      extensions += "; server_no_context_takeover";
    extensions += "\r\n";
  }
  send(c, fmt::format("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                      "Sec-WebSocket-Accept: {}\r\n{}{}\r\n",
                      accept_of(head.substr(key + field.size(), 24)),
                      subprotocol_.empty() ? "" : "Sec-WebSocket-Protocol: " + subprotocol_ + "\r\n",
                      extensions));
  if (!closing_.empty()) send(c, server_frame(8, closing_), true);
  if (c.path != "/graphql") return;
  for (const std::string& text : answers_("open")) say(c, text);
}

void World::message(Connection& c, std::uint8_t first_byte, const std::string& payload) {
  const std::uint8_t opcode = first_byte & 15;
  if (opcode == 8) {
    if (!c.mute) send(c, server_frame(8, payload.substr(0, 2)), true);
    return;
  }
  if (opcode == 9) {
    ++pings_;
    const bool stray = c.path == "/stray-pongs";
    if (stray) send(c, server_frame(10, "x") + server_frame(10, "") + server_frame(10, std::string(8, 'y')));
    if (!stray) send(c, server_frame(10, payload));
    return;
  }
  if (opcode != 1 && opcode != 2) return;
  ++messages_in_;
  if (hears_) hears_(payload);
  if (c.path == "/broadcast") {
    if (payload == "broadcast") broadcast();
    return;
  }
  if (c.path == "/graphql")
    for (const std::string& text : answers_(payload)) say(c, text);
  if (c.path == "/echo") reply(c, server_frame(first_byte & (kCompressed | 15), payload));
  if (c.path == "/lies") lie(c);
  if (c.path == "/deep") reply(c, server_frame(1, nested(payload == "objects" ? R"({"a":)" : "[", 10'000)));
}

// It breaks the protocol and then pours on, 25 MB a second for two seconds, whatever it is told.
void World::lie(Connection& c) {
  constexpr std::int64_t kPause_ns = 10'000'000;
  constexpr std::size_t kPoured = 256 * 1024;
  send(c, "\xf1");
  c.mute = true;
  for (int i = 1; i <= 200; ++i)
    at(now_ns_ + i * kPause_ns, [this, descriptor = c.descriptor] {
      const auto found = connections_.find(descriptor);
      if (found != connections_.end() && !found->second->gone)
        send(*found->second, std::string(kPoured, 'x'));
    });
}

void World::say(Connection& c, const std::string& text) {
  if (!text.starts_with("close ")) return reply(c, server_frame(1, text));
  const int code = std::stoi(text.substr(6));
  send(c, server_frame(8, std::string{static_cast<char>(code >> 8), static_cast<char>(code & 255)}), true);
}

void World::reply(Connection& c, const std::string& frame) {
  if (c.replies_to_reset == 0) {
    send(c, frame.substr(0, frame.size() / 2));
    return reset(c);
  }
  if (c.replies_to_close == 0) return send(c, server_frame(8, "\x03\xf3 overloaded"), true);
  --c.replies_to_reset;
  --c.replies_to_close;
  ++messages_out_;
  send(c, frame);
}

void World::stop_reading(std::int64_t from_ns, std::int64_t until_ns, std::size_t room) {
  freeze(from_ns, until_ns);
  const auto give = [this](std::size_t bytes) {
    room_ = bytes;
    for (const auto& [descriptor, c] : connections_) {
      c->room = bytes;
      if (bytes == Connection::kUnlimited && std::exchange(c->wants_room, false))
        c->network->tell(*c, false, true);
    }
  };
  at(from_ns, [give, room] { give(room); });
  at(until_ns, [give] { give(Connection::kUnlimited); });
}

void World::end_all(End how) {
  for (const auto& [descriptor, c] : connections_) {
    if (c->gone) continue;
    if (how == End::reset)
      c->error = ECONNRESET;
    else
      c->ended = true;
    if (how == End::close_frame) {
      const std::string frame = server_frame(8, "\x03\xe9");
      c->to_client += c->secure == nullptr ? frame : c->secure->seal(frame);
    }
    c->silent = true;
    c->network->tell(*c, true, how == End::reset);
  }
}

void World::flood(const std::string& path, std::uint32_t messages, std::size_t bytes) {
  const std::string one = server_frame(2, std::string(bytes, 'x'));
  std::string all;
  for (std::uint32_t m = 0; m < messages; ++m) all += one;
  for (const auto& [descriptor, c] : connections_) {
    if (c->gone || !c->upgraded || c->path != path) continue;
    messages_out_ += messages;
    send(*c, all);
  }
}

void World::say(const std::string& path, const std::string& bytes) {
  for (const auto& [descriptor, c] : connections_)
    if (!c->gone && c->upgraded && c->path == path) send(*c, bytes);
}

void World::broadcast() {
  ++sequence_;
  const std::int64_t batch_us = kWall0_us + now_ns_ / 1000;
  for (const auto& [descriptor, c] : connections_) {
    if (c->gone || !c->upgraded || c->path != "/broadcast") continue;
    ++messages_out_;
    send(*c, server_frame(1, fmt::format(R"({{"seq":{},"batch_us":{},"sent_us":{}}})", sequence_, batch_us,
                                         batch_us)));
  }
}

void World::send(Connection& connection, const std::string& bytes, bool then_end) {
  send_wire(connection, connection.secure == nullptr ? bytes : connection.secure->seal(bytes), then_end);
}

void World::send_wire(Connection& connection, const std::string& bytes, bool then_end) {
  std::int64_t& last = last_arrival_ns_[-connection.descriptor];
  last = std::max(last + 1, now_ns_ + delay_ns());
  at(last, [&connection, bytes, then_end] {
    if (connection.gone) return;
    connection.to_client += bytes;
    connection.ended |= then_end;
    connection.network->tell(connection, true, false);
  });
}

void World::reset(Connection& connection) {
  std::int64_t& last = last_arrival_ns_[-connection.descriptor];
  connection.silent = true;
  at(++last, [&connection] {
    if (connection.gone) return;
    connection.error = ECONNRESET;
    connection.network->tell(connection, true, true);
  });
}

}  // namespace onrush::simulation
