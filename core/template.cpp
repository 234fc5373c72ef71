#include "core/template.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "core/nearest.h"

namespace onrush {
namespace {

struct Named {
  std::string_view name;
  Variable variable;
};
constexpr std::array<Named, 3> kNamed{Named{"user", Variable::user}, Named{"sequence", Variable::sequence},
                                      Named{"now_us", Variable::now_us}};
constexpr std::array<std::string_view, 3> kNames{"user", "sequence", "now_us"};
constexpr std::array<std::string_view, 5> kLaterNames{"agent", "uuid", "random", "data", "env"};

template <class Integer>
void append_number(Integer value, std::string& out) {
  std::array<char, 20> digits{};  // of 2^64 - 1, and of -2^63
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

}  // namespace

std::span<const std::string_view> variable_names() noexcept { return kNames; }

std::optional<Variable> variable_named(std::string_view name) noexcept {
  for (const Named& known : kNamed)
    if (known.name == name) return known.variable;
  return std::nullopt;
}

std::string unknown_variable(std::string_view name, std::span<const std::string_view> known) {
  const std::string_view stem = name.substr(0, name.find_first_of(".("));
  for (const std::string_view later : kLaterNames)
    if (stem == later) return fmt::format("{} is not yet supported", quoted(fmt::format("${{{}}}", name)));
  const std::string_view near = nearest(name, known);
  if (!near.empty())
    return fmt::format("unknown name {} in '${{...}}'; did you mean '${{{}}}'?", quoted(name), near);
  return fmt::format("unknown name {} in '${{...}}'; known are {}", quoted(name), all_of(known));
}

std::optional<Placeholder> next_placeholder(std::string_view text, std::size_t from) noexcept {
  const std::size_t begin = text.find("${", from);
  if (begin == std::string_view::npos) return std::nullopt;
  if (begin > from && text[begin - 1] == '$') return Placeholder{begin - 1, begin + 2, {}, true, true};
  const std::size_t close = text.find('}', begin);
  if (close == std::string_view::npos)
    return Placeholder{begin, text.size(), text.substr(begin + 2), false, false};
  return Placeholder{begin, close + 1, text.substr(begin + 2, close - begin - 2), true, false};
}

Expected<Template, TemplateError> Template::compile(std::string_view text) {
  Template compiled;
  compiled.source_ = text;
  std::string literal;
  const auto flush = [&] {
    if (!literal.empty()) compiled.pieces_.emplace_back(std::move(literal));
    literal.clear();
  };
  std::size_t done = 0;
  while (const auto found = next_placeholder(text, done)) {
    literal += text.substr(done, found->begin - done);
    done = found->end;
    if (found->escaped) {
      literal += "${";
      continue;
    }
    if (!found->closed)
      return Unexpected{TemplateError{found->begin, "'${' has no '}'; write $${ for the text itself"}};
    const auto variable = variable_named(found->name);
    if (!variable) return Unexpected{TemplateError{found->begin, unknown_variable(found->name, kNames)}};
    flush();
    compiled.pieces_.emplace_back(*variable);
  }
  literal += text.substr(done);
  flush();
  return compiled;
}

void Template::render(const TemplateValues& values, std::string& out) const {
  for (const auto& piece : pieces_) {
    if (const auto* literal = std::get_if<std::string>(&piece)) {
      out += *literal;
      continue;
    }
    switch (std::get<Variable>(piece)) {
      case Variable::user: append_number(values.user, out); break;
      case Variable::sequence: append_number(values.sequence, out); break;
      case Variable::now_us: append_number(values.now_us, out); break;
    }
  }
}

}  // namespace onrush
