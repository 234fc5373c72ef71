// What both ends of the control protocol tell of their machine: its clock, its kernel, its limits.
#pragma once

#include <cstdint>
#include <string>

#include "core/host_facts.h"

namespace onrush {

/// CLOCK_MONOTONIC in nanoseconds: one clock for all processes of a kernel.
[[nodiscard]] std::int64_t monotonic_ns() noexcept;

/// The running kernel's identity; "" if it cannot be read, which then equals no other.
[[nodiscard]] std::string boot_id();

/// Raises this process's descriptor limit to the hard one. Returns it (RLIMIT_NOFILE).
std::uint64_t raise_descriptor_limit() noexcept;

/// What a program of ours and its gRPC need before they hold the first connection: with fewer gRPC aborts.
inline constexpr std::uint64_t kLeastDescriptors = 32;

/// Opens /dev/null as 0, 1 and 2 where the parent has closed them; else the first sockets would get these
/// numbers, and what is logged would be written into them. First thing in main.
void hold_standard_descriptors() noexcept;

/// Everything, read from /proc and /sys; what cannot be read stays unknown.
[[nodiscard]] HostFacts read_host_facts();
/// Only what core/memory_left needs: cheap enough for each second.
void read_memory_facts(HostFacts& facts);

}  // namespace onrush
