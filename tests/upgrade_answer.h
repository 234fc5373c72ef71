// What an engine makes of an upgrade's answer that arrives in chunks: the same calls in the same order, so
// that tests and fuzzers can hold every cut of an answer against the whole of it.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/handshake.h"

namespace onrush {

struct Arrival {
  Failure failure;
  std::string sample;
  bool complete = false;  ///< there is a verdict; without, the head is still to be continued
  std::string behind;     ///< bytes behind the head of an open connection: frames
};

inline Arrival arrive(const std::vector<std::string>& chunks, std::string_view key) {
  std::string all;
  for (const std::string& chunk : chunks) all += chunk;
  std::size_t present = 0;
  for (const std::string& chunk : chunks) {
    const std::size_t searched = present;
    present += chunk.size();
    // A copy of exactly what has come, so that reading beyond it is caught by the address sanitizer.
    const std::unique_ptr<char[]> copy{new char[present]};
    if (present > 0) std::memcpy(copy.get(), all.data(), present);
    const std::string_view bytes{copy.get(), present};
    if (!may_be_http(bytes)) return {{Phase::upgrade, Cause::not_http, 0}, {}, true, {}};
    const std::optional<std::size_t> end = find_head_end(bytes, searched);
    if (!end && bytes.size() >= kMaxHeadBytes)
      return {{Phase::upgrade, Cause::head_too_large, 0}, {}, true, {}};
    if (!end) continue;
    HandshakeVerdict verdict = check_response(bytes.substr(0, *end), key);
    return {verdict.failure, std::move(verdict.sample), true,
            verdict.failure.cause == Cause::none ? all.substr(*end) : std::string{}};
  }
  return {};
}

}  // namespace onrush
