#include "core/yaml_tree.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <istream>
#include <map>
#include <streambuf>
#include <utility>

#include "core/check.h"
#include "core/nearest.h"

namespace onrush {
namespace {

/// Leaves yaml-cpp's parser from within its events; never leaves this file.
struct Refused {
  Diagnostic diagnostic;
};

class TextBuffer : public std::streambuf {
 public:
  explicit TextBuffer(const std::string& text) {
    char* begin = const_cast<char*>(text.data());  // a get area is never written to
    setg(begin, begin, begin + text.size());
  }
};

// yaml-cpp's words for a mistake, and ours.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kPlainWords{{
    {"end of map not found",
     "this does not belong to the 'key: value' lines before it; check the indentation and the colon"},
    {"end of sequence not found",
     "this does not belong to the list before it; each item is '- item', all indented alike"},
    {"end of map flow not found",
     "a '{' before this has no '}', or a text with ': ' or ', ' in it needs quotes"},
    {"end of sequence flow not found",
     "a '[' before this has no ']', or a text with ': ' or ', ' in it needs quotes"},
    {"illegal map value",
     "a ':' is not expected here; write one 'key: value' a line, and text that holds ': ' in quotes"},
    {"illegal tab", "a tab in the indentation; YAML wants spaces"},
    {"unknown token", "this character cannot begin a value; put the text in quotes"},
    {"the referenced anchor is not defined", "this alias has no anchor ('&name') before it"},
    {"illegal flow end", "this bracket closes nothing that is open"},
    {"illegal block entry", "a '- ' is not expected here; put a list on lines of its own"},
    {"illegal map key", "a key is not expected here; write one 'key: value' a line"},
}};

std::string plain_words(const std::string& message) {
  for (const auto& [theirs, ours] : kPlainWords)
    if (std::string_view(message).substr(0, theirs.size()) == theirs) return std::string(ours);
  return fmt::format("not readable as YAML: {}", message);
}

bool indented_by_tab(std::string_view line_before) {
  return line_before.find('\t') != std::string_view::npos &&
         line_before.find_first_not_of(" \t-") == std::string_view::npos;
}

}  // namespace

/// Makes nodes of the parser's events.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(YamlTree& tree) : tree_{tree} {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (tree_.root_ == nullptr && begun_ == 0) {
      ++begun_;
      return;
    }
    const std::size_t at = offset(mark);
    const std::string_view line = std::string_view(tree_.text_.text()).substr(at, 3);
    refuse(at, line == "---" || line == "..." || line.empty()
                   ? "a second document begins here; a plan is one document"
                   : "this does not belong to what stands before it; check the indentation and the colons");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    YamlNode& node = add(YamlNode::Kind::null, mark, anchor);
    // The parser's mark of nothing is whatever comes next, so a key's missing value stands at the key.
    if (const YamlNode* key = awaited_key()) node.at = key->at;
    attach(node);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto known = anchors_.find(anchor);
    ONRUSH_CHECK(known != anchors_.end());
    const YamlNode& original = *known->second;
    if (std::any_of(open_.begin(), open_.end(), [&](const YamlNode* n) { return n == &original; }))
      refuse(offset(mark), "this alias stands within its own anchor");
    spend(original.weight, mark);
    YamlNode& copy = tree_.nodes_.emplace_back(original);
    copy.at = tree_.text_.position(offset(mark));
    copy.source = std::string::npos;
    attach(copy);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_tag(mark, tag);
    const std::size_t at = offset(mark);
    const std::string& source = tree_.text_.text();
    const bool has_quotes = at < source.size() && (source[at] == '"' || source[at] == '\'');
    if (has_quotes) require_closed(at);
    spend(value.size() / 32, mark);
    YamlNode& node = add(YamlNode::Kind::scalar, mark, anchor);
    node.weight += value.size() / 32;
    node.text = value;
    node.quoted = has_quotes;
    node.source = has_quotes ? at + 1 : at;
    attach(node);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(YamlNode::Kind::sequence, mark, tag, anchor);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(YamlNode::Kind::map, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

  [[noreturn]] void refuse(std::size_t at, std::string message) const {
    const Position position = tree_.text_.position(at);
    throw Refused{Diagnostic{position.line, position.column, std::move(message)}};
  }

  [[nodiscard]] std::size_t offset(const YAML::Mark& mark) const {
    return mark.pos < 0 ? tree_.text_.text().size() : static_cast<std::size_t>(mark.pos);
  }

 private:
  void spend(std::uint64_t weight, const YAML::Mark& mark) {
    spent_ += weight;
    if (spent_ > kHeaviestTree)
      refuse(offset(mark),
             fmt::format("the plan has more than {} nodes here, aliases expanded", kHeaviestTree));
  }

  YamlNode& add(YamlNode::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    spend(1, mark);
    const std::size_t at = offset(mark);
    if (const auto line = tree_.text_.line_before(at); indented_by_tab(line))
      refuse(at - line.size() + line.find('\t'), "a tab in the indentation; YAML wants spaces");
    YamlNode& node = tree_.nodes_.emplace_back();
    node.kind = kind;
    node.at = tree_.text_.position(at);
    if (anchor != YAML::NullAnchor) anchors_[anchor] = &node;
    return node;
  }

  void open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    refuse_tag(mark, tag);
    // Thrown before the parser recurses further, so its stack stays this shallow (P037).
    if (open_.size() >= kDeepestNesting)
      refuse(offset(mark), fmt::format("lists and maps are nested more than {} deep here", kDeepestNesting));
    open_.push_back(&add(kind, mark, anchor));
  }

  void close() {
    YamlNode& done = *open_.back();
    open_.pop_back();
    for (const YamlNode* child : done.children) done.weight += child->weight;
    attach(done);
  }

  void attach(YamlNode& node) {
    if (open_.empty())
      tree_.root_ = &node;
    else
      open_.back()->children.push_back(&node);
  }

  [[nodiscard]] const YamlNode* awaited_key() const {
    const bool value_next =
        !open_.empty() && open_.back()->kind == YamlNode::Kind::map && open_.back()->children.size() % 2 == 1;
    return value_next ? open_.back()->children.back() : nullptr;
  }

  void refuse_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (!tag.empty() && tag != "?" && tag != "!")
      refuse(offset(mark), "tags ('!!type') are not part of a plan; leave it out");
  }

  // yaml-cpp ends an open quotation at the end of the file without a word.
  void require_closed(std::size_t at) const {
    const std::string& source = tree_.text_.text();
    const char quote = source[at];
    for (std::size_t i = at + 1; i < source.size(); ++i) {
      const bool escape = quote == '"' && source[i] == '\\';
      const bool doubled = quote == '\'' && source.compare(i, 2, "''") == 0;
      if (escape || doubled)
        ++i;
      else if (source[i] == quote)
        return;
    }
    refuse(at, "this quotation is never closed");
  }

  YamlTree& tree_;
  int begun_ = 0;
  std::uint64_t spent_ = 0;
  std::vector<YamlNode*> open_;
  std::map<YAML::anchor_t, YamlNode*> anchors_;
};

namespace {

// A tab in the indentation often shows only as some other mistake on the same line or the next.
std::size_t find_tab_near(const SourceText& text, std::size_t at) {
  const std::string& all = text.text();
  std::size_t start = std::min(at, all.size()) - text.line_before(at).size();
  for (int lines = 0; lines < 2; ++lines) {
    const std::size_t content = all.find_first_not_of(" \t", start);
    const std::size_t tab = all.find('\t', start);
    if (tab != std::string::npos && tab < std::min(content, all.size())) return tab;
    if (start == 0) break;
    start = start - 1 - text.line_before(start - 1).size();
  }
  return std::string::npos;
}

}  // namespace

Expected<YamlTree, Diagnostic> YamlTree::parse(SourceText text) {
  YamlTree tree(std::move(text));
  TextBuffer buffer(tree.text_.text());
  std::istream in(&buffer);
  TreeBuilder builder(tree);
  try {
    YAML::Parser parser(in);
    // The second call must find the end: it refuses whatever else there is. (A third could go on for ever:
    // yaml-cpp makes empty documents without end of a stray comma.)
    if (parser.HandleNextDocument(builder)) parser.HandleNextDocument(builder);
    if (tree.root_ == nullptr || tree.root_->kind == YamlNode::Kind::null)
      return Unexpected{Diagnostic{1, 1, "the plan is empty; it needs name, target, scenarios and stages"}};
    return tree;
  } catch (const Refused& refused) {
    return Unexpected{refused.diagnostic};
  } catch (const YAML::Exception& e) {
    const std::size_t at = builder.offset(e.mark);
    const std::size_t tab = find_tab_near(tree.text_, at);
    const Position position = tree.text_.position(tab == std::string::npos ? at : tab);
    return Unexpected{Diagnostic{
        position.line, position.column,
        tab == std::string::npos ? plain_words(e.msg) : "a tab in the indentation; YAML wants spaces"}};
  }
}

Position YamlTree::position_in(const YamlNode& scalar, std::size_t offset) const {
  if (scalar.source == std::string::npos || offset > scalar.text.size()) return scalar.at;
  if (text_.text().compare(scalar.source, offset, scalar.text, 0, offset) != 0) return scalar.at;
  return text_.position(scalar.source + offset);
}

}  // namespace onrush
