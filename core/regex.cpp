#include "core/regex.h"

#include <re2/re2.h>

#include <utility>

namespace onrush {
namespace {

// Of one expression: its program and the states seen so far. What does not fit is worked out again.
constexpr std::int64_t kMemory_bytes = 1 << 20;

re2::StringPiece piece_of(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

Expected<Regex, std::string> Regex::compile(std::string_view text) {
  if (text.size() > kLongest)
    return Unexpected{"it has " + std::to_string(text.size()) + " bytes; at most " +
                      std::to_string(kLongest)};
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMemory_bytes);
  auto compiled = std::make_shared<const re2::RE2>(piece_of(text), options);
  if (!compiled->ok()) return Unexpected{compiled->error()};
  return Regex{std::move(compiled)};
}

bool Regex::matches(std::string_view text) const noexcept {
  return compiled_->Match(piece_of(text), 0, text.size(), re2::RE2::UNANCHORED, nullptr, 0);
}

std::optional<std::string_view> Regex::find(std::string_view text) const noexcept {
  re2::StringPiece found[2];
  const int wanted = groups() > 0 ? 1 : 0;
  if (!compiled_->Match(piece_of(text), 0, text.size(), re2::RE2::UNANCHORED, found, wanted + 1))
    return std::nullopt;
  return std::string_view{found[wanted].data(), found[wanted].size()};
}

int Regex::groups() const noexcept { return compiled_->NumberOfCapturingGroups(); }

}  // namespace onrush
