// JSON with `${...}` in its strings and numbers, compiled once with the plan and rendered for each message.
//
// Why: a value put into JSON must be escaped there, and what was a number must stay one; a plain text
// template knows neither. Owner: any thread; immutable once built. Rendering appends to the caller's buffers
// and allocates only if those must grow. Always: what is rendered is one JSON document, whatever the values
// are, and no two of its `random` or `uuid` are drawn as one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/template.h"

namespace onrush {

/// Appends a JSON string with its quotes (RFC 8259 section 7). `text` is UTF-8.
void append_json_string(std::string_view text, std::string& out);

/// A number as JSON writes it (RFC 8259 section 6).
[[nodiscard]] bool is_json_number(std::string_view text) noexcept;

class JsonTemplate {
 public:
  /// Nothing was appended: there is no document.
  [[nodiscard]] bool empty() const noexcept { return pieces_.empty(); }

  // Building, from left to right; whoever builds sees to it that the whole is JSON.
  void append_json(std::string_view json);
  /// A string.
  void append_text(Template text);
  /// A number if the text renders to one, a string otherwise.
  void append_number(Template text);

  /// Appends the rendered document to `out`; `scratch` is overwritten.
  void render(const TemplateValues& values, std::string& scratch, std::string& out) const;

 private:
  struct Piece {
    enum class Kind : std::uint8_t { json, text, number } kind;
    std::string json;
    Template value;
  };
  void append_value(Piece::Kind kind, Template text);

  std::vector<Piece> pieces_;
  Template::Draws drawn_;
};

}  // namespace onrush
