#include "core/url.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "core/nearest.h"

namespace onrush {
namespace {

constexpr std::size_t kLongestUrl = 4096;
constexpr std::size_t kLongestHost = 253;  // RFC 1035, as text
constexpr std::size_t kLongestLabel = 63;

bool digit(char c) { return c >= '0' && c <= '9'; }
bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool hex(char c) { return digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return letter(c) ? static_cast<char>(c | 0x20) : c; });
  return out;
}

// Dotted quad, each part 0 to 255 without leading zeros (some resolvers read 010 as 8).
bool ipv4(std::string_view text) {
  int parts = 0;
  while (true) {
    const std::size_t dot = text.find('.');
    const std::string_view part = text.substr(0, dot);
    if (part.empty() || part.size() > 3 || !std::all_of(part.begin(), part.end(), digit)) return false;
    if ((part.size() > 1 && part[0] == '0') || (part.size() == 3 && part > "255")) return false;
    ++parts;
    if (dot == std::string_view::npos) return parts == 4;
    text.remove_prefix(dot + 1);
  }
}

// RFC 4291 section 2.2: eight groups of up to four hex digits; one `::` for a run of zeros; the last two
// groups may be a dotted quad.
bool ipv6(std::string_view text) {
  int groups = 0;
  bool gap = false;
  if (text.substr(0, 2) == "::") {
    gap = true;
    text.remove_prefix(2);
  }
  while (!text.empty()) {
    const std::size_t colon = text.find(':');
    const std::string_view group = text.substr(0, colon);
    if (colon == std::string_view::npos && group.find('.') != std::string_view::npos) {
      if (!ipv4(group)) return false;
      groups += 2;
      break;
    }
    if (group.empty() || group.size() > 4 || !std::all_of(group.begin(), group.end(), hex)) return false;
    ++groups;
    if (colon == std::string_view::npos) break;
    text.remove_prefix(colon + 1);
    if (text.empty()) return false;
    if (text[0] != ':') continue;
    if (gap) return false;
    gap = true;
    text.remove_prefix(1);
  }
  return gap ? groups < 8 : groups == 8;
}

std::optional<std::string> bad_name(std::string_view host) {
  if (!std::all_of(host.begin(), host.end(), ascii))
    return fmt::format("host {} is not ASCII; write its punycode form (xn--...)", quoted(host));
  if (host.find('%') != std::string_view::npos)
    return fmt::format("host {} has a percent escape", quoted(host));
  if (host.size() > kLongestHost)
    return fmt::format("the host has {} characters, at most {} fit", host.size(), kLongestHost);
  std::string_view rest = host;
  if (rest.size() > 1 && rest.back() == '.') rest.remove_suffix(1);
  const std::string_view last = rest.substr(rest.rfind('.') + 1);
  if (!last.empty() && digit(last[0]) &&
      std::all_of(last.begin(), last.end(), [](char c) { return hex(c) || c == 'x'; }) && !ipv4(host))
    return fmt::format("host {} looks like an IPv4 address but is none; write four numbers, 192.0.2.1",
                       quoted(host));
  while (true) {
    const std::size_t dot = rest.find('.');
    const std::string_view label = rest.substr(0, dot);
    if (label.empty()) return fmt::format("host {} has an empty part", quoted(host));
    if (label.size() > kLongestLabel) return fmt::format("a part of host {} is longer than 63", quoted(host));
    for (const char c : label)
      if (!letter(c) && !digit(c) && c != '-' && c != '_')
        return fmt::format("host {} has the character {}", quoted(host), quoted(std::string_view(&c, 1)));
    if (dot == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(dot + 1);
  }
}

std::optional<std::uint16_t> port_of(std::string_view text) {
  if (text.empty() || !std::all_of(text.begin(), text.end(), digit)) return std::nullopt;
  std::uint32_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || port == 0 || port > 65535) return std::nullopt;
  return static_cast<std::uint16_t>(port);
}

// Host and port into `url`; the mistake, if there is one.
std::optional<std::string> take_authority(std::string_view authority, Url& url) {
  if (authority.find('@') != std::string_view::npos) return "user and password are not allowed in a target";
  std::string_view port;
  bool has_port = false;
  if (!authority.empty() && authority[0] == '[') {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos) return "'[' of the IPv6 address has no ']'";
    const std::string_view address = authority.substr(1, close - 1);
    if (!ipv6(address)) return fmt::format("{} is not an IPv6 address", quoted(address));
    url.host = lower(address);
    std::string_view rest = authority.substr(close + 1);
    has_port = !rest.empty();
    if (has_port && rest[0] != ':')
      return fmt::format("{} behind ']' is not a port; write :8080", quoted(rest));
    if (has_port) port = rest.substr(1);
  } else {
    const std::size_t colon = authority.find(':');
    const std::string_view host = authority.substr(0, colon);
    if (host.empty()) return "the host is missing; write ws://HOST:PORT/PATH";
    if (authority.find(':', colon == std::string_view::npos ? colon : colon + 1) != std::string_view::npos)
      return fmt::format("{} has several colons; write an IPv6 address in brackets, [::1]:8080",
                         quoted(authority));
    if (auto mistake = bad_name(host)) return mistake;
    url.host = lower(host);
    has_port = colon != std::string_view::npos;
    if (has_port) port = authority.substr(colon + 1);
  }
  const std::uint16_t usual = url.secure ? 443 : 80;
  const auto number = has_port ? port_of(port) : usual;
  if (!number) return fmt::format("port {} is not a number from 1 to 65535", quoted(port));
  url.port = *number;
  url.host_header = authority[0] == '[' ? fmt::format("[{}]", url.host) : url.host;
  if (url.port != usual) url.host_header += fmt::format(":{}", url.port);
  return std::nullopt;
}

// What may stand in path and query as it is (RFC 3986 section 3.3 and 3.4).
bool unescaped(char c) {
  return letter(c) || digit(c) || std::string_view("-._~!$&'()*+,;=:@/?").find(c) != std::string_view::npos;
}

// Path and query into `url`, with escapes added where RFC 3986 wants them and those there kept (P026).
std::optional<UrlError> take_path(std::string_view path, std::size_t offset, Url& url) {
  url.path.clear();
  if (path.empty() || path[0] == '?') url.path = "/";
  for (std::size_t i = 0; i < path.size(); ++i) {
    const char c = path[i];
    const auto byte = static_cast<unsigned char>(c);
    if (c == '#')
      return UrlError{
          offset + i,
          "a fragment ('#...') is not allowed in a WebSocket address; write %23 for the character"};
    if (byte <= 0x20 || byte == 0x7f)
      return UrlError{offset + i, fmt::format("{} is not allowed in an address; write %{:02X}",
                                              quoted(path.substr(i, 1)), byte)};
    if (c == '\\') return UrlError{offset + i, "'\\' is not allowed in an address; write / or %5C"};
    if (c == '%') {
      if (i + 2 >= path.size() || !hex(path[i + 1]) || !hex(path[i + 2]))
        return UrlError{offset + i, "'%' is not followed by two hex digits; write %25 for the character"};
      url.path += path.substr(i, 3);
      i += 2;
      continue;
    }
    if (unescaped(c))
      url.path += c;
    else
      url.path += fmt::format("%{:02X}", byte);
  }
  return std::nullopt;
}

}  // namespace

Expected<Url, UrlError> parse_url_at(std::string_view text) {
  const auto refuse = [](std::size_t offset, std::string why) {
    return Unexpected{UrlError{offset, std::move(why)}};
  };
  if (text.empty()) return refuse(0, "the address is empty; write ws://HOST:PORT/PATH");
  if (text.size() > kLongestUrl)
    return refuse(0, fmt::format("the address has {} bytes, at most {} fit", text.size(), kLongestUrl));
  const std::size_t scheme_end = text.find("://");
  if (scheme_end == std::string_view::npos)
    return refuse(0, fmt::format("{} has no scheme; write ws://HOST:PORT/PATH", quoted(text)));
  const std::string scheme = lower(text.substr(0, scheme_end));
  if (scheme == "http" || scheme == "https")
    return refuse(0, fmt::format("{0}:// is not a WebSocket address; write {1}://", scheme,
                                 scheme == "http" ? "ws" : "wss"));
  if (scheme != "ws" && scheme != "wss")
    return refuse(0, fmt::format("unknown scheme {}; write ws://", quoted(text.substr(0, scheme_end))));
  Url url;
  url.text = text;
  url.secure = scheme == "wss";
  const std::size_t begin = scheme_end + 3;
  const std::size_t end = std::min(text.find_first_of("/?#", begin), text.size());
  if (auto mistake = take_authority(text.substr(begin, end - begin), url))
    return refuse(begin, std::move(*mistake));
  if (auto mistake = take_path(text.substr(end), end, url)) return Unexpected{std::move(*mistake)};
  return url;
}

Expected<Url, std::string> parse_url(std::string_view text) {
  auto url = parse_url_at(text);
  if (!url) return Unexpected{url.error().message};
  return std::move(*url);
}

}  // namespace onrush
