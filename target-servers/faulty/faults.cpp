#include "target-servers/faulty/faults.h"

#include <openssl/evp.h>

#include <array>

#include "target-servers/faulty/peer.h"

namespace target {

const Fault* find_fault(std::string_view path) {
  // The parameter of these stands in the path; every other path stands for itself.
  if (path.substr(0, 8) == "/status/") path = "/status/503";
  if (path.substr(0, 7) == "/stall/") path = "/stall/3s";
  if (path.substr(0, 10) == "/capacity/") path = "/capacity/500";
  for (const auto* table : {&head_faults(), &frame_faults(), &service_faults()})
    for (const Fault& fault : *table)
      if (fault.path == path) return &fault;
  return nullptr;
}

std::string list_of_faults() {
  std::string list;
  for (const auto* table : {&head_faults(), &frame_faults(), &service_faults()})
    for (const Fault& fault : *table) {
      list += fault.path;
      list.append(fault.path.size() < 24 ? 24 - fault.path.size() : 1, ' ');
      list += fault.does;
      list += '\n';
    }
  return list;
}

std::string accept_of(std::string_view key) {
  const std::string salted = std::string{key} + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  EVP_Digest(salted.data(), salted.size(), digest.data(), &size, EVP_sha1(), nullptr);
  std::array<unsigned char, 64> text;
  const int length = EVP_EncodeBlock(text.data(), digest.data(), static_cast<int>(size));
  return {reinterpret_cast<const char*>(text.data()), static_cast<std::size_t>(length)};
}

std::string good_head(const Peer& peer, std::string_view extra) {
  return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
         "Sec-WebSocket-Accept: " +
         accept_of(peer.request().key) + "\r\n" + std::string{extra} + "\r\n";
}

void open(Peer& peer) {
  peer.opened();
  peer.send(good_head(peer));
}

void echo(Peer& peer) {
  while (const auto frame = peer.next_frame()) peer.send_frame(frame->final, frame->opcode, frame->payload);
}

void take_all(Peer& peer) {
  while (peer.next_frame()) {
  }
}

}  // namespace target
