#include "core/plan_upgrade.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/nearest.h"

namespace onrush {
namespace {

constexpr std::size_t kMostFields = 100;
constexpr std::size_t kMostSubprotocols = 20;
constexpr std::size_t kLargestField = 64 * 1024;
constexpr std::size_t kLargestPath = 8 * 1024;

struct Reserved {
  std::string_view name;
  std::string_view instead;
};
// What the handshake itself says (RFC 6455 section 4.1), or what would make a server wait for a body.
constexpr std::array kReserved{Reserved{"Connection", ""},
                               Reserved{"Upgrade", ""},
                               Reserved{"Sec-WebSocket-Key", ""},
                               Reserved{"Sec-WebSocket-Version", ""},
                               Reserved{"Sec-WebSocket-Accept", ""},
                               Reserved{"Sec-WebSocket-Protocol", "'subprotocols'"},
                               Reserved{"Sec-WebSocket-Extensions", "'deflate'"},
                               Reserved{"Content-Length", ""},
                               Reserved{"Transfer-Encoding", ""}};

/// Reads one map of names to texts.
class FieldReader {
 public:
  FieldReader(Reader& reader, std::string_view kind, std::string what)
      : reader_{reader}, kind_{kind}, what_{std::move(what)} {}

  std::vector<UpgradeField> read(const YamlNode& node, std::string_view example) {
    std::vector<UpgradeField> fields;
    if (!reader_.is_map(node, what_, example)) return fields;
    if (node.children.size() / 2 > kMostFields) {
      reader_.complain(
          node, fmt::format("{} has {} entries; at most {}", what_, node.children.size() / 2, kMostFields));
      return fields;
    }
    refuse_repeated_names(reader_, node, what_);
    for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
      const YamlNode& key = *node.children[i];
      if (key.kind != YamlNode::Kind::scalar || !good_name(key, fields)) continue;
      fields.push_back({key.text, value(key, *node.children[i + 1])});
    }
    return fields;
  }

 private:
  [[nodiscard]] bool is_header() const { return kind_ == "header"; }

  bool good_name(const YamlNode& key, const std::vector<UpgradeField>& before) {
    if (!is_token(key.text)) {
      reader_.complain(key,
                       fmt::format("{} in {} is no name of a {}; it has letters, digits and marks such as "
                                   "- and _ (RFC 9110 section 5.6.2)",
                                   quoted(key.text), what_, kind_));
      return false;
    }
    if (!is_header()) return true;
    for (const Reserved& reserved : kReserved) {
      if (!same_name(reserved.name, key.text)) continue;
      reader_.complain(key,
                       fmt::format("header '{}' in {} belongs to the handshake itself{}", key.text, what_,
                                   reserved.instead.empty() ? "; leave it out"
                                                            : fmt::format("; write {}", reserved.instead)));
      return false;
    }
    const auto same = std::find_if(before.begin(), before.end(), [&](const UpgradeField& other) {
      return same_name(other.name, key.text) && other.name != key.text;
    });
    if (same == before.end()) return true;
    reader_.complain(key,
                     fmt::format("header '{}' in {} is there as '{}' already, and names of headers ignore "
                                 "case",
                                 key.text, what_, same->name));
    return false;
  }

  Template value(const YamlNode& key, const YamlNode& node) {
    const std::string what = fmt::format("{} '{}' in {}", kind_, key.text, what_);
    auto text = reader_.template_text(node, what);
    if (!text) return {};
    std::string written;
    if (text->is_fixed()) text->render({}, written);
    const std::string& looked_at = text->is_fixed() ? written : node.text;
    const std::size_t breaker = find_line_breaker(looked_at);
    if (looked_at.size() > kLargestField)
      reader_.complain(node, fmt::format("{} has more than {} bytes", what, kLargestField));
    else if (breaker != std::string::npos)
      reader_.complain(node,
                       fmt::format("{} has a line break or another control character, which would end its "
                                   "line",
                                   what));
    else if (!is_header() && looked_at.find(';') != std::string::npos)
      reader_.complain(node, fmt::format("{} has a ';', which would begin another cookie; write %3B", what));
    return std::move(*text);
  }

  Reader& reader_;
  std::string_view kind_;
  std::string what_;
};

std::vector<std::string> read_subprotocols(Reader& reader, const YamlNode& node, const std::string& what) {
  std::vector<std::string> all;
  std::vector<const YamlNode*> items{&node};
  if (node.kind == YamlNode::Kind::sequence) items = {node.children.begin(), node.children.end()};
  if (items.empty()) reader.complain(node, fmt::format("{} is empty; write a name, or leave it out", what));
  if (items.size() > kMostSubprotocols) {
    reader.complain(node,
                    fmt::format("{} has {} entries; at most {}", what, items.size(), kMostSubprotocols));
    return all;
  }
  for (const YamlNode* item : items) {
    const std::string* name = reader.text(*item, what);
    if (name == nullptr) continue;
    if (const auto placeholder = next_placeholder(*name, 0))
      reader.complain_within(*item, placeholder->begin,
                             fmt::format("{} must be known before the run; name a parameter", what));
    else if (!is_token(*name))
      reader.complain(*item,
                      fmt::format("{}: {} is no subprotocol; it has letters, digits and marks such as - "
                                  "and . (RFC 6455 section 4.1)",
                                  what, quoted(*name)));
    else if (std::find(all.begin(), all.end(), *name) != all.end())
      reader.complain(*item, fmt::format("{} has {} twice", what, quoted(*name)));
    else
      all.push_back(*name);
  }
  return all;
}

std::optional<Template> read_path(Reader& reader, const YamlNode& node, const std::string& what) {
  auto path = reader.template_text(node, what);
  if (!path) return std::nullopt;
  const std::string& written = node.text;
  if (!written.starts_with('/'))
    reader.complain(node,
                    fmt::format("{}: {} does not begin with '/'; write /room?id=1", what, quoted(written)));
  else if (written.size() > kLargestPath)
    reader.complain(node, fmt::format("{} has more than {} bytes", what, kLargestPath));
  else if (const std::size_t mark = written.find('#'); mark != std::string::npos)
    reader.complain_within(node, mark, fmt::format("{} has a '#', which is never sent; write %23", what));
  return path;
}

}  // namespace

UpgradeFields read_upgrade_fields(Reader& reader, const Fields& fields) {
  UpgradeFields all;
  if (const YamlNode* node = fields.find("path")) all.path = read_path(reader, *node, fields.what("path"));
  if (const YamlNode* node = fields.find("headers"))
    all.headers = FieldReader(reader, "header", fields.what("headers")).read(*node, "{Authorization: ...}");
  if (const YamlNode* node = fields.find("cookies")) {
    all.cookies = FieldReader(reader, "cookie", fields.what("cookies")).read(*node, "{session: ...}");
    const bool header = std::any_of(all.headers.begin(), all.headers.end(),
                                    [](const UpgradeField& h) { return same_name(h.name, "cookie"); });
    if (header)
      reader.complain(
          *node, fmt::format("{} beside a header 'Cookie'; write one of the two", fields.what("cookies")));
  }
  if (const YamlNode* node = fields.find("subprotocols"))
    all.subprotocols = read_subprotocols(reader, *node, fields.what("subprotocols"));
  return all;
}

}  // namespace onrush
