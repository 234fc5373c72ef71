// What the fuzzers share. Each file <parser>_fuzz.cpp defines LLVMFuzzerTestOneInput; a wrong answer ends the
// program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace onrush {

/// Cuts `bytes` into chunks whose sizes follow from `seed`, 0 = single bytes.
inline std::vector<std::string> split_by(const std::string& bytes, std::uint8_t seed) {
  std::vector<std::string> chunks;
  std::uint32_t state = seed;
  for (std::size_t at = 0; at < bytes.size();) {
    state = state * 1664525 + seed;  // without a seed it stays 0
    const std::size_t size = 1 + (state >> 16) % (1 + seed);
    chunks.push_back(bytes.substr(at, size));
    at += chunks.back().size();
  }
  return chunks;
}

}  // namespace onrush
