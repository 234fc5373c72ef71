#include "core/graphql_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/nearest.h"

namespace onrush {
namespace {

bool begins_name(char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool continues_name(char c) { return begins_name(c) || (c >= '0' && c <= '9'); }

struct Token {
  enum class Kind : std::uint8_t { end, name, punctuator, value } kind;
  std::size_t at;
  std::string_view text;

  [[nodiscard]] bool is(std::string_view what) const { return kind == Kind::punctuator && text == what; }
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_{text} { advance(); }

  Expected<GraphqlDocument, TemplateError> document() {
    std::optional<GraphqlDocument> found;
    while (!error_ && token_.kind != Token::Kind::end) {
      const std::size_t at = token_.at;
      if (token_.kind == Token::Kind::name && token_.text == "fragment") {
        fragment();
        continue;
      }
      GraphqlDocument operation = definition();
      if (found) fail(at, "there is a second operation; a step has one");
      found = std::move(operation);
    }
    if (!error_ && !found) fail(0, "there is no operation; write query { ... }");
    if (error_) return Unexpected{*error_};
    return std::move(*found);
  }

 private:
  GraphqlDocument definition() {
    GraphqlDocument out{GraphqlOperation::query, {}};
    if (token_.is("{")) return brackets(), out;
    const std::size_t at = token_.at;
    const std::string_view word = token_.kind == Token::Kind::name ? token_.text : std::string_view{};
    if (word == "mutation")
      out.operation = GraphqlOperation::mutation;
    else if (word == "subscription")
      out.operation = GraphqlOperation::subscription;
    else if (word != "query")
      return fail(at, "an operation begins with query, mutation, subscription or {"), out;
    advance();
    if (token_.kind == Token::Kind::name) advance();
    if (token_.is("(")) variables(out.variables);
    directives();
    if (!error_ && !token_.is("{")) fail(token_.at, "a selection { ... } is missing");
    brackets();
    return out;
  }

  void fragment() {
    advance();
    while (!error_ && token_.kind == Token::Kind::name) advance();  // its name, on, its type
    directives();
    if (!error_ && !token_.is("{")) fail(token_.at, "a fragment's selection { ... } is missing");
    brackets();
  }

  void directives() {
    while (!error_ && token_.is("@")) {
      advance();
      advance();
      if (token_.is("(")) brackets();
    }
  }

  void variables(std::vector<GraphqlVariable>& out) {
    advance();
    if (token_.is(")")) fail(token_.at, "there are no variables within the ( )");
    while (!error_ && !token_.is(")")) {
      if (!token_.is("$")) return fail(token_.at, "a variable is declared as $name: Type");
      advance();
      const std::size_t at = token_.at;
      if (token_.kind != Token::Kind::name) return fail(at, "a variable's name is missing behind the $");
      GraphqlVariable variable{std::string{token_.text}, {}, false};
      advance();
      if (!token_.is(":")) return fail(token_.at, fmt::format("the type of ${} is missing", variable.name));
      advance();
      variable.required = type(variable.type, 0);
      if (token_.is("=")) {
        advance();
        variable.required = false;
        value();
      }
      directives();
      if (std::any_of(out.begin(), out.end(), [&](const auto& v) { return v.name == variable.name; }))
        return fail(at, fmt::format("${} is declared twice", variable.name));
      if (out.size() == kMostGraphqlVariables)
        return fail(at, fmt::format("more than {} variables", kMostGraphqlVariables));
      out.push_back(std::move(variable));
    }
    advance();
  }

  // True if it may not be null.
  bool type(std::string& named, std::size_t depth) {
    if (token_.is("[") && depth < kDeepestGraphql) {
      advance();
      type(named, depth + 1);
      if (!error_ && !token_.is("]")) fail(token_.at, "a list's type wants a ]");
      advance();
    } else if (token_.kind == Token::Kind::name) {
      named = token_.text;
      advance();
    } else {
      fail(token_.at, "a type is a name or [a list]");
    }
    if (!token_.is("!")) return false;
    advance();
    return true;
  }

  void value() {
    if (token_.is("$")) advance();
    if (token_.is("[") || token_.is("{")) return brackets();
    advance();
  }

  // From an opening bracket to past its end; whatever lies within.
  void brackets() {
    std::string open;
    while (!error_) {
      if (token_.kind == Token::Kind::end) return fail(token_.at, fmt::format("a '{}' has no end", open));
      if (token_.is("{") || token_.is("(") || token_.is("[")) {
        if (open.size() == kDeepestGraphql)
          return fail(token_.at, fmt::format("nested more than {} deep", kDeepestGraphql));
        open += token_.text.front();
      } else if (token_.is("}") || token_.is(")") || token_.is("]")) {
        const char opened = token_.text == "}" ? '{' : token_.text == ")" ? '(' : '[';
        if (open.empty() || open.back() != opened)
          return fail(token_.at, fmt::format("a '{}' that closes nothing", token_.text));
        open.pop_back();
      }
      advance();
      if (open.empty()) return;
    }
  }

  void advance() {
    skip_ignored();
    if (at_ >= text_.size()) {
      token_ = {Token::Kind::end, text_.size(), {}};
      return;
    }
    const std::size_t begin = at_;
    const char c = text_[at_];
    if (begins_name(c)) {
      while (at_ < text_.size() && continues_name(text_[at_])) ++at_;
      token_ = {Token::Kind::name, begin, text_.substr(begin, at_ - begin)};
    } else if (c == '"') {
      take_string();
      token_ = {Token::Kind::value, begin, {}};
    } else if (std::string_view{"+-0123456789"}.find(c) != std::string_view::npos) {
      while (at_ < text_.size() &&
             (continues_name(text_[at_]) || text_[at_] == '.' || text_[at_] == '-' || text_[at_] == '+'))
        ++at_;
      token_ = {Token::Kind::value, begin, {}};
    } else if (text_.substr(at_, 3) == "...") {
      at_ += 3;
      token_ = {Token::Kind::punctuator, begin, text_.substr(begin, 3)};
    } else if (std::string_view{"!$&()=:@[]{|}"}.find(c) != std::string_view::npos) {
      ++at_;
      token_ = {Token::Kind::punctuator, begin, text_.substr(begin, 1)};
    } else {
      fail(begin, fmt::format("{} means nothing in GraphQL", quoted(std::string{c})));
      token_ = {Token::Kind::end, begin, {}};
      at_ = text_.size();
    }
  }

  void skip_ignored() {
    while (at_ < text_.size()) {
      if (std::string_view{" \t\r\n,"}.find(text_[at_]) != std::string_view::npos)
        ++at_;
      else if (text_[at_] == '#')
        at_ = std::min(text_.find('\n', at_), text_.size());
      else if (text_.substr(at_, 3) == "\xEF\xBB\xBF")
        at_ += 3;
      else
        return;
    }
  }

  void take_string() {
    const std::size_t begin = at_;
    const bool block = text_.substr(at_, 3) == "\"\"\"";
    const std::string_view quotes = block ? "\"\"\"" : "\"";
    at_ += quotes.size();
    while (at_ < text_.size() && text_.substr(at_, quotes.size()) != quotes) {
      if (!block && text_[at_] == '\n') break;
      // A block string has one escape, of its own end.
      at_ += text_[at_] == '\\' ? (block && text_.substr(at_ + 1, 3) == quotes ? 4 : block ? 1 : 2) : 1;
    }
    if (text_.substr(std::min(at_, text_.size()), quotes.size()) != quotes)
      return fail(begin, "a string without its end");
    at_ += quotes.size();
  }

  void fail(std::size_t at, std::string message) {
    if (!error_) error_ = TemplateError{at, std::move(message)};
    at_ = text_.size();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Token token_{Token::Kind::end, 0, {}};
  std::optional<TemplateError> error_;
};

}  // namespace

const char* name(GraphqlOperation operation) noexcept {
  switch (operation) {
    case GraphqlOperation::query: return "query";
    case GraphqlOperation::mutation: return "mutation";
    case GraphqlOperation::subscription: return "subscription";
  }
  return "";
}

const GraphqlVariable* GraphqlDocument::find(std::string_view variable) const noexcept {
  const auto found =
      std::find_if(variables.begin(), variables.end(), [&](const auto& v) { return v.name == variable; });
  return found == variables.end() ? nullptr : &*found;
}

Expected<GraphqlDocument, TemplateError> parse_graphql(std::string_view text) {
  if (text.size() > kLongestGraphql)
    return Unexpected{TemplateError{0, fmt::format("longer than {} bytes", kLongestGraphql)}};
  return Parser{text}.document();
}

}  // namespace onrush
