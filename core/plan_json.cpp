#include "core/plan_json.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <system_error>

#include "core/nearest.h"

namespace onrush {
namespace {

constexpr std::size_t kDeepestValue = 32;

// A value that is one of these alone is a number, unless its declared type says otherwise.
bool is_numeric_name(std::string_view name) {
  return name == "user" || name == "agent" || name == "sequence" || name == "now_us" ||
         name.substr(0, 7) == "random(";
}

bool is_one_number(const std::string& text) {
  const auto placeholder = next_placeholder(text, 0);
  return placeholder && !placeholder->escaped && placeholder->begin == 0 && placeholder->end == text.size() &&
         is_numeric_name(placeholder->name);
}

// GraphQL's Int has 32 bits with sign (GraphQL specification, October 2021, section 3.5.1).
bool is_int(std::string_view text) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && is_json_number(text);
}

/// Writes a YAML value as JSON.
class ValueWriter {
 public:
  ValueWriter(Reader& reader, std::string what, JsonTemplate& out)
      : reader_{reader}, what_{std::move(what)}, out_{out} {}

  void write(const YamlNode& node, std::string_view type, std::size_t depth) {
    if (depth > kDeepestValue) {
      reader_.complain(node, fmt::format("{} is nested more than {} deep", what_, kDeepestValue));
      return;
    }
    switch (node.kind) {
      case YamlNode::Kind::null: return out_.append_json("null");
      case YamlNode::Kind::scalar: return scalar(node, type);
      case YamlNode::Kind::sequence: return list(node, type, depth);
      case YamlNode::Kind::map: return map(node, depth);
    }
  }

 private:
  void scalar(const YamlNode& node, std::string_view type) {
    const bool is_text = type == "String" || type == "ID";
    const bool is_number = type == "Int" || type == "Float";
    if (node.text.find("${") != std::string::npos) {
      auto text = reader_.template_text(node, what_);
      if (!text) return;
      if (is_number || (!is_text && is_one_number(node.text))) return out_.append_number(std::move(*text));
      return out_.append_text(std::move(*text));
    }
    const bool is_word = node.text == "true" || node.text == "false";
    if (is_number || type == "Boolean") {
      const bool fits = type == "Boolean" ? is_word
                        : type == "Int"   ? is_int(node.text)
                                          : is_json_number(node.text);
      if (!fits) reader_.complain(node, fmt::format("{}: {} is no {}", what_, quoted(node.text), type));
      return out_.append_json(node.text);
    }
    if (!is_text && !node.quoted && (is_word || is_json_number(node.text)))
      return out_.append_json(node.text);
    std::string json;
    append_json_string(node.text, json);
    out_.append_json(json);
  }

  void list(const YamlNode& node, std::string_view type, std::size_t depth) {
    out_.append_json("[");
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      if (i > 0) out_.append_json(",");
      write(*node.children[i], type, depth + 1);
    }
    out_.append_json("]");
  }

  void map(const YamlNode& node, std::size_t depth) {
    refuse_repeated_names(reader_, node, what_);
    out_.append_json("{");
    for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
      std::string name;
      append_json_string(node.children[i]->text, name);
      out_.append_json(i > 0 ? "," + name + ":" : name + ":");
      write(*node.children[i + 1], "", depth + 1);
    }
    out_.append_json("}");
  }

  Reader& reader_;
  std::string what_;
  JsonTemplate& out_;
};

}  // namespace

void write_json(Reader& reader, const YamlNode& node, const std::string& what, JsonTemplate& out,
                std::string_view type) {
  ValueWriter(reader, what, out).write(node, type, 0);
}

}  // namespace onrush
