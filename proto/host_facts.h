// What both ends of the control protocol tell of their machine: its clock, its kernel, its limits.
#pragma once

#include <cstdint>
#include <string>

namespace onrush {

/// CLOCK_MONOTONIC in nanoseconds: one clock for all processes of a kernel.
[[nodiscard]] std::int64_t monotonic_ns() noexcept;

/// The running kernel's identity; "" if it cannot be read, which then equals no other.
[[nodiscard]] std::string boot_id();

/// Raises this process's descriptor limit to the hard one. Returns it (RLIMIT_NOFILE).
std::uint64_t raise_descriptor_limit() noexcept;

/// MemAvailable of /proc/meminfo in bytes; 0 if it cannot be read.
[[nodiscard]] std::uint64_t memory_available_bytes();

}  // namespace onrush
