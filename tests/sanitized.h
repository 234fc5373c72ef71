// What a test does differently under a sanitizer: fewer seeds, and room for the sanitizer's own memory.
//
// Why: each seed takes several times as long there, and what a sanitizer finds shows within the first ones;
// the release build, which runs them all, is where rare seeds are looked for. Always: at least one seed.
#pragma once

#include <cstdint>

namespace onrush {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

constexpr std::uint64_t seeds(std::uint64_t wanted) { return kSanitized ? (wanted + 2) / 3 : wanted; }

}  // namespace onrush
