#include "target-servers/floor/http.h"

#include <strings.h>

#include <stdexcept>

namespace target {
namespace {

bool same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t";
  const std::size_t from = text.find_first_not_of(kBlank);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kBlank) - from + 1);
}

/// What stands before `end`; `text` goes on after it.
std::string_view cut(std::string_view& text, std::string_view end) {
  const std::size_t at = text.find(end);
  const std::string_view before = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + end.size());
  return before;
}

bool lists(std::string_view values, std::string_view word) {
  while (!values.empty())
    if (same(trimmed(cut(values, ",")), word)) return true;
  return false;
}

}  // namespace

Request read_request(std::string_view head) {
  Request request;
  std::string_view line = cut(head, "\r\n");
  const std::string_view method = cut(line, " ");
  std::string_view target = cut(line, " ");
  if (line != "HTTP/1.1" && line != "HTTP/1.0") return request;
  request.method = method;
  request.path = cut(target, "?");
  request.keep_alive = line == "HTTP/1.1";
  bool upgrade = false;
  bool connection = false;
  bool version = false;
  std::string_view key;
  while (!head.empty()) {
    std::string_view value = cut(head, "\r\n");
    const std::string_view name = cut(value, ":");
    value = trimmed(value);
    if (same(name, "upgrade"))
      upgrade = lists(value, "websocket");
    else if (same(name, "connection")) {
      connection = connection || lists(value, "upgrade");
      if (lists(value, "close")) request.keep_alive = false;
    } else if (same(name, "sec-websocket-key"))
      key = value;
    else if (same(name, "sec-websocket-version"))
      version = value == "13";
    else if (same(name, "transfer-encoding") || (same(name, "content-length") && value != "0"))
      request.has_body = true;
  }
  constexpr std::size_t kKeyLetters = 24;  // 16 bytes in base64
  if (method == "GET" && upgrade && connection && version && key.size() == kKeyLetters) request.key = key;
  return request;
}

std::string answer(std::string_view status, std::string_view type, std::string_view body, bool keep_alive) {
  std::string text = "HTTP/1.1 ";
  text.append(status).append("\r\nContent-Type: ").append(type);
  text.append("\r\nContent-Length: ").append(std::to_string(body.size()));
  if (!keep_alive) text.append("\r\nConnection: close");
  return text.append("\r\n\r\n").append(body);
}

Acceptor::Acceptor() : sha1_{EVP_MD_fetch(nullptr, "SHA1", nullptr)}, context_{EVP_MD_CTX_new()} {
  if (!sha1_ || !context_) throw std::runtime_error{"this OpenSSL has no SHA-1"};
}

void Acceptor::append_answer(std::string& out, std::string_view key) {
  constexpr std::string_view kGuid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned digest_bytes = 0;
  EVP_DigestInit_ex2(context_.get(), sha1_.get(), nullptr);
  EVP_DigestUpdate(context_.get(), key.data(), key.size());
  EVP_DigestUpdate(context_.get(), kGuid.data(), kGuid.size());
  EVP_DigestFinal_ex(context_.get(), digest, &digest_bytes);
  unsigned char letters[2 * EVP_MAX_MD_SIZE];
  const int count = EVP_EncodeBlock(letters, digest, static_cast<int>(digest_bytes));
  out.append(
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Accept: ");
  out.append(reinterpret_cast<const char*>(letters), static_cast<std::size_t>(count)).append("\r\n\r\n");
}

}  // namespace target
