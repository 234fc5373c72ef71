#include "core/check.h"

#include <cstdio>
#include <cstdlib>

namespace onrush {

void check_failed(const char* condition, const char* file, int line) noexcept {
  std::fprintf(stderr, "onrush: internal error: expected %s at %s:%d\n", condition, file, line);
  std::abort();
}

}  // namespace onrush
