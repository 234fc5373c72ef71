#include "core/yaml_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "core/label.h"
#include "core/nearest.h"
#include "core/units.h"

namespace onrush {
namespace {

constexpr std::size_t kMostDiagnostics = 100;

std::string_view kind_name(YamlNode::Kind kind) {
  switch (kind) {
    case YamlNode::Kind::null: return "empty";
    case YamlNode::Kind::scalar: return "a single value";
    case YamlNode::Kind::sequence: return "a list";
    case YamlNode::Kind::map: return "a map";
  }
  return "";
}

}  // namespace

void Reader::complain(const YamlNode& node, std::string message) {
  if (node.faulty) return;
  if (!node.setting.empty()) return add({0, 0, fmt::format("{}: {}", node.setting, message)});
  add({node.at.line, node.at.column, std::move(message)});
}

void Reader::complain_within(const YamlNode& scalar, std::size_t offset, std::string message) {
  if (scalar.faulty || !scalar.setting.empty()) return complain(scalar, std::move(message));
  const Position at = tree_.position_in(scalar, offset);
  add({at.line, at.column, std::move(message)});
}

const std::string* Reader::text(const YamlNode& node, const std::string& what) {
  if (node.kind == YamlNode::Kind::scalar) return node.faulty ? nullptr : &node.text;
  complain(node, fmt::format("{} is {}; write one value", what, kind_name(node.kind)));
  return nullptr;
}

template <class T>
std::optional<T> Reader::figure(const YamlNode& node, const std::string& what,
                                Expected<T, std::string> (*parse)(std::string_view), Zero zero) {
  const std::string* written = text(node, what);
  if (written == nullptr) return std::nullopt;
  if (const auto placeholder = next_placeholder(*written, 0)) {
    const bool per_message = is_variable(placeholder->name);
    complain_within(
        node, placeholder->begin,
        per_message ? fmt::format("{} must be known before the run, and '${{{}}}' is not; name a parameter",
                                  what, placeholder->name)
                    : fmt::format("{}: {} is not a value", what, quoted(*written)));
    return std::nullopt;
  }
  Expected<T, std::string> value = parse(*written);
  if (!value) {
    complain(node, fmt::format("{}: {}", what, value.error()));
    return std::nullopt;
  }
  if (zero == Zero::refused && !(*value > 0)) {
    complain(node,
             fmt::format("{} is {}, which does nothing; write more than 0 or leave it out", what, *written));
    return std::nullopt;
  }
  return *value;
}

std::optional<std::uint64_t> Reader::count(const YamlNode& node, const std::string& what, Zero zero) {
  return figure(node, what, parse_count, zero);
}
std::optional<std::int64_t> Reader::duration_ns(const YamlNode& node, const std::string& what, Zero zero) {
  return figure(node, what, parse_duration, zero);
}
std::optional<double> Reader::rate(const YamlNode& node, const std::string& what, Zero zero) {
  return figure(node, what, parse_rate, zero);
}
std::optional<double> Reader::decimal(const YamlNode& node, const std::string& what) {
  return figure(node, what, parse_decimal, Zero::refused);
}

std::optional<Template> Reader::template_text(const YamlNode& node, const std::string& what) {
  if (node.kind == YamlNode::Kind::null) {
    complain(node,
             fmt::format("{} is empty; write \"\" for an empty text, or quote a word such as null", what));
    return std::nullopt;
  }
  const std::string* written = text(node, what);
  if (written == nullptr) return std::nullopt;
  auto compiled = Template::compile(*written, names_);
  if (compiled) {
    feeds_.insert(compiled->feeds().begin(), compiled->feeds().end());
    return std::move(*compiled);
  }
  complain_within(node, compiled.error().offset, fmt::format("{}: {}", what, compiled.error().message));
  return std::nullopt;
}

std::optional<std::string> Reader::name(const YamlNode& node, const std::string& what) {
  const std::string* written = text(node, what);
  if (written == nullptr) return std::nullopt;
  if (written->empty() || written->size() > kLongestName) {
    complain(node,
             fmt::format("{} has {} characters; a name has 1 to {}", what, written->size(), kLongestName));
    return std::nullopt;
  }
  const auto bad = std::find_if_not(written->begin(), written->end(), label_character);
  if (bad == written->end() && written->front() != '.' && written->front() != '-') return *written;
  const auto offset = bad == written->end() ? 0 : static_cast<std::size_t>(bad - written->begin());
  complain_within(
      node, offset,
      fmt::format("{}: {} does not fit a file name or a label; use letters, digits, - _ . and begin with a "
                  "letter, digit or _",
                  what, quoted(*written)));
  return std::nullopt;
}

std::optional<std::size_t> Reader::word(const YamlNode& node, const std::string& what,
                                        std::span<const std::string_view> words) {
  const std::string* written = text(node, what);
  if (written == nullptr) return std::nullopt;
  const auto found = std::find(words.begin(), words.end(), *written);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  complain(node, fmt::format("{} is {}; write {}", what, quoted(*written), any_of(words)));
  return std::nullopt;
}

std::optional<NamedFile> Reader::file(const YamlNode& node, const std::string& what) {
  if (!names_file(node, what)) return std::nullopt;
  files_.insert(node.text);
  return look_up(node, what, node.text);
}

std::optional<NamedFile> Reader::feed_file(const YamlNode& node, const std::string& what,
                                           const std::string& feed) {
  if (!names_file(node, what)) return std::nullopt;
  return look_up(node, what, around_.feeds_are_shares ? share_name(feed) : node.text);
}

bool Reader::names_file(const YamlNode& node, const std::string& what) {
  const std::string* written = text(node, what);
  if (written == nullptr) return false;
  if (written->empty() || written->find('\0') != std::string::npos) {
    complain(node,
             fmt::format("{} is no name; write the name of a file, relative to the plan's folder", what));
    return false;
  }
  const auto placeholder = next_placeholder(*written, 0);
  if (placeholder)
    complain_within(
        node, placeholder->begin,
        fmt::format("{} must be known before the run; name a parameter, or the file itself", what));
  return !placeholder;
}

std::optional<NamedFile> Reader::look_up(const YamlNode& node, const std::string& what,
                                         const std::string& name) {
  if (!around_.file) {
    complain(node, fmt::format("{}: this plan is read without its folder, so it can name no files", what));
    return std::nullopt;
  }
  auto content = around_.file(name);
  if (content) return NamedFile{node.text, std::move(*content)};
  complain(node, fmt::format("{}: {}", what, content.error()));
  return std::nullopt;
}

std::optional<std::string> Reader::pointer(const YamlNode& node, const std::string& what) {
  const std::string* written = text(node, what);
  if (written == nullptr) return std::nullopt;
  if (written->empty() || written->front() != '/') {
    complain(node,
             fmt::format("{}: {} is not a JSON pointer; it begins with '/', as /{}", what, quoted(*written),
                         written->empty() ? "seq" : written->substr(0, kLongestName)));
    return std::nullopt;
  }
  for (std::size_t i = 0; i < written->size(); ++i) {
    const char next = i + 1 < written->size() ? (*written)[i + 1] : ' ';
    if ((*written)[i] != '~' || next == '0' || next == '1') continue;
    complain_within(node, i,
                    fmt::format("{}: '~' in a JSON pointer is written ~0 (and '/' in a name ~1)", what));
    return std::nullopt;
  }
  return *written;
}

bool Reader::is_map(const YamlNode& node, const std::string& what, std::string_view example) {
  if (node.kind == YamlNode::Kind::map) return true;
  complain(node, fmt::format("{} is {}; write a map, as {}", what, kind_name(node.kind), example));
  return false;
}

bool Reader::is_list(const YamlNode& node, const std::string& what, std::string_view example) {
  if (node.kind == YamlNode::Kind::sequence) return true;
  complain(node, fmt::format("{} is {}; write a list, as {}", what, kind_name(node.kind), example));
  return false;
}

std::vector<Diagnostic> Reader::take() {
  std::sort(diagnostics_.begin(), diagnostics_.end());
  diagnostics_.erase(std::unique(diagnostics_.begin(), diagnostics_.end()), diagnostics_.end());
  if (diagnostics_.size() > kMostDiagnostics) {
    const std::size_t more = diagnostics_.size() - (kMostDiagnostics - 1);
    diagnostics_.resize(kMostDiagnostics - 1, Diagnostic{0, 0, ""});
    const Diagnostic last = diagnostics_.back();
    diagnostics_.push_back(
        {last.line, last.column, fmt::format("and {} more mistakes behind this one", more)});
  }
  return std::move(diagnostics_);
}

Fields::Fields(Reader& reader, const YamlNode& map, const KeyTable& table, std::string owner)
    : reader_{reader}, map_{map}, owner_{std::move(owner)} {
  std::map<std::string_view, const YamlNode*> seen;
  for (std::size_t i = 0; i + 1 < map.children.size(); i += 2) {
    const YamlNode& key = *map.children[i];
    if (key.kind != YamlNode::Kind::scalar) {
      reader.complain(key, fmt::format("a key in {} is {}, not a word", owner_, kind_name(key.kind)));
      continue;
    }
    const auto [first, is_new] = seen.emplace(key.text, &key);
    if (!is_new) {
      reader.complain(key, fmt::format("key {} in {} stands in line {} already", quoted(key.text), owner_,
                                       first->second->at.line));
      continue;
    }
    if (std::find(table.known.begin(), table.known.end(), key.text) != table.known.end()) continue;
    intact_ = false;
    if (std::find(table.later.begin(), table.later.end(), key.text) != table.later.end()) {
      reader.complain(key, fmt::format("'{}' in {} is not yet supported", key.text, owner_));
    } else if (key.text == "<<") {
      reader.complain(
          key, fmt::format("merge keys ('<<') are not part of a plan; write the keys of {} out", owner_));
    } else {
      std::string hint = did_you_mean(key.text, table.known);
      misspelt_.push_back(nearest(key.text, table.known));
      if (hint.empty()) hint = fmt::format("; {} has {}", table.owner, all_of(table.known));
      reader.complain(key, fmt::format("unknown key {} in {}{}", quoted(key.text), owner_, hint));
    }
  }
}

const YamlNode* Fields::find(std::string_view key) const {
  for (std::size_t i = 0; i + 1 < map_.children.size(); i += 2)
    if (map_.children[i]->kind == YamlNode::Kind::scalar && map_.children[i]->text == key)
      return map_.children[i + 1];
  return nullptr;
}

const YamlNode* Fields::need(std::string_view key, std::string_view example) {
  const YamlNode* found = find(key);
  if (found == nullptr && std::find(misspelt_.begin(), misspelt_.end(), key) == misspelt_.end())
    reader_.complain(map_, fmt::format("'{}' is missing in {}; write it as {}", key, owner_, example));
  return found;
}

bool Fields::answer(std::string_view key, bool otherwise) const {
  constexpr std::array<std::string_view, 2> kAnswers{"false", "true"};
  const YamlNode* node = find(key);
  if (node == nullptr) return otherwise;
  const auto word = reader_.word(*node, what(key), kAnswers);
  return word ? *word == 1 : otherwise;
}

std::string Fields::what(std::string_view key) const { return fmt::format("'{}' in {}", key, owner_); }

void refuse_repeated_names(Reader& reader, const YamlNode& map, const std::string& what) {
  std::map<std::string_view, const YamlNode*> seen;
  for (std::size_t i = 0; i + 1 < map.children.size(); i += 2) {
    const YamlNode& key = *map.children[i];
    if (key.kind != YamlNode::Kind::scalar) {
      reader.complain(key, fmt::format("a name in {} is {}, not a word", what, kind_name(key.kind)));
      continue;
    }
    const auto [first, is_new] = seen.emplace(key.text, &key);
    if (!is_new)
      reader.complain(key, fmt::format("{} in {} stands in line {} already", quoted(key.text), what,
                                       first->second->at.line));
  }
}

}  // namespace onrush
