// What can go wrong, or be odd but right, before the connection is open.
#include <chrono>
#include <random>

#include "target-servers/faulty/faults.h"
#include "target-servers/faulty/peer.h"

namespace target {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kEndlessBytes = std::size_t{64} << 20;

/// Answers with this head, which no client may accept.
void refuse(Peer& peer, const std::string& head) {
  peer.send(head);
  peer.wait_until_gone();
}

/// Answers with this head, which every client must accept, then echoes.
void accept(Peer& peer, const std::string& head) {
  peer.opened();
  peer.send(head);
  echo(peer);
}

/// A 101 out of lines: whatever stands in for those that a good one has.
std::string head_of(std::string_view lines) {
  return "HTTP/1.1 101 Switching Protocols\r\n" + std::string{lines} + "\r\n";
}

std::string accept_line(const Peer& peer) {
  return "Sec-WebSocket-Accept: " + accept_of(peer.request().key) + "\r\n";
}

void status(Peer& peer) {
  const std::string number = peer.request().path.substr(std::string_view{"/status/"}.size());
  const std::string body = number == "503" ? "too many clients\n" : "status " + number + "\n";
  std::string extra;
  if (number[0] == '3') extra = "Location: ws://elsewhere.test/echo\r\n";
  if (number == "429" || number == "503") extra = "Retry-After: 1\r\n";
  peer.send("HTTP/1.1 " + number + " As Asked\r\nContent-Type: text/plain\r\nContent-Length: " +
            std::to_string(body.size()) + "\r\n" + extra + "Connection: close\r\n\r\n" + body);
}

void not_http(Peer& peer) {
  std::mt19937 random{7};  // any bytes, but the same ones each time
  std::string bytes = "\x05";
  while (bytes.size() < 64) bytes += static_cast<char>(random());
  refuse(peer, bytes);
}

void endless_head(Peer& peer) {
  peer.send("HTTP/1.1 101 Switching Protocols\r\nX-Endless: ");
  const std::string piece(1024, 'a');
  for (std::size_t sent = 0; sent < kEndlessBytes && !peer.has_spoken(); sent += piece.size())
    peer.send(piece);
}

void dribble(Peer& peer) {
  peer.set_gap(1ms);
  accept(peer, good_head(peer));
}

void dribble_slow(Peer& peer) {
  peer.set_gap(5s);
  refuse(peer, good_head(peer));
}

void head_and_frame(Peer& peer) {
  peer.opened();
  peer.message_sent();
  peer.send(good_head(peer) + "\x81\x07welcome");
  echo(peer);
}

void lower_case(Peer& peer) {
  accept(peer,
         "HTTP/1.1 101 switching protocols\r\nupgrade: WEBSOCKET\r\nconnection: upgrade\r\n"
         "sec-websocket-accept: " +
             accept_of(peer.request().key) + "\r\n\r\n");
}

}  // namespace

const std::vector<Fault>& head_faults() {
  static const std::vector<Fault> table{
      {"/reset-in-handshake", "RST after the request", [](Peer& peer) { peer.reset(); }},
      {"/close-in-handshake", "FIN after the request", [](Peer&) {}},
      {"/status/503", "that status (any number goes) with a short body; 3xx with a Location", status},
      {"/http10-503", "HTTP/1.0 503",
       [](Peer& peer) { peer.send("HTTP/1.0 503 Busy\r\nContent-Length: 0\r\n\r\n"); }},
      {"/http10-101", "a 101 that claims to be HTTP/1.0",
       [](Peer& peer) { refuse(peer, good_head(peer).replace(0, 8, "HTTP/1.0")); }},
      {"/not-http", "64 bytes of noise", not_http},
      {"/wrong-accept", "the hash of another key",
       [](Peer& peer) {
         refuse(peer, head_of("Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " +
                              accept_of("another key") + "\r\n"));
       }},
      {"/no-accept", "no Sec-WebSocket-Accept",
       [](Peer& peer) { refuse(peer, head_of("Upgrade: websocket\r\nConnection: Upgrade\r\n")); }},
      {"/no-upgrade", "no Upgrade",
       [](Peer& peer) { refuse(peer, head_of("Connection: Upgrade\r\n" + accept_line(peer))); }},
      {"/no-connection", "no Connection",
       [](Peer& peer) { refuse(peer, head_of("Upgrade: websocket\r\n" + accept_line(peer))); }},
      {"/connection-upgradex", "Connection: Upgradex",
       [](Peer& peer) {
         refuse(peer, head_of("Upgrade: websocket\r\nConnection: Upgradex\r\n" + accept_line(peer)));
       }},
      {"/unasked-protocol", "a subprotocol that nobody offered",
       [](Peer& peer) { refuse(peer, good_head(peer, "Sec-WebSocket-Protocol: x-unasked\r\n")); }},
      {"/unasked-extension", "an extension that nobody offered",
       [](Peer& peer) { refuse(peer, good_head(peer, "Sec-WebSocket-Extensions: x-unasked\r\n")); }},
      {"/no-colon", "a header line without a colon",
       [](Peer& peer) { refuse(peer, good_head(peer, "X-Without-Colon\r\n")); }},
      {"/huge-head", "a whole 101 with one header of 64 KiB",
       [](Peer& peer) { refuse(peer, good_head(peer, "X-Huge: " + std::string(65536, 'a') + "\r\n")); }},
      {"/endless-head", "a header that does not end", endless_head},
      {"/dribble", "a good 101, then an echo, all a byte at a time", dribble},
      {"/dribble-slow", "a good 101, a byte every 5 s", dribble_slow},
      {"/silent", "no answer", [](Peer& peer) { peer.wait_until_gone(); }},
      {"/half-head", "HTTP/1.1 1 and no more", [](Peer& peer) { refuse(peer, "HTTP/1.1 1"); }},
      {"/head-and-frame", "101 and a message `welcome` in one segment, then an echo", head_and_frame},
      {"/lower-case", "names in lower case, WEBSOCKET in upper, then an echo", lower_case},
      {"/no-reason", "a 101 without reason phrase, then an echo",
       [](Peer& peer) { accept(peer, "HTTP/1.1 101\r\n" + good_head(peer).substr(34)); }},
      {"/keep-alive-upgrade", "Connection: keep-alive, Upgrade, then an echo",
       [](Peer& peer) {
         accept(peer,
                head_of("Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n" + accept_line(peer)));
       }},
      {"/two-connections", "two Connection lines, Upgrade in the second, then an echo",
       [](Peer& peer) {
         accept(peer, head_of("Upgrade: websocket\r\nConnection: keep-alive\r\nConnection: upgrade\r\n" +
                              accept_line(peer)));
       }},
      {"/content-length", "a 101 with Content-Length: 5, which means nothing, then an echo",
       [](Peer& peer) { accept(peer, good_head(peer, "Content-Length: 5\r\n")); }},
  };
  return table;
}

}  // namespace target
