#include "core/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "core/nearest.h"

namespace onrush {
namespace {

constexpr std::string_view kCountForm = "a count such as 500, 50_000 or 50k";
constexpr std::string_view kDurationForm = "a duration such as 10s, 250ms or 1m30s";
constexpr std::string_view kRateForm = "a rate such as 500/s, 60/min or 1 per 7s";
constexpr std::string_view kDecimalForm = "a number such as 3 or 0.5";
constexpr int kMostDigits = 18;  // of a number with its fraction: they fit 64 bits

// The compiler's own type for products that 64 bits do not hold.
__extension__ typedef unsigned __int128 Wide;

struct Decimal {
  std::uint64_t digits;  // value = digits / 10^scale
  int scale;
};

std::uint64_t power_of_ten(int exponent) {
  std::uint64_t p = 1;
  while (exponent-- > 0) p *= 10;
  return p;
}

double value_of(const Decimal& d) {
  return static_cast<double>(d.digits) / static_cast<double>(power_of_ten(d.scale));
}

bool digit(char c) { return c >= '0' && c <= '9'; }

Unexpected<std::string> refuse(std::string_view text, std::string_view why, std::string_view form) {
  return Unexpected{fmt::format("{} {}; write {}", quoted(text), why, form)};
}

// Why a text that was meant as a number is none; nothing if it is not even near one.
std::optional<std::string_view> oddity(std::string_view text) {
  if (text.empty()) return "is empty";
  if (text[0] == '-') return "is negative";
  if (text[0] == '+') return "has a sign";
  std::string small(text);
  std::transform(small.begin(), small.end(), small.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (small == ".nan" || small == ".inf" || small == "nan" || small == "inf") return "is not a finite number";
  if (small.size() > 1 && small[0] == '0' && (small[1] == 'x' || small[1] == 'o' || small[1] == 'b'))
    return "is not decimal";
  if (small.size() > 1 && small[0] == '0' && digit(small[1]))
    return "has a leading zero, which some readers take for octal";
  const std::size_t e = small.find_first_not_of("0123456789.");
  if (digit(small[0]) && e != std::string::npos && small[e] == 'e') return "has an exponent";
  if (small.find(',') != std::string::npos) return "has a comma";
  return std::nullopt;
}

Unexpected<std::string> not_a(std::string_view text, std::string_view form) {
  const auto odd = oddity(text);
  return odd ? refuse(text, *odd, form) : Unexpected{fmt::format("{} is not {}", quoted(text), form)};
}

// Takes a plain decimal from the front of `rest`; nothing if there is none in the one form that is allowed.
std::optional<Decimal> take_decimal(std::string_view& rest) {
  Decimal d{0, 0};
  std::size_t i = 0;
  int count = 0;
  bool fraction = false;
  for (; i < rest.size(); ++i) {
    const char c = rest[i];
    const bool between = i > 0 && digit(rest[i - 1]) && i + 1 < rest.size() && digit(rest[i + 1]);
    if (c == '_' && between) continue;
    if (c == '.' && between && !fraction) {
      fraction = true;
      continue;
    }
    if (!digit(c)) break;
    if (++count > kMostDigits) return std::nullopt;
    d.digits = d.digits * 10 + static_cast<std::uint64_t>(c - '0');
    if (fraction) ++d.scale;
  }
  if (i == 0 || (i > 1 && rest[0] == '0' && rest[1] != '.')) return std::nullopt;
  rest.remove_prefix(i);
  return d;
}

struct Unit {
  std::string_view name;
  std::int64_t ns;
};
// Longest first where one begins like another.
constexpr std::array<Unit, 6> kUnits{
    Unit{"h", 3'600'000'000'000}, Unit{"min", 60'000'000'000}, Unit{"ms", 1'000'000},
    Unit{"m", 60'000'000'000},    Unit{"us", 1'000},           Unit{"s", 1'000'000'000}};

const Unit* take_unit(std::string_view& rest) {
  for (const Unit& unit : kUnits) {
    if (rest.substr(0, unit.name.size()) != unit.name) continue;
    rest.remove_prefix(unit.name.size());
    return &unit;
  }
  return nullptr;
}

// `1:30` as a YAML 1.1 reader would have meant it, in our words.
std::optional<std::string> unfolded_sexagesimal(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon > 4 || text.size() != colon + 3)
    return std::nullopt;
  const auto number = [](std::string_view s) {
    int n = 0;
    for (const char c : s) n = digit(c) && n >= 0 ? n * 10 + (c - '0') : -1;
    return n;
  };
  const int minutes = number(text.substr(0, colon));
  const int seconds = number(text.substr(colon + 1));
  if (minutes < 0 || seconds < 0) return std::nullopt;
  const int all = minutes * 60 + seconds;
  std::string out = all >= 60 ? fmt::format("{}m", all / 60) : std::string();
  if (all % 60 != 0 || all == 0) out += fmt::format("{}s", all % 60);
  return out;
}

bool plain_number(std::string_view text) {
  std::string_view rest = text;
  return take_decimal(rest) && rest.empty();
}

}  // namespace

Expected<std::uint64_t, std::string> parse_count(std::string_view text) {
  std::string_view rest = text;
  const std::optional<Decimal> d = take_decimal(rest);
  if (!d) {
    const bool digits =
        !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return digit(c) || c == '_'; });
    if (digits && text.size() > kMostDigits && text[0] != '0' && text[0] != '_')
      return Unexpected{fmt::format("{} is too large for a count", quoted(text))};
    return not_a(text, kCountForm);
  }
  std::uint64_t factor = 1;
  if (rest == "k")
    factor = 1'000;
  else if (rest == "m")
    factor = 1'000'000;
  else if (rest == "K" || rest == "M")
    return refuse(text, "has a capital suffix", "k for thousands, m for millions");
  else if (!rest.empty())
    return not_a(text, kCountForm);
  const Wide scaled = Wide{d->digits} * factor;
  const std::uint64_t divisor = power_of_ten(d->scale);
  if (scaled % divisor != 0) return refuse(text, "is not a whole number", kCountForm);
  const Wide whole = scaled / divisor;
  if (whole > Wide{INT64_MAX}) return Unexpected{fmt::format("{} is too large for a count", quoted(text))};
  return static_cast<std::uint64_t>(whole);
}

Expected<std::int64_t, std::string> parse_duration(std::string_view text) {
  if (const auto meant = unfolded_sexagesimal(text)) return refuse(text, "is not a duration", *meant);
  if (plain_number(text)) return refuse(text, "has no unit", fmt::format("{0}s or {0}ms", text));
  std::string_view rest = text;
  Wide total = 0;
  std::int64_t last_unit_ns = INT64_MAX;
  while (!rest.empty() || text.empty()) {
    const std::optional<Decimal> d = take_decimal(rest);
    const Unit* unit = d ? take_unit(rest) : nullptr;
    const bool part_of_several = !rest.empty() || last_unit_ns != INT64_MAX;
    if (unit == nullptr || unit->ns >= last_unit_ns || (part_of_several && d->scale > 0))
      return not_a(text, kDurationForm);
    last_unit_ns = unit->ns;
    const Wide ns = Wide{d->digits} * static_cast<std::uint64_t>(unit->ns);
    if (ns % power_of_ten(d->scale) != 0)
      return Unexpected{fmt::format("{} is finer than a nanosecond", quoted(text))};
    total += ns / power_of_ten(d->scale);
    if (total > Wide{kLongestDuration_ns})
      return Unexpected{fmt::format("{} is longer than a year", quoted(text))};
  }
  return static_cast<std::int64_t>(total);
}

Expected<double, std::string> parse_rate(std::string_view text) {
  if (plain_number(text)) return refuse(text, "has no unit", fmt::format("{}/s", text));
  std::string_view rest = text;
  const std::optional<Decimal> d = take_decimal(rest);
  if (!d) return not_a(text, kRateForm);
  double items = value_of(*d);
  if (!rest.empty() && (rest[0] == 'k' || rest[0] == 'm')) {
    items *= rest[0] == 'k' ? 1e3 : 1e6;
    rest.remove_prefix(1);
  }
  double seconds = 0;
  if (!rest.empty() && rest[0] == '/') {
    rest.remove_prefix(1);
    const Unit* unit = take_unit(rest);
    if (unit == nullptr || !rest.empty()) return not_a(text, kRateForm);
    seconds = static_cast<double>(unit->ns) / 1e9;
  } else if (rest.substr(0, 5) == " per ") {
    const auto each = parse_duration(rest.substr(5));
    if (!each || *each == 0) return not_a(text, kRateForm);
    seconds = static_cast<double>(*each) / 1e9;
  } else {
    return not_a(text, kRateForm);
  }
  const double rate = items / seconds;
  if (rate > kHighestRate_per_s)
    return Unexpected{fmt::format("{} is more than {:.0f}/s", quoted(text), kHighestRate_per_s)};
  const double lowest_per_s = 1e9 / static_cast<double>(kLongestDuration_ns);
  if (rate > 0 && rate < lowest_per_s)
    return Unexpected{fmt::format("{} is less than one a year", quoted(text))};
  return rate;
}

Expected<double, std::string> parse_decimal(std::string_view text) {
  std::string_view rest = text;
  const std::optional<Decimal> d = take_decimal(rest);
  if (!d || !rest.empty()) return not_a(text, kDecimalForm);
  return value_of(*d);
}

}  // namespace onrush
