// What a plan adds to the request that opens a connection: headers, cookies, subprotocols.
//
// Owner: part of a Plan; immutable. Always: names are tokens and none is there twice, whatever its case; no
// text that the plan gives breaks its line. What a row or a captured value brings is looked at when it is
// there.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/template.h"

namespace onrush {

struct UpgradeField {
  std::string name;
  Template value;
};

struct UpgradeFields {
  std::optional<Template> path;  ///< with the query, instead of the target's
  std::vector<UpgradeField> headers;
  std::vector<UpgradeField> cookies;
  std::vector<std::string> subprotocols;  ///< offered, the most wanted first
};

/// What `own` says, and of what it leaves out what `general` says: of headers and cookies one by one, of
/// subprotocols as a whole.
[[nodiscard]] UpgradeFields combined(const UpgradeFields& general, const UpgradeFields& own);

/// The lines behind those that every upgrade request has, ready to be sent.
class UpgradeHead {
 public:
  UpgradeHead() = default;
  /// `own`, of one step, combined with `general`, of the plan.
  UpgradeHead(const UpgradeFields& general, const UpgradeFields& own);

  /// True if lines and path are the same for every user; the lines are then fixed(), the path fixed_path().
  [[nodiscard]] bool is_fixed() const noexcept { return lines_.is_fixed() && (!path_ || path_->is_fixed()); }
  [[nodiscard]] const std::string& fixed_path() const noexcept { return fixed_path_; }
  [[nodiscard]] const std::string& fixed() const noexcept { return fixed_; }

  /// Appends the lines for one user. False if a value would break its line (RFC 9110 section 5.5).
  [[nodiscard]] bool render(const TemplateValues& values, std::string& out) const;

  /// Appends the path and query for one user; nothing if the target's is meant. What a request line cannot
  /// hold is escaped (RFC 3986 section 2.1), so no value can break it.
  void render_path(const TemplateValues& values, std::string& out) const;

  /// True if the plan gives a Host, so that the target's must not be sent.
  [[nodiscard]] bool has_host() const noexcept { return has_host_; }
  [[nodiscard]] const std::vector<std::string>& subprotocols() const noexcept { return subprotocols_; }

 private:
  std::optional<Template> path_;
  Template lines_;
  std::string fixed_;
  std::string fixed_path_;
  std::size_t count_ = 0;  ///< of lines
  bool has_host_ = false;
  std::vector<std::string> subprotocols_;
};

/// Of header names: `Content-Type` is `content-type`.
[[nodiscard]] bool same_name(std::string_view a, std::string_view b) noexcept;
/// A name as RFC 9110 section 5.6.2 allows it.
[[nodiscard]] bool is_token(std::string_view text) noexcept;
/// Where a text would break the line that it is put into, or npos: a control character other than a tab.
[[nodiscard]] std::size_t find_line_breaker(std::string_view text) noexcept;

}  // namespace onrush
