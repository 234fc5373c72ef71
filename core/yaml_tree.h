// A YAML file as a tree of nodes with positions: all that is left of yaml-cpp once a plan is read.
//
// Why: yaml-cpp's own tree hides duplicate keys, expands aliases without bound and loses positions. This one
// is built from its parser's events and keeps what diagnostics need. Owner: the caller; nodes live as long as
// the tree. Always: children have lower weight than the tree's budget, no node contains itself, so that a
// walk over all of it ends soon.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnostic.h"
#include "core/expected.h"
#include "core/yaml_text.h"

namespace onrush {

inline constexpr std::uint64_t kHeaviestTree =
    200'000;  ///< nodes with aliases expanded; 32 bytes of text count as one

struct YamlNode {
  enum class Kind : std::uint8_t { null, scalar, sequence, map } kind = Kind::null;
  bool quoted = false;  ///< a scalar in quotes, so a text whatever it looks like
  bool faulty = false;  ///< a mistake in it was reported; further ones would only repeat it
  Position at;
  std::string text;                        ///< of a scalar
  std::string setting;                     ///< "--set rate=5" if this is what gave the scalar its text
  std::size_t source = std::string::npos;  ///< where a scalar's first character stands in the text
  std::uint64_t weight = 1;                ///< nodes in it, itself included, aliases expanded
  std::vector<YamlNode*> children;         ///< items of a sequence; keys and values of a map, in turn
};

class YamlTree {
 public:
  YamlTree(YamlTree&&) = default;  // nodes point to one another and a deque keeps its elements' places
  YamlTree& operator=(YamlTree&&) = default;

  /// The one document of a file. An error is the first thing that makes it unreadable.
  static Expected<YamlTree, Diagnostic> parse(SourceText text);

  [[nodiscard]] YamlNode& root() const noexcept { return *root_; }
  [[nodiscard]] std::deque<YamlNode>& nodes() noexcept { return nodes_; }
  /// Where byte `offset` of a scalar's text stands in the file; the scalar's begin if escapes or folding hide
  /// that.
  [[nodiscard]] Position position_in(const YamlNode& scalar, std::size_t offset) const;

 private:
  explicit YamlTree(SourceText text) : text_{std::move(text)} {}
  friend class TreeBuilder;

  SourceText text_;
  std::deque<YamlNode> nodes_;
  YamlNode* root_ = nullptr;
};

}  // namespace onrush
