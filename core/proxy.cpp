#include "core/proxy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "core/nearest.h"
#include "core/trace.h"
#include "core/upgrade_head.h"

namespace onrush {
namespace {

constexpr std::string_view kScheme = "http://";
constexpr std::size_t kShownBytes = 200;

int hex(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> unescaped(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      bytes += text[i];
      continue;
    }
    if (i + 2 >= text.size() || hex(text[i + 1]) < 0 || hex(text[i + 2]) < 0) return std::nullopt;
    bytes += static_cast<char>(hex(text[i + 1]) * 16 + hex(text[i + 2]));
    i += 2;
  }
  return bytes;
}

// RFC 4648 section 4.
std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      text += i + k <= bytes.size() ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::string_view take_line(std::string_view& rest) noexcept {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

HandshakeVerdict refused(Cause cause, std::string_view shown, std::uint32_t detail = 0) {
  return {{Phase::proxy, cause, detail}, escaped(shown, kShownBytes)};
}

}  // namespace

Expected<Proxy, UrlError> parse_proxy(std::string_view text) {
  const auto refuse = [](std::size_t offset, std::string why) {
    return Unexpected{UrlError{offset, std::move(why)}};
  };
  if (text.substr(0, kScheme.size()) != kScheme)
    return refuse(0, "only http:// proxies are supported; write http://[USER:PASSWORD@]HOST:PORT");
  std::size_t host_at = kScheme.size();
  Proxy proxy;
  const std::size_t at = text.rfind('@');
  if (at != std::string_view::npos) {
    proxy.user_info = text.substr(host_at, at - host_at);
    const std::size_t colon = proxy.user_info.find(':');
    const auto user = unescaped(std::string_view{proxy.user_info}.substr(0, colon));
    const auto password = colon == std::string::npos
                              ? std::string{}
                              : unescaped(std::string_view{proxy.user_info}.substr(colon + 1));
    if (!user || !password)
      return refuse(host_at, "'%' in user or password is not followed by two hex digits; write %25");
    // RFC 7617 section 2: the first colon ends the user.
    if (user->find(':') != std::string::npos) return refuse(host_at, "the user may not have a ':'");
    proxy.authorization = "Basic " + base64(*user + ":" + *password);
    host_at = at + 1;
  }
  std::string_view host = text.substr(host_at);
  if (!host.empty() && host.back() == '/') host.remove_suffix(1);
  if (const std::size_t slash = host.find_first_of("/?#"); slash != std::string_view::npos)
    return refuse(host_at + slash, "a proxy has no path; write http://HOST:PORT");
  auto url = parse_url_at(fmt::format("ws://{}", host));
  if (!url) return refuse(host_at, url.error().message);
  proxy.url = std::move(*url);
  return proxy;
}

void encode_connect(const Url& target, const Proxy& proxy, std::string& out) {
  const auto add_authority = [&] {  // a port is always named, also the scheme's own
    std::array<char, 5> digits{};
    const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), target.port).ptr;
    const bool is_ipv6 = target.host.find(':') != std::string::npos;
    out.append(is_ipv6 ? "[" : "").append(target.host).append(is_ipv6 ? "]:" : ":");
    out.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
  };
  out.append("CONNECT ");
  add_authority();
  out.append(" HTTP/1.1\r\nHost: ");
  add_authority();
  out.append("\r\n");
  if (!proxy.authorization.empty())
    out.append("Proxy-Authorization: ").append(proxy.authorization).append("\r\n");
  out.append("\r\n");
}

// Only the status counts for a refusal; a tunnel also wants fields that nobody can read in two ways.
HandshakeVerdict check_tunnel(std::string_view head) {
  std::string_view rest = head;
  const std::string_view status_line = take_line(rest);
  constexpr std::size_t kStatusAt = std::string_view{"HTTP/1.1 "}.size();
  if (!may_be_http(head) || status_line.size() < kStatusAt + 3) return refused(Cause::not_http, status_line);
  if (head.size() > kMaxHeadBytes) return refused(Cause::head_too_large, status_line);
  std::uint32_t status = 0;
  for (const char digit : status_line.substr(kStatusAt, 3))
    status = status * 10 + static_cast<std::uint32_t>(digit - '0');
  if (status < 200 || status > 299) return refused(Cause::refused_status, status_line, status);
  while (!rest.empty()) {
    const std::string_view line = take_line(rest);
    if (line.empty()) break;
    if (!is_token(line.substr(0, line.find(':'))) || line.find(':') == std::string_view::npos ||
        line.find('\r') != std::string_view::npos || line.find('\0') != std::string_view::npos)
      return refused(Cause::bad_header, line);
  }
  return {{Phase::proxy, Cause::none, 0}, {}};
}

std::string without_user_info(std::string text, const Proxy& proxy) {
  if (proxy.user_info.empty()) return text;
  const std::string secret = proxy.user_info + "@";
  for (std::size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at))
    text.replace(at, secret.size(), "(hidden)@");
  return text;
}

}  // namespace onrush
