// Text with `${...}` in it, compiled once with the plan and rendered for each message.
//
// Why: a message is rendered millions of times; looking names up again each time would cost more than sending
// it. Owner: any thread; immutable. Rendering appends to the caller's buffer and allocates only if that must
// grow.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/expected.h"

namespace onrush {

/// What a template may name.
enum class Variable : std::uint8_t {
  user,      ///< number of the user, unique in the run, from 1
  sequence,  ///< messages this user has begun, from 1; a request's reply sees its own message's number
  now_us,    ///< wall clock, microseconds since 1970
};

[[nodiscard]] std::span<const std::string_view> variable_names() noexcept;
[[nodiscard]] std::optional<Variable> variable_named(std::string_view name) noexcept;

/// What to say of a name that is none of `known`: the nearest one, or that it is not yet supported.
[[nodiscard]] std::string unknown_variable(std::string_view name, std::span<const std::string_view> known);

/// One `${name}` of a text, or one `$${`, which stands for the two characters `${` themselves.
struct Placeholder {
  std::size_t begin;
  std::size_t end;  ///< past it
  std::string_view name;
  bool closed;
  bool escaped;
};
/// The first at or after `from`.
[[nodiscard]] std::optional<Placeholder> next_placeholder(std::string_view text, std::size_t from) noexcept;

/// The values of one rendering.
struct TemplateValues {
  std::uint64_t user;
  std::uint64_t sequence;
  std::int64_t now_us;
};

/// Where in the text something is wrong (byte offset from 0), and what.
struct TemplateError {
  std::size_t offset;
  std::string message;
};

class Template {
 public:
  Template() = default;

  /// Compiles `text`; `$${` stands for `${` itself. Errors: an unknown name (with the nearest known one),
  /// `${` without `}`.
  static Expected<Template, TemplateError> compile(std::string_view text);

  /// Appends the rendered text to `out`.
  void render(const TemplateValues& values, std::string& out) const;

  /// The text as it was written.
  [[nodiscard]] const std::string& source() const noexcept { return source_; }

 private:
  std::string source_;
  std::vector<std::variant<std::string, Variable>> pieces_;
};

}  // namespace onrush
