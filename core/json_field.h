// Members of a JSON message by their pointer (RFC 6901), read straight from the receive buffer.
//
// Why: a listening user reads three numbers of every broadcast and a request compares one member; building a
// document for that would cost more than the message. Owner: one worker, which uses its reader for one
// message after another. Always: whatever the target sends, an absent member, another type, a truncated or
// invalid document give nothing. Memory is bounded by the longest message allowed; it grows to that of the
// longest seen.
//
// Only what lies on the way to a member is checked: rubbish behind it goes unseen. Of duplicate members the
// first counts. A member's name is compared as it was written, so an escaped letter in it does not match.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/expected.h"

namespace onrush {

/// Readable bytes, of any content, that must follow every message given to a reader.
inline constexpr std::size_t kJsonPadding = 64;

/// A pointer taken apart once: "/data/message/0/id". "" points to the whole document.
class JsonPointer {
 public:
  /// The error says what is wrong and what to write instead.
  static Expected<JsonPointer, std::string> parse(std::string_view text);

 private:
  friend class JsonReader;
  struct Token {
    std::string name;                  ///< with ~0 and ~1 replaced
    std::optional<std::size_t> index;  ///< in an array
  };
  std::vector<Token> tokens_;
};

class JsonReader {
 public:
  /// Longer messages give nothing.
  explicit JsonReader(std::size_t max_message_bytes);
  ~JsonReader();
  JsonReader(JsonReader&&) noexcept;
  JsonReader& operator=(JsonReader&&) noexcept;

  /// Takes a message, which stays where it is until the next one. False if no member of it can be read.
  bool begin(std::span<const std::uint8_t> message) noexcept;

  /// A whole number that is not negative, written as such.
  [[nodiscard]] std::optional<std::uint64_t> number(const JsonPointer& pointer) noexcept;

  /// Any number, to a double's precision.
  [[nodiscard]] std::optional<double> real(const JsonPointer& pointer) noexcept;

  /// What a string says; a number, true, false or null as they are written. Valid until the next call.
  [[nodiscard]] std::optional<std::string_view> text(const JsonPointer& pointer) noexcept;

  /// What a string says, and nothing of any other type. Valid until the next call.
  [[nodiscard]] std::optional<std::string_view> string(const JsonPointer& pointer) noexcept;

  /// Whether it begins as an object; what is in it is not looked at.
  [[nodiscard]] bool is_object(const JsonPointer& pointer) noexcept;

  /// Any member as it is written, a whole object or list with its brackets. Only what ends it is checked, not
  /// what is in it.
  [[nodiscard]] std::optional<std::string_view> raw(const JsonPointer& pointer) noexcept;

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace onrush
