// How much memory a machine has left for sockets, and how much of it is not to be touched.
//
// Why: the kernel kills processes when memory is gone, the target's as well as ours, so a run must not come
// near; and MemAvailable misleads exactly then. Owner: any thread; pure. Preflight and the agent's guard use
// the same rule.
//
// MemAvailable counts reclaimable slab as free. An open socket's inode and directory entry lie in such slabs
// and are pinned as long as it is open: sock_inode_cache has 832 bytes, 19 in 16 KiB; dentry 192 bytes, 21 in
// 4 KiB; together 1,057 a socket. (At 2,000,000 pairs MemAvailable said 3.8 GB too much: 950 bytes a socket,
// as the kernel itself holds back its low watermark once.) So left = MemAvailable - sockets x 1,057, and
// within a control group at most limit - use, where use is without the file pages that it can drop.
#pragma once

#include <cstdint>
#include <optional>

#include "core/host_facts.h"

namespace onrush {

/// Reclaimable slab that an open socket pins.
inline constexpr std::uint64_t kPinnedSlabBytes = 1057;

/// Nothing if it could not be read.
[[nodiscard]] std::optional<std::uint64_t> memory_left(const HostFacts& facts);

/// Bytes that stay free: what the agent was told, or a twenty-fifth of the memory (of the control group's, if
/// that is less).
///
/// From the look at the memory to the last connection that is opened pass up to three seconds (the look is
/// taken once a second, the word to stop takes one, attempts under way the third): at the fastest that two
/// cores open (20,000 pairs a second of 8.4 KB) that is 0.5 GB, 2 % of a machine of 25 GB. The same again is
/// for the kernel's own watermarks and for what is queued while it closes.
[[nodiscard]] std::uint64_t memory_reserve(const HostFacts& facts);

}  // namespace onrush
