// Figures as people read them: the one place that says how a number, a time, a size or a share is printed.
//
// Why: the terminal view, the summary, `onrush check`, diagnostics and remedies must not print one figure in
// two ways. Owner: any thread; pure. Files and wires for programs do not use these.
#pragma once

#include <cstdint>
#include <string>

namespace onrush {

/// "1,000,001".
[[nodiscard]] std::string format_count(std::uint64_t count);

/// Three digits in the unit that suits: "0 us", "812 us", "2.84 ms", "41.2 ms", "6.42 s", "1,020 s". Negative
/// times keep their sign.
[[nodiscard]] std::string format_time_us(std::int64_t time_us);

/// "131 B", "8.3 KB", "84 MB", "5.1 GB": thousands, two digits or more.
[[nodiscard]] std::string format_bytes(std::uint64_t bytes);

/// "10,000/s", "0.1/s", "0.333/s": whole from 100, three digits below.
[[nodiscard]] std::string format_rate(double per_s);

/// A fraction of 1 in percent: "14.50 %". What is not quite none or all is "<0.01 %" or ">99.99 %", never 0
/// or 100.
[[nodiscard]] std::string format_share(double fraction);

/// Time passed or left, as a clock: "00:01:01". Negative is 0.
[[nodiscard]] std::string format_clock(std::int64_t time_us);

/// A length as a plan writes it, exactly: "1m30s", "250ms", "1h". 0 is "0s".
[[nodiscard]] std::string format_length(std::int64_t length_ns);

/// A length in a column of lengths: "30 s", "100.2 s", "0.05 s", "3,000 s".
[[nodiscard]] std::string format_seconds(double length_s);

}  // namespace onrush
