#include "core/format.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace onrush {

namespace {

std::string with_commas(std::string number) {
  const std::size_t point = number.find('.');
  const std::size_t first = number.starts_with('-') ? 1 : 0;
  for (std::size_t i = point == std::string::npos ? number.size() : point; i > first + 3;)
    number.insert(i -= 3, 1, ',');
  return number;
}

std::string fixed(double value, int decimals) { return with_commas(fmt::format("{:.{}f}", value, decimals)); }

std::string trimmed(std::string number) {
  if (number.find('.') == std::string::npos) return number;
  number.erase(number.find_last_not_of('0') + 1);
  if (number.ends_with('.')) number.pop_back();
  return number;
}

// Decimals that leave three digits in all. 9.996 counts as 10.0, since that is what it is rounded to.
int decimals_of_three_digits(double value) { return value < 9.995 ? 2 : value < 99.95 ? 1 : 0; }

}  // namespace

std::string format_count(std::uint64_t count) { return with_commas(std::to_string(count)); }

std::string format_time_us(std::int64_t time_us) {
  if (std::llabs(time_us) < 1000) return fmt::format("{} us", time_us);
  const double us = std::fabs(static_cast<double>(time_us));
  const bool in_ms = us < 999'500;
  const double value = us / (in_ms ? 1e3 : 1e6);
  return fmt::format("{}{} {}", time_us < 0 ? "-" : "", fixed(value, decimals_of_three_digits(value)),
                     in_ms ? "ms" : "s");
}

std::string format_bytes(std::uint64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  constexpr std::array<std::string_view, 6> kUnits = {"KB", "MB", "GB", "TB", "PB", "EB"};
  double value = static_cast<double>(bytes) / 1e3;
  std::size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < kUnits.size(); value /= 1e3) ++unit;
  return fmt::format("{} {}", fixed(value, value < 9.95 ? 1 : 0), kUnits[unit]);
}

std::string format_rate(double per_s) {
  if (per_s >= 99.95) return fixed(per_s, 0) + "/s";
  if (per_s <= 0) return "0/s";
  // Below 1 the leading zeros are no digits: 0.00333.
  const int decimals =
      per_s >= 1 ? decimals_of_three_digits(per_s) : 2 - static_cast<int>(std::floor(std::log10(per_s)));
  return trimmed(fixed(per_s, decimals)) + "/s";
}

std::string format_share(double fraction) {
  if (fraction > 0 && fraction < 0.00005) return "<0.01 %";
  if (fraction < 1 && fraction >= 0.99995) return ">99.99 %";
  return fmt::format("{:.2f} %", fraction * 100);
}

std::string format_clock(std::int64_t time_us) {
  const std::int64_t s = time_us > 0 ? time_us / 1'000'000 : 0;
  return fmt::format("{:02}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

std::string format_length(std::int64_t length_ns) {
  struct Unit {
    std::int64_t ns;
    std::string_view name;
  };
  constexpr std::array<Unit, 6> kUnits = {{{3'600'000'000'000, "h"},
                                           {60'000'000'000, "m"},
                                           {1'000'000'000, "s"},
                                           {1'000'000, "ms"},
                                           {1'000, "us"},
                                           {1, "ns"}}};
  if (length_ns == 0) return "0s";
  std::string text = length_ns < 0 ? "-" : "";
  std::int64_t left_ns = std::llabs(length_ns);
  for (const Unit& unit : kUnits) {
    if (left_ns >= unit.ns) text += fmt::format("{}{}", left_ns / unit.ns, unit.name);
    left_ns %= unit.ns;
  }
  return text;
}

std::string format_seconds(double length_s) {
  return trimmed(fixed(length_s, length_s < 9.95 ? 2 : 1)) + " s";
}

}  // namespace onrush
