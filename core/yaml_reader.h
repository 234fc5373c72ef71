// Typed access to the nodes of a plan: a value, or a diagnostic that says where, what and what instead.
//
// Why: reading must go on after a mistake, so that all of them are reported at once; so a failed access
// reports and gives nothing, and what is built of it is thrown away at the end. Owner: one reading of one
// plan.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/diagnostic.h"
#include "core/plan_files.h"
#include "core/plan_keys.h"
#include "core/template.h"
#include "core/yaml_tree.h"

namespace onrush {

/// Whether 0 is a value.
enum class Zero : std::uint8_t { allowed, refused };

/// A file as the plan names it.
struct NamedFile {
  std::string name;
  FileContent content;
};

class Reader {
 public:
  Reader(const YamlTree& tree, const Surroundings& around) : tree_{tree}, around_{around} {
    names_.variable = around.variable;
  }

  /// What templates may name; filled before they are read.
  [[nodiscard]] TemplateNames& names() noexcept { return names_; }
  /// Feeds that the templates read since the last call name.
  [[nodiscard]] std::set<std::uint32_t> take_feeds() { return std::exchange(feeds_, {}); }
  [[nodiscard]] const Surroundings& around() const noexcept { return around_; }

  /// Reports a mistake at a node; if a `--set` gave the node its text, as that one's.
  void complain(const YamlNode& node, std::string message);
  /// The same at byte `offset` of a scalar's text.
  void complain_within(const YamlNode& scalar, std::size_t offset, std::string message);
  void add(Diagnostic diagnostic) { diagnostics_.push_back(std::move(diagnostic)); }

  // `what` names the value in a message: "'over' in stage 'setup'".
  const std::string* text(const YamlNode& node, const std::string& what);
  std::optional<std::uint64_t> count(const YamlNode& node, const std::string& what, Zero zero);
  std::optional<std::int64_t> duration_ns(const YamlNode& node, const std::string& what, Zero zero);
  std::optional<double> rate(const YamlNode& node, const std::string& what, Zero zero);
  std::optional<double> decimal(const YamlNode& node, const std::string& what);
  std::optional<Template> template_text(const YamlNode& node, const std::string& what);
  /// A name that fits a file name and a label.
  std::optional<std::string> name(const YamlNode& node, const std::string& what);
  /// One of `words`.
  std::optional<std::size_t> word(const YamlNode& node, const std::string& what,
                                  std::span<const std::string_view> words);
  /// The file that a value names.
  std::optional<NamedFile> file(const YamlNode& node, const std::string& what);
  /// The file of a feed; on an agent its share of the rows, as CSV.
  std::optional<NamedFile> feed_file(const YamlNode& node, const std::string& what, const std::string& feed);
  /// Names that file() was asked for.
  [[nodiscard]] std::set<std::string> take_files() { return std::exchange(files_, {}); }
  /// RFC 6901, not empty.
  std::optional<std::string> pointer(const YamlNode& node, const std::string& what);
  bool is_map(const YamlNode& node, const std::string& what, std::string_view example);
  bool is_list(const YamlNode& node, const std::string& what, std::string_view example);

  /// All that was reported, by position, none twice.
  [[nodiscard]] std::vector<Diagnostic> take();

 private:
  template <class T>
  std::optional<T> figure(const YamlNode& node, const std::string& what,
                          Expected<T, std::string> (*parse)(std::string_view), Zero zero);

  bool names_file(const YamlNode& node, const std::string& what);
  std::optional<NamedFile> look_up(const YamlNode& node, const std::string& what, const std::string& name);

  const YamlTree& tree_;
  const Surroundings& around_;
  TemplateNames names_;
  std::set<std::uint32_t> feeds_;
  std::set<std::string> files_;
  std::vector<Diagnostic> diagnostics_;
};

/// The members of a map whose keys are known. Unknown, repeated and not yet supported keys are reported when
/// it is made.
class Fields {
 public:
  /// `owner` names the map in messages: "stage 'setup'".
  Fields(Reader& reader, const YamlNode& map, const KeyTable& table, std::string owner);

  [[nodiscard]] const YamlNode* find(std::string_view key) const;
  /// Reports it if it is missing.
  const YamlNode* need(std::string_view key, std::string_view example);
  /// `true` or `false`; what it is otherwise if it is missing or neither.
  [[nodiscard]] bool answer(std::string_view key, bool otherwise) const;
  /// True if every key is known, so that what is absent was left out on purpose.
  [[nodiscard]] bool intact() const { return intact_; }
  /// "'over' in stage 'setup'"
  [[nodiscard]] std::string what(std::string_view key) const;

 private:
  Reader& reader_;
  const YamlNode& map_;
  std::string owner_;
  bool intact_ = true;
  std::vector<std::string_view>
      misspelt_;  // keys that unknown ones probably mean, so they are not missing too
};

/// Reports keys that a map of the user's own names holds twice, and keys that are no text.
void refuse_repeated_names(Reader& reader, const YamlNode& map, const std::string& what);

}  // namespace onrush
