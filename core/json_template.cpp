#include "core/json_template.h"

#include <algorithm>

namespace onrush {
namespace {

bool must_be_escaped(char c) noexcept {
  return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20;
}

void append_escaped(char c, std::string& out) {
  constexpr char kDigits[] = "0123456789abcdef";
  out += '\\';
  switch (c) {
    case '\n': out += 'n'; return;
    case '\r': out += 'r'; return;
    case '\t': out += 't'; return;
    case '"':
    case '\\': out += c; return;
    default: break;
  }
  out += "u00";
  out += kDigits[static_cast<unsigned char>(c) >> 4];
  out += kDigits[c & 15];
}

}  // namespace

void append_json_string(std::string_view text, std::string& out) {
  out += '"';
  while (true) {
    const auto plain = std::find_if(text.begin(), text.end(), must_be_escaped) - text.begin();
    out += text.substr(0, static_cast<std::size_t>(plain));
    text.remove_prefix(static_cast<std::size_t>(plain));
    if (text.empty()) break;
    append_escaped(text.front(), out);
    text.remove_prefix(1);
  }
  out += '"';
}

bool is_json_number(std::string_view text) noexcept {
  const auto take = [&](std::string_view any) {
    const bool found = !text.empty() && any.find(text.front()) != std::string_view::npos;
    if (found) text.remove_prefix(1);
    return found;
  };
  const auto take_digits = [&] {
    bool any = false;
    while (take("0123456789")) any = true;
    return any;
  };
  take("-");
  if (!take("0") && !take_digits()) return false;
  if (take(".") && !take_digits()) return false;
  if (take("eE")) {
    take("+-");
    if (!take_digits()) return false;
  }
  return text.empty();
}

void JsonTemplate::append_json(std::string_view json) {
  if (pieces_.empty() || pieces_.back().kind != Piece::Kind::json)
    pieces_.push_back({Piece::Kind::json, {}, {}});
  pieces_.back().json += json;
}

void JsonTemplate::append_text(Template text) {
  if (text.source().find("${") == std::string::npos) {
    std::string json;
    append_json_string(text.source(), json);
    return append_json(json);
  }
  append_value(Piece::Kind::text, std::move(text));
}

void JsonTemplate::append_number(Template text) { append_value(Piece::Kind::number, std::move(text)); }

void JsonTemplate::append_value(Piece::Kind kind, Template text) {
  text.draw_behind(drawn_);
  pieces_.push_back({kind, {}, std::move(text)});
}

void JsonTemplate::render(const TemplateValues& values, std::string& scratch, std::string& out) const {
  for (const Piece& piece : pieces_) {
    if (piece.kind == Piece::Kind::json) {
      out += piece.json;
      continue;
    }
    scratch.clear();
    piece.value.render(values, scratch);
    if (piece.kind == Piece::Kind::number && is_json_number(scratch))
      out += scratch;
    else
      append_json_string(scratch, out);
  }
}

}  // namespace onrush
