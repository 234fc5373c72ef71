// Assertions that stay on in release: a broken one is a bug of ours, never a plan's or a target's doing.
#pragma once

namespace onrush {

/// Prints what was expected and where on stderr, then aborts.
[[noreturn]] void check_failed(const char* condition, const char* file, int line) noexcept;

}  // namespace onrush

#define ONRUSH_CHECK(condition) \
  (static_cast<bool>(condition) ? void(0) : ::onrush::check_failed(#condition, __FILE__, __LINE__))
