#include "core/template.h"

#include <array>
#include <charconv>
#include <cstring>

#include "core/feed_table.h"
#include "core/random.h"

namespace onrush {
namespace {

template <class Integer>
void append_number(Integer value, std::string& out) {
  std::array<char, 20> digits{};  // of 2^64 - 1, and of -2^63
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

// Two streams: one follows the user, the other user and sequence. Both are bijections of what they follow, so
// that a uuid, which takes a number of each, differs for each message of each user.
struct Chance {
  explicit Chance(const TemplateValues& values) noexcept
      : of_user{mix(values.seed ^ mix(values.user))}, of_message{mix(of_user ^ mix(~values.sequence))} {}
  std::uint64_t of_user;
  std::uint64_t of_message;
};

// Multiplied out instead of taken modulo: no value is likelier than another by more than 2^-64 of the span.
std::int64_t draw(const Chance& chance, std::uint32_t which, std::int64_t low, std::uint64_t span) noexcept {
  const std::uint64_t number = mix(chance.of_message + which);
  if (span == UINT64_MAX) return static_cast<std::int64_t>(number);
  const auto place = static_cast<std::uint64_t>((static_cast<unsigned __int128>(number) * (span + 1)) >> 64);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + place);
}

// Version 4, variant 1 (RFC 9562 section 5.4).
void append_uuid(const Chance& chance, std::uint32_t which, std::string& out) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::uint64_t high = mix(chance.of_user + 0x7575696400000000 + which);
  std::uint64_t low = mix(chance.of_message + 0x6469757500000000 + which);
  high = (high & ~std::uint64_t{0xf000}) | 0x4000;
  low = (low & ~(std::uint64_t{3} << 62)) | (std::uint64_t{1} << 63);
  std::array<char, 36> text;
  std::size_t at = 0;
  for (int digit = 0; digit < 32; ++digit) {
    if (digit == 8 || digit == 12 || digit == 16 || digit == 20) text[at++] = '-';
    const std::uint64_t half = digit < 16 ? high : low;
    text[at++] = kDigits[half >> (60 - 4 * (digit % 16)) & 15];
  }
  out.append(text.data(), text.size());
}

}  // namespace

bool Template::is_fixed() const noexcept {
  return pieces_.empty() || (pieces_.size() == 1 && pieces_.front().kind == Piece::Kind::literal);
}

void Template::render(const TemplateValues& values, std::string& out) const {
  for (const Piece& piece : pieces_) {
    switch (piece.kind) {
      case Piece::Kind::literal: out.append(literals_, piece.first, piece.second); break;
      case Piece::Kind::user: append_number(values.user, out); break;
      case Piece::Kind::agent: append_number(values.agent, out); break;
      case Piece::Kind::sequence: append_number(values.sequence, out); break;
      case Piece::Kind::now_us: append_number(values.now_us, out); break;
      case Piece::Kind::random:
        append_number(draw(Chance{values}, piece.first, piece.low, piece.span), out);
        break;
      case Piece::Kind::uuid: append_uuid(Chance{values}, piece.first, out); break;
      case Piece::Kind::data:
        out += values.feeds[piece.first].value(values.rows[piece.first], piece.second);
        break;
      case Piece::Kind::capture: out += values.captures[piece.first]; break;
    }
  }
}

}  // namespace onrush
