// What test_codec_websockets.py runs against Python's `websockets`: a client of nothing but core that sends
// messages of every size, has them echoed, asks for fragments, pings and closes. It prints what it saw as one
// line of JSON and exits 0 if that is what it should be; otherwise it says what went wrong on stderr.
#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstdio>

#include "tests/integration/codec_client.h"

namespace onrush {
namespace {

void require(bool held, const std::string& what) {
  if (!held) throw std::runtime_error{what};
}

int connect_to(const Url& url) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(url.port);
  require(::inet_pton(AF_INET, url.host.c_str(), &address.sin_addr) == 1, "the host is not an IPv4 address");
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  require(fd >= 0 && ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0,
          "cannot connect");
  return fd;
}

int echo_every_size(CodecClient& client) {
  int echoed = 0;
  for (const std::size_t size : {0u, 1u, 125u, 126u, 65535u, 65536u, 1u << 20}) {
    std::string text;
    while (text.size() + 3 <= size) text += text.size() % 7 == 0 ? "\xE2\x82\xAC" : "abc";
    text.append(size - text.size(), 'x');
    std::string bytes = text;
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 7);
    for (const Event& message : {Event{Opcode::text, text}, Event{Opcode::binary, bytes}}) {
      client.send(message.opcode, message.payload);
      require(client.receive_message() == message, "the echo of " + std::to_string(size) + " bytes differs");
      ++echoed;
    }
  }
  return echoed;
}

void run(const Url& url) {
  CodecClient client{connect_to(url)};
  const HandshakeVerdict verdict = client.upgrade(url);
  if (verdict.failure.cause != Cause::none) {
    std::printf("{\"refused\": \"%s\"}\n", describe(verdict.failure).c_str());
    return;
  }
  const int echoed = echo_every_size(client);

  // The server answers with the euro sign cut over three fragments and waits for the pong to its ping in
  // between.
  client.send(Opcode::text, "fragments");
  require(client.receive_message() == Event{Opcode::text, "\xE2\x82\xAC"}, "the fragments differ");
  const int pings_answered = client.pings_answered();

  client.send(Opcode::ping, "are you there");
  require(client.receive() == Event{Opcode::pong, "are you there"}, "the pong differs");

  client.send_close(4000, "b\xC3\xBF!");
  const Event close = client.receive_message();
  require(close.opcode == Opcode::close, "no close came back");
  const ClosePayload payload = parse_close(as_bytes(close.payload));
  require(payload.error.cause == Cause::none, "the close that came back is broken");
  std::printf("{\"echoed\": %d, \"pings_answered\": %d, \"close\": %d}\n", echoed, pings_answered,
              payload.code);
}

}  // namespace
}  // namespace onrush

int main(int argc, char** argv) try {
  if (argc != 2) throw std::runtime_error{"usage: codec-echo-client ws://ADDRESS:PORT/PATH"};
  const auto url = onrush::parse_url(argv[1]);
  if (!url) throw std::runtime_error{url.error()};
  onrush::run(*url);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "codec-echo-client: %s\n", error.what());
  return 1;
}
