// The same bytes as text and as numbers: sockets and frames speak of bytes, templates and JSON of text.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace onrush {

[[nodiscard]] inline std::string_view text_of(std::span<const std::uint8_t> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

[[nodiscard]] inline std::span<const std::uint8_t> bytes_of(std::string_view text) noexcept {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace onrush
