#include "core/handshake.h"

#include <openssl/evp.h>

#include <algorithm>

#include "core/check.h"
#include "core/upgrade_head.h"

namespace onrush {
namespace {

constexpr std::string_view kGuid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
constexpr std::size_t kMaxSampleBytes = 200;

template <std::size_t kBytes>
auto base64(const std::array<std::uint8_t, kBytes>& bytes) noexcept {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::array<char, (kBytes + 2) / 3 * 4> text;
  std::size_t written = 0;
  for (std::size_t i = 0; i < kBytes; i += 3) {
    const std::size_t present = std::min<std::size_t>(3, kBytes - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) group = group << 8 | (k < present ? bytes[i + k] : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      text[written++] = k <= present ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

// SHA1() and EVP_sha1() look the algorithm up anew on every call (OpenSSL 3), which costs more than the hash.
class Sha1 {
 public:
  Sha1() noexcept : algorithm_{EVP_MD_fetch(nullptr, "SHA1", nullptr)}, context_{EVP_MD_CTX_new()} {
    ONRUSH_CHECK(algorithm_ != nullptr && context_ != nullptr);
  }
  Sha1(const Sha1&) = delete;
  Sha1& operator=(const Sha1&) = delete;
  ~Sha1() {
    EVP_MD_CTX_free(context_);
    EVP_MD_free(algorithm_);
  }

  std::array<std::uint8_t, 20> operator()(std::string_view first, std::string_view second) noexcept {
    std::array<std::uint8_t, 20> digest;
    ONRUSH_CHECK(EVP_DigestInit_ex2(context_, algorithm_, nullptr) == 1 &&
                 EVP_DigestUpdate(context_, first.data(), first.size()) == 1 &&
                 EVP_DigestUpdate(context_, second.data(), second.size()) == 1 &&
                 EVP_DigestFinal_ex(context_, digest.data(), nullptr) == 1);
    return digest;
  }

 private:
  EVP_MD* algorithm_;
  EVP_MD_CTX* context_;
};

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }
bool same_without_case(std::string_view text, std::string_view lower_case) noexcept {
  return std::equal(text.begin(), text.end(), lower_case.begin(), lower_case.end(),
                    [](char a, char b) { return lower(a) == b; });
}

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// Line ends count as blanks: inside a value they can only be those of a folded line, which RFC 9112
// section 5.2 has a user agent replace by a blank.
bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool has_token(std::string_view list, std::string_view lower_case) noexcept {
  while (true) {
    const std::size_t comma = list.find(',');
    if (same_without_case(trimmed(list.substr(0, comma)), lower_case)) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
}

// Samples go to terminals and JSON files, so whatever a server wrote becomes one line of printable ASCII.
std::string sample_of(std::string_view text, std::string_view more = {}) {
  std::string sample{text};
  sample.append(more);
  if (sample.size() > kMaxSampleBytes) sample.resize(kMaxSampleBytes);
  for (char& c : sample)
    if (c < ' ' || c > '~') c = is_blank(c) ? ' ' : '?';
  return sample;
}

HandshakeVerdict refused(Cause cause, std::string sample, std::uint32_t detail = 0) {
  return {{Phase::upgrade, cause, detail}, std::move(sample)};
}

// A line of the head without its end, CRLF or LF (RFC 9112 section 2.2), taken from the front of `rest`.
std::optional<std::string_view> take_line(std::string_view& rest) noexcept {
  const std::size_t end = rest.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

struct Field {
  std::string_view line;  ///< whole, with folded lines
  std::string_view name;
  std::string_view value;
};

enum class Taken { field, end, malformed };

// The next field with the folded lines that belong to it; `field.line` shows what is malformed. Always
// shortens `rest`.
Taken take_field(std::string_view& rest, Field& field) noexcept {
  const char* const begin = rest.data();
  const std::optional<std::string_view> first = take_line(rest);
  field.line = first.value_or(rest);
  if (!first) return rest = {}, Taken::malformed;
  if (first->empty()) return Taken::end;
  std::string_view last = *first;
  while (!rest.empty() && (rest.front() == ' ' || rest.front() == '\t')) {
    const std::optional<std::string_view> folded = take_line(rest);
    if (!folded) return rest = {}, Taken::malformed;
    last = *folded;
  }
  field.line = {begin, static_cast<std::size_t>(last.data() + last.size() - begin)};
  const std::size_t colon = field.line.find(':');
  if (colon == std::string_view::npos) return Taken::malformed;
  field.name = field.line.substr(0, colon);
  field.value = trimmed(field.line.substr(colon + 1));
  // A blank before the colon, a bare CR and a NUL are how heads are smuggled (RFC 9112 sections 5.1 and 2.2,
  // RFC 9110 section 5.5).
  if (!is_token(field.name) || field.line.find('\0') != std::string_view::npos) return Taken::malformed;
  for (std::size_t cr = colon; (cr = field.line.find('\r', cr)) != std::string_view::npos; ++cr)
    if (cr + 1 == field.line.size() || field.line[cr + 1] != '\n') return Taken::malformed;
  return Taken::field;
}

struct Answer {
  std::string_view upgrade, accept, protocol;
  std::string_view accept_line, protocol_line, extension_line;
  ExtensionAnswer extensions;
  int upgrades = 0, accepts = 0, protocols = 0;
  bool connection_has_upgrade = false;
};

void note(const Field& field, const DeflateOffer* offer, Answer& answer) noexcept {
  switch (field.name.size()) {
    case 7:
      if (!same_without_case(field.name, "upgrade")) return;
      answer.upgrade = field.value;
      ++answer.upgrades;
      return;
    case 10:
      if (same_without_case(field.name, "connection"))
        answer.connection_has_upgrade |= has_token(field.value, "upgrade");
      return;
    case 20:
      if (!same_without_case(field.name, "sec-websocket-accept")) return;
      answer.accept = field.value;
      answer.accept_line = field.line;
      ++answer.accepts;
      return;
    case 22:
      if (field.value.empty() || !same_without_case(field.name, "sec-websocket-protocol")) return;
      answer.protocol = field.value;
      answer.protocol_line = field.line;
      ++answer.protocols;
      return;
    case 24:
      if (answer.extensions.fault != Cause::none ||
          !same_without_case(field.name, "sec-websocket-extensions"))
        return;
      read_extensions(field.value, offer, answer.extensions);
      answer.extension_line = field.line;
      return;
    default: return;
  }
}

// A server's refusal is reported whatever its fields look like.
HandshakeVerdict refused_status(std::string_view status_line, std::uint32_t status, std::string_view fields) {
  std::string location;
  if (status >= 300 && status <= 399) {
    Field field;
    while (location.empty() && !fields.empty())
      if (take_field(fields, field) == Taken::field && same_without_case(field.name, "location"))
        location.append("; Location: ").append(field.value);
  }
  return refused(Cause::refused_status, sample_of(status_line, location), status);
}

// Exactly one of those that were offered, as it was written there (RFC 6455 section 4.1). A server that
// chooses none fails a client that has offered some, as it does in browsers (WHATWG WebSockets section 3.1):
// what it will speak is anybody's guess.
std::optional<Cause> wrong_choice(const Answer& answer, const RequestOffers& offers, std::size_t& choice) {
  const auto& offered = offers.subprotocols;
  if (answer.protocols == 0)
    return offered.empty() || offers.may_choose_none ? std::nullopt : std::optional{Cause::missing_protocol};
  const auto found = std::find(offered.begin(), offered.end(), answer.protocol);
  if (answer.protocols > 1 || found == offered.end()) return Cause::unasked_protocol;
  choice = static_cast<std::size_t>(found - offered.begin());
  return std::nullopt;
}

HandshakeVerdict verdict_on(const Answer& answer, std::string_view status_line, std::string_view key,
                            const RequestOffers& offers) {
  if (answer.upgrades != 1 || !same_without_case(answer.upgrade, "websocket"))
    return refused(Cause::missing_upgrade,
                   answer.upgrades == 0 ? sample_of(status_line) : sample_of("Upgrade: ", answer.upgrade));
  if (!answer.connection_has_upgrade) return refused(Cause::missing_connection, sample_of(status_line));
  if (answer.accepts == 0) return refused(Cause::missing_accept, sample_of(status_line));
  const AcceptText expected = accept_text(key);
  if (answer.accepts > 1 || answer.accept != std::string_view{expected.data(), expected.size()})
    return refused(Cause::wrong_accept,
                   sample_of(answer.accept_line, answer.accepts > 1 ? " (repeated)" : ""));
  std::size_t subprotocol = 0;
  if (const auto cause = wrong_choice(answer, offers, subprotocol))
    return refused(*cause, answer.protocols == 0
                               ? sample_of(status_line)
                               : sample_of(answer.protocol_line, answer.protocols > 1 ? " (repeated)" : ""));
  if (answer.extensions.fault != Cause::none)
    return refused(answer.extensions.fault, sample_of(answer.extension_line));
  return {{Phase::upgrade, Cause::none, 0}, {}, subprotocol, answer.extensions.deflate};
}

}  // namespace

KeyText key_text(std::uint64_t random_high, std::uint64_t random_low) noexcept {
  std::array<std::uint8_t, 16> bytes;
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[i] = static_cast<std::uint8_t>(random_high >> (56 - 8 * i));
    bytes[8 + i] = static_cast<std::uint8_t>(random_low >> (56 - 8 * i));
  }
  return base64(bytes);
}

std::string make_key(std::uint64_t random_high, std::uint64_t random_low) {
  const KeyText key = key_text(random_high, random_low);
  return {key.data(), key.size()};
}

AcceptText accept_text(std::string_view key) noexcept {
  thread_local Sha1 sha1;
  return base64(sha1(key, kGuid));
}

std::string accept_of(std::string_view key) {
  const AcceptText accept = accept_text(key);
  return {accept.data(), accept.size()};
}

void encode_request(const Url& url, std::string_view key, std::string& out, const RequestExtras& extras) {
  const auto stays_on_its_line = [](std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
  };
  const std::string_view path = extras.path.empty() ? std::string_view{url.path} : extras.path;
  ONRUSH_CHECK(stays_on_its_line(path) && stays_on_its_line(url.host_header));
  out.append("GET ").append(path).append(" HTTP/1.1\r\n");
  if (!extras.has_host) out.append("Host: ").append(url.host_header).append("\r\n");
  out.append("Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: ").append(key);
  out.append("\r\nSec-WebSocket-Version: 13\r\n").append(extras.lines);
  if (!extras.extensions.empty())
    out.append("Sec-WebSocket-Extensions: ").append(extras.extensions).append("\r\n");
  out.append("\r\n");
}

std::optional<std::size_t> find_head_end(std::string_view bytes, std::size_t searched) noexcept {
  // The empty line may have begun in what was looked at before.
  std::size_t from = searched > 2 ? searched - 2 : 0;
  for (from = bytes.find('\n', from); from != std::string_view::npos; from = bytes.find('\n', from + 1)) {
    const std::string_view behind = bytes.substr(from + 1, 2);
    if (!behind.empty() && behind.front() == '\n') return from + 2;
    if (behind == "\r\n") return from + 3;
  }
  return std::nullopt;
}

bool may_be_http(std::string_view bytes) noexcept {
  constexpr std::string_view kShape = "HTTP/1.d ddd";  // d stands for a digit
  const std::size_t known = std::min(bytes.size(), kShape.size());
  for (std::size_t i = 0; i < known; ++i)
    if (kShape[i] == 'd' ? !is_digit(bytes[i]) : bytes[i] != kShape[i]) return false;
  return bytes.size() <= kShape.size() || is_blank(bytes[kShape.size()]);
}

HandshakeVerdict check_response(std::string_view head, std::string_view key, const RequestOffers& offers) {
  std::string_view rest = head;
  const std::optional<std::string_view> first = take_line(rest);
  const std::string_view status_line = first.value_or(head);
  constexpr std::size_t kStatusAt = std::string_view{"HTTP/1.1 "}.size();
  if (!may_be_http(head) || status_line.size() < kStatusAt + 3)
    return refused(Cause::not_http, sample_of(status_line));
  if (head.size() > kMaxHeadBytes) return refused(Cause::head_too_large, sample_of(status_line));

  std::uint32_t status = 0;
  for (const char digit : status_line.substr(kStatusAt, 3))
    status = status * 10 + static_cast<std::uint32_t>(digit - '0');
  // HTTP/1.0 has no Upgrade (RFC 9110 section 7.8), so its 101 opens nothing.
  if (status != 101 || status_line.substr(0, kStatusAt) == "HTTP/1.0 ")
    return refused_status(status_line, status, rest);

  Answer answer;
  Field field;
  while (true) {
    const Taken taken = take_field(rest, field);
    if (taken == Taken::end) break;
    if (taken == Taken::malformed) return refused(Cause::bad_header, sample_of(field.line));
    note(field, offers.deflate, answer);
  }
  return verdict_on(answer, status_line, key, offers);
}

}  // namespace onrush
