// The clock that the control protocol speaks of, and the kernel it belongs to: both ends must mean the same.
#pragma once

#include <cstdint>
#include <string>

namespace onrush {

/// CLOCK_MONOTONIC in nanoseconds: one clock for all processes of a kernel.
[[nodiscard]] std::int64_t monotonic_ns() noexcept;

/// The running kernel's identity; "" if it cannot be read, which then equals no other.
[[nodiscard]] std::string boot_id();

}  // namespace onrush
