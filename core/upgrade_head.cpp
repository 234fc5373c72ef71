#include "core/upgrade_head.h"

#include <algorithm>

#include "core/check.h"

namespace onrush {
namespace {

// Neither reserved nor unreserved in RFC 3986, or, as '#', the end of what is sent.
constexpr std::string_view kNotInPaths = "\"#<>\\^`{|}";
constexpr std::string_view kTokenMarks = "!#$%&'*+-.^_`|~";

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

bool is_token_character(char c) noexcept {
  const char letter = lower(c);
  return (letter >= 'a' && letter <= 'z') || (c >= '0' && c <= '9') ||
         kTokenMarks.find(c) != std::string_view::npos;
}

// Names of headers ignore case, those of cookies do not.
template <class Same>
std::vector<UpgradeField> merged(const std::vector<UpgradeField>& general,
                                 const std::vector<UpgradeField>& own, Same same) {
  std::vector<UpgradeField> all = general;
  for (const UpgradeField& field : own) {
    const auto replaced = std::find_if(
        all.begin(), all.end(), [&](const UpgradeField& other) { return same(other.name, field.name); });
    if (replaced == all.end())
      all.push_back(field);
    else
      *replaced = field;
  }
  return all;
}

bool same_text(std::string_view a, std::string_view b) noexcept { return a == b; }

}  // namespace

bool same_name(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char left, char right) { return lower(left) == lower(right); });
}

bool is_token(std::string_view text) noexcept {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_character);
}

std::size_t find_line_breaker(std::string_view text) noexcept {
  const auto found = std::find_if(text.begin(), text.end(),
                                  [](char c) { return (c >= 0 && c < ' ' && c != '\t') || c == 0x7f; });
  return found == text.end() ? std::string_view::npos : static_cast<std::size_t>(found - text.begin());
}

UpgradeFields combined(const UpgradeFields& general, const UpgradeFields& own) {
  return {own.path ? own.path : general.path, merged(general.headers, own.headers, same_name),
          merged(general.cookies, own.cookies, same_text),
          own.subprotocols.empty() ? general.subprotocols : own.subprotocols};
}

UpgradeHead::UpgradeHead(const UpgradeFields& general, const UpgradeFields& own) {
  UpgradeFields all = combined(general, own);
  path_ = std::move(all.path);
  subprotocols_ = std::move(all.subprotocols);
  for (const UpgradeField& header : all.headers) {
    has_host_ = has_host_ || same_name(header.name, "host");
    lines_.append(header.name);
    lines_.append(": ");
    lines_.append(header.value);
    lines_.append("\r\n");
    ++count_;
  }
  std::string_view before = "Cookie: ";  // one line for all of them (RFC 6265 section 5.4)
  for (const UpgradeField& cookie : all.cookies) {
    lines_.append(before);
    lines_.append(cookie.name);
    lines_.append("=");
    lines_.append(cookie.value);
    before = "; ";
  }
  if (before != "Cookie: ") {
    lines_.append("\r\n");
    ++count_;
  }
  before = "Sec-WebSocket-Protocol: ";
  for (const std::string& subprotocol : subprotocols_) {
    lines_.append(before);
    lines_.append(subprotocol);
    before = ", ";
  }
  if (!subprotocols_.empty()) {
    lines_.append("\r\n");
    ++count_;
  }
  Template::Draws drawn;
  if (path_) path_->draw_behind(drawn);
  lines_.draw_behind(drawn);
  if (!is_fixed()) return;
  ONRUSH_CHECK(render({}, fixed_));  // as the plan's texts were looked at
  render_path({}, fixed_path_);
}

void UpgradeHead::render_path(const TemplateValues& values, std::string& out) const {
  if (!path_) return;
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const std::size_t begin = out.size();
  path_->render(values, out);
  for (std::size_t at = begin; at < out.size(); ++at) {
    const char c = out[at];
    if (c > ' ' && c <= '~' && kNotInPaths.find(c) == std::string_view::npos) continue;
    const auto byte = static_cast<unsigned char>(c);
    out[at] = '%';
    const char digits[] = {kDigits[byte >> 4], kDigits[byte & 15]};
    out.insert(at + 1, digits, 2);
    at += 2;
  }
}

bool UpgradeHead::render(const TemplateValues& values, std::string& out) const {
  const std::size_t begin = out.size();
  lines_.render(values, out);
  // Nothing but the ends of our own lines may be a control character.
  std::size_t ends = 0;
  std::string_view rest = std::string_view{out}.substr(begin);
  for (std::size_t at = 0; (at = find_line_breaker(rest)) != std::string_view::npos; ++ends) {
    if (rest.substr(at, 2) != "\r\n") return false;
    rest.remove_prefix(at + 2);
  }
  return ends == count_;
}

}  // namespace onrush
