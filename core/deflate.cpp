#include "core/deflate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/upgrade_head.h"

namespace onrush {
namespace {

constexpr std::string_view kName = "permessage-deflate";
constexpr std::string_view kClientTakeover = "client_no_context_takeover";
constexpr std::string_view kServerTakeover = "server_no_context_takeover";
constexpr std::string_view kClientWindow = "client_max_window_bits";
constexpr std::string_view kServerWindow = "server_max_window_bits";

// Line ends count as blanks: they can only be those of a folded line.
bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// Walks over the value of a field.
class Cursor {
 public:
  explicit Cursor(std::string_view text) noexcept : rest_{text} {}

  [[nodiscard]] bool at_end() noexcept {
    while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
    return rest_.empty();
  }
  [[nodiscard]] bool take(char c) noexcept {
    if (at_end() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  /// "" if there is none.
  [[nodiscard]] std::string_view take_token() noexcept {
    if (at_end()) return {};
    std::size_t size = 0;
    while (is_token(rest_.substr(size, 1))) ++size;
    const std::string_view token = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return token;
  }
  /// What is quoted must be a token (RFC 6455 section 9.1); as parameters of deflate hold none, an escape is
  /// no more than a value that fits none. Its opening quote has been taken. "" if it is malformed.
  [[nodiscard]] std::string_view take_quoted() noexcept {
    const std::size_t end = rest_.find('"');
    if (end == std::string_view::npos) return {};
    const std::string_view value = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return is_token(value) ? value : std::string_view{};
  }

 private:
  std::string_view rest_;
};

struct Parameter {
  std::string_view name;
  std::optional<std::string_view> value;
};

// The next parameter of an extension, behind its semicolon; nothing if it is malformed.
std::optional<Parameter> take_parameter(Cursor& cursor) noexcept {
  Parameter parameter{cursor.take_token(), {}};
  if (parameter.name.empty()) return std::nullopt;
  if (!cursor.take('=')) return parameter;
  const std::string_view value = cursor.take('"') ? cursor.take_quoted() : cursor.take_token();
  if (value.empty()) return std::nullopt;
  parameter.value = value;
  return parameter;
}

// RFC 7692 section 7.1.2: decimal, 8 to 15, no leading zero.
std::optional<std::uint8_t> window_bits(const std::optional<std::string_view>& value) noexcept {
  if (!value) return std::nullopt;
  for (std::uint8_t bits = kMinWindowBits; bits <= kMaxWindowBits; ++bits) {
    const std::string_view digits = std::string_view{"8 9 101112131415"}.substr((bits - 8u) * 2, 2);
    if (*value == digits.substr(0, bits < 10 ? 1 : 2)) return bits;
  }
  return std::nullopt;
}

/// The parameters of one answer as they come; each may stand there once.
struct Parameters {
  bool client_no_takeover = false;
  bool server_no_takeover = false;
  std::optional<std::uint8_t> client_bits;
  std::optional<std::uint8_t> server_bits;

  [[nodiscard]] bool take(const Parameter& parameter) noexcept {
    const auto flag = [&](bool& into) { return !parameter.value && !std::exchange(into, true); };
    const auto bits = [&](std::optional<std::uint8_t>& into) {
      if (into) return false;
      into = window_bits(parameter.value);
      return into.has_value();
    };
    if (parameter.name == kClientTakeover) return flag(client_no_takeover);
    if (parameter.name == kServerTakeover) return flag(server_no_takeover);
    if (parameter.name == kClientWindow) return bits(client_bits);
    return parameter.name == kServerWindow && bits(server_bits);
  }
};

// RFC 7692 sections 7.1.1 and 7.1.2. A server accepts what was asked of it by saying so; what it asks of us
// must lie within what was offered.
std::optional<DeflateAgreement> agreement(const Parameters& said, const DeflateOffer& offer) noexcept {
  const std::uint8_t server_most = offer.server_max_window_bits.value_or(kMaxWindowBits);
  const std::uint8_t client_most = offer.client_max_window_bits.value_or(kMaxWindowBits);
  if (offer.server_no_context_takeover && !said.server_no_takeover) return std::nullopt;
  if (offer.server_max_window_bits && !said.server_bits) return std::nullopt;
  if (said.server_bits.value_or(kMinWindowBits) > server_most) return std::nullopt;
  if (said.client_bits && !offer.client_window) return std::nullopt;
  if (said.client_bits.value_or(kMinWindowBits) > client_most) return std::nullopt;
  DeflateAgreement agreed;
  agreed.client_window_bits = said.client_bits.value_or(client_most);
  agreed.server_window_bits = said.server_bits.value_or(kMaxWindowBits);
  // What was announced is kept whether or not the server repeats it.
  agreed.client_takeover = !said.client_no_takeover && !offer.client_no_context_takeover;
  agreed.server_takeover = !said.server_no_takeover;
  return agreed;
}

// One extension of the list, up to its comma or the end.
Cause read_extension(Cursor& cursor, const DeflateOffer& offer, ExtensionAnswer& answer) noexcept {
  const std::string_view name = cursor.take_token();
  if (name.empty()) return Cause::bad_extension;
  if (name != kName) return Cause::unasked_extension;
  if (answer.deflate) return Cause::bad_extension;
  Parameters said;
  while (cursor.take(';')) {
    const std::optional<Parameter> parameter = take_parameter(cursor);
    if (!parameter || !said.take(*parameter)) return Cause::bad_extension;
  }
  answer.deflate = agreement(said, offer);
  return answer.deflate ? Cause::none : Cause::bad_extension;
}

}  // namespace

// zlib.h and zconf.h: deflate's window, its links and its hash table, and inflate's window, beside their
// states of some 6 and 7 KB.
std::uint64_t context_bytes(const DeflateOffer& offer) noexcept {
  std::uint64_t bytes = 0;
  const std::uint8_t ours = offer.client_max_window_bits.value_or(kMaxWindowBits);
  if (!offer.client_no_context_takeover && ours != kMinWindowBits)
    bytes += (std::uint64_t{1} << (ours + 2)) + (std::uint64_t{1} << (kDeflateMemoryLevel + 9)) + 6'000;
  if (!offer.server_no_context_takeover)
    bytes += (std::uint64_t{1} << offer.server_max_window_bits.value_or(kMaxWindowBits)) + 7'200;
  return bytes;
}

std::string offer_text(const DeflateOffer& offer) {
  std::string text{kName};
  const auto add = [&](std::string_view name, std::optional<std::uint8_t> value) {
    text.append("; ").append(name);
    if (value) text += fmt::format("={}", *value);
  };
  if (offer.client_no_context_takeover) add(kClientTakeover, {});
  if (offer.server_no_context_takeover) add(kServerTakeover, {});
  if (offer.server_max_window_bits) add(kServerWindow, offer.server_max_window_bits);
  if (offer.client_window) add(kClientWindow, offer.client_max_window_bits);
  return text;
}

void read_extensions(std::string_view value, const DeflateOffer* offer, ExtensionAnswer& answer) noexcept {
  Cursor cursor{value};
  while (answer.fault == Cause::none && !cursor.at_end()) {
    if (cursor.take(',')) continue;  // an empty member of a list is none (RFC 9110 section 5.6.1)
    if (offer == nullptr) {
      answer.fault = Cause::unasked_extension;
      return;
    }
    answer.fault = read_extension(cursor, *offer, answer);
    if (answer.fault == Cause::none && !cursor.at_end() && !cursor.take(','))
      answer.fault = Cause::bad_extension;
  }
}

}  // namespace onrush
