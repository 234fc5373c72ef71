// What a server may not send once the connection is open, byte for byte; and what it may though few do.
#include <chrono>

#include "target-servers/faulty/faults.h"
#include "target-servers/faulty/peer.h"

namespace target {
namespace {

using namespace std::chrono_literals;
using namespace std::string_view_literals;

/// A good 101, these bytes, and then whatever the client has to say about them.
void violate(Peer& peer, std::string_view bytes) {
  open(peer);
  peer.send(bytes);
  take_all(peer);
}

void close_with(Peer& peer, std::string_view frame) {
  open(peer);
  peer.close_sent();
  peer.send(frame);
  take_all(peer);
}

/// Valid though odd: a whole message in these bytes, then an echo.
void greet(Peer& peer, std::string_view bytes) {
  open(peer);
  peer.message_sent();
  peer.send(bytes);
  echo(peer);
}

void huge_message(Peer& peer) {
  open(peer);
  const std::string body = std::string{"\x7E\x04\x00"sv} + std::string(1024, 'h');
  constexpr int kFragments = 17 * 1024;
  for (int i = 0; i < kFragments && !peer.gone(); ++i) {
    const std::string_view opcode = i == 0 ? "\x02"sv : i + 1 < kFragments ? "\x00"sv : "\x80"sv;
    peer.send(std::string{opcode} + body);
  }
  take_all(peer);
}

void close_split(Peer& peer) {
  open(peer);
  peer.close_sent();
  peer.set_gap(20ms);
  peer.send(
      "\x88\x05\x0F\xA0"
      "bye"sv);
  take_all(peer);
}

}  // namespace

const std::vector<Fault>& frame_faults() {
  static const std::vector<Fault> table{
      {"/masked", "a masked text frame",
       [](Peer& peer) { violate(peer, "\x81\x82\x01\x02\x03\x04\x69\x6B"sv); }},
      {"/masked-ping", "a masked ping", [](Peer& peer) { violate(peer, "\x89\x80\x01\x02\x03\x04"sv); }},
      {"/masked-close", "a masked close frame",
       [](Peer& peer) { violate(peer, "\x88\x82\x01\x02\x03\x04\x02\xEA"sv); }},
      {"/rsv1", "a text frame with RSV1", [](Peer& peer) { violate(peer, "\xC1\x02hi"sv); }},
      {"/rsv2", "a text frame with RSV2", [](Peer& peer) { violate(peer, "\xA1\x02hi"sv); }},
      {"/rsv3", "a text frame with RSV3", [](Peer& peer) { violate(peer, "\x91\x02hi"sv); }},
      {"/reserved-opcode", "opcode 3", [](Peer& peer) { violate(peer, "\x83\x00"sv); }},
      {"/bad-utf8", "a text that is not UTF-8", [](Peer& peer) { violate(peer, "\x81\x02\xC3\x28"sv); }},
      {"/bad-utf8-fragments", "a text that ends inside a character, in two fragments",
       [](Peer& peer) { violate(peer, "\x01\x01\xF0\x80\x00"sv); }},
      {"/split-utf8", "the euro sign cut by a fragment, then an echo",
       [](Peer& peer) { greet(peer, "\x01\x01\xE2\x80\x02\x82\xAC"sv); }},
      {"/long-control", "a ping of 126 bytes",
       [](Peer& peer) { violate(peer, std::string{"\x89\x7E\x00\x7E"sv} + std::string(126, 'p')); }},
      {"/fragmented-control", "a ping without FIN", [](Peer& peer) { violate(peer, "\x09\x01x"sv); }},
      {"/orphan-continuation", "a continuation of nothing", [](Peer& peer) { violate(peer, "\x80\x00"sv); }},
      {"/nested-message", "a text within an unfinished text",
       [](Peer& peer) { violate(peer, "\x01\x02he\x81\x01x"sv); }},
      {"/oversized", "the header of a frame of 1 GiB",
       [](Peer& peer) { violate(peer, "\x82\x7F\x00\x00\x00\x00\x40\x00\x00\x00"sv); }},
      {"/huge-message", "17 MiB in fragments of 1 KiB", huge_message},
      {"/bad-length", "a length with its top bit set",
       [](Peer& peer) { violate(peer, "\x82\x7F\x80\x00\x00\x00\x00\x00\x00\x01"sv); }},
      {"/long-length", "a length of 5 in two bytes",
       [](Peer& peer) { violate(peer, "\x81\x7E\x00\x05hello"sv); }},
      {"/extra-crlf", "an empty line behind the head", [](Peer& peer) { violate(peer, "\r\n"sv); }},
      {"/chunked-end", "the last chunk of a body that a 101 cannot have",
       [](Peer& peer) {
         peer.opened();
         peer.send(good_head(peer, "Transfer-Encoding: chunked\r\n") + "0\r\n\r\n");
         take_all(peer);
       }},
      {"/close-1-byte", "a close frame with one byte",
       [](Peer& peer) { close_with(peer, "\x88\x01\x03"sv); }},
      {"/close-bad-code", "a close frame with code 1005",
       [](Peer& peer) { close_with(peer, "\x88\x02\x03\xED"sv); }},
      {"/close-bad-utf8", "a close frame whose reason is not UTF-8",
       [](Peer& peer) { close_with(peer, "\x88\x04\x03\xE8\xC3\x28"sv); }},
      {"/close-no-code", "a close frame without code", [](Peer& peer) { close_with(peer, "\x88\x00"sv); }},
      {"/close-1001", "close 1001", [](Peer& peer) { close_with(peer, "\x88\x02\x03\xE9"sv); }},
      {"/close-1011", "close 1011 `heap`", [](Peer& peer) { close_with(peer, "\x88\x06\x03\xF3heap"sv); }},
      {"/close-4000", "close 4000 `bye`",
       [](Peer& peer) {
         close_with(peer,
                    "\x88\x05\x0F\xA0"
                    "bye"sv);
       }},
      {"/close-split", "close 4000 `bye`, a byte at a time", close_split},
      {"/accept-then-close", "close 1008 in the same segment as the 101",
       [](Peer& peer) {
         peer.opened();
         peer.close_sent();
         peer.send(good_head(peer) + std::string{"\x88\x02\x03\xF0"sv});
         take_all(peer);
       }},
      {"/fragments-with-pings", "`hello` in two fragments with a ping and a pong between, then an echo",
       [](Peer& peer) { greet(peer, "\x01\x02he\x89\x01x\x8A\x00\x80\x03llo"sv); }},
  };
  return table;
}

}  // namespace target
