#include "core/plan_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "core/nearest.h"

namespace onrush {
namespace {

constexpr std::size_t kMostParameters = 1'000;
constexpr std::size_t kLargestValue = 64 * 1024;
constexpr std::size_t kMostReplaced =
    4 * kLargestPlan;  // bytes of text after replacement, over the whole plan

struct Parameter {
  std::string value;
  std::string setting;  ///< "--set rate=5" if that gave the value
  std::string shown;    ///< the value with variables of the environment as names
};

using Parameters = std::map<std::string, Parameter, std::less<>>;

YamlNode* child(YamlNode& map, std::string_view key) {
  if (map.kind != YamlNode::Kind::map) return nullptr;
  for (std::size_t i = 0; i + 1 < map.children.size(); i += 2)
    if (map.children[i]->kind == YamlNode::Kind::scalar && map.children[i]->text == key)
      return map.children[i + 1];
  return nullptr;
}

bool word(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

// Its value is no template itself, whatever is in it.
bool append_environment(Reader& reader, const YamlNode& node, const Placeholder& found, std::string& out) {
  const auto value = environment_value(found.name, reader.names());
  if (!value) {
    reader.complain_within(node, found.begin, value.error());
    return false;
  }
  for (std::size_t i = 0; i < value->size(); ++i) {
    if (value->compare(i, 2, "${") == 0) out += '$';
    out += (*value)[i];
  }
  return true;
}

std::string with_environment(Reader& reader, const YamlNode& node, const std::string& text) {
  std::string out;
  std::size_t done = 0;
  while (const auto found = next_placeholder(text, done)) {
    out.append(text, done, found->begin - done);
    done = found->end;
    if (found->escaped || !found->closed || !is_environment(found->name))
      out.append(text, found->begin, found->end - found->begin);
    else
      append_environment(reader, node, *found, out);
  }
  return out.append(text, done);
}

Parameters stated(const YamlNode* section, Reader& reader) {
  Parameters parameters;
  if (section == nullptr || !reader.is_map(*section, "'parameters'", "{users: 1000, rate: 100/s}"))
    return parameters;
  refuse_repeated_names(reader, *section, "'parameters'");
  if (section->children.size() / 2 > kMostParameters) {
    reader.complain(*section, fmt::format("'parameters' has more than {} entries", kMostParameters));
    return parameters;
  }
  for (std::size_t i = 0; i + 1 < section->children.size(); i += 2) {
    const YamlNode& key = *section->children[i];
    const YamlNode& value = *section->children[i + 1];
    if (key.kind != YamlNode::Kind::scalar) continue;
    if (is_variable(key.text)) {
      reader.complain(
          key,
          fmt::format("parameter '{}' has the name of a variable of templates; choose another", key.text));
      continue;
    }
    if (!word(key.text)) {
      reader.complain(
          key, fmt::format("parameter {} is not a word; use letters, digits, _ and -", quoted(key.text)));
      continue;
    }
    const std::string* text = reader.text(value, fmt::format("parameter '{}'", key.text));
    if (text != nullptr && text->size() > kLargestValue) {
      reader.complain(value, fmt::format("parameter '{}' has more than {} bytes", key.text, kLargestValue));
      text = nullptr;
    }
    const std::string written = text == nullptr ? "" : *text;
    parameters[key.text] = {with_environment(reader, value, written), "", written};
  }
  for (std::size_t i = 0; i + 1 < section->children.size(); i += 2) {
    const YamlNode& value = *section->children[i + 1];
    std::size_t from = 0;
    while (const auto found = next_placeholder(value.text, from)) {
      from = found->end;
      if (!found->escaped && parameters.count(found->name) != 0)
        reader.complain_within(
            value, found->begin,
            fmt::format("'${{{}}}' is a parameter, and one parameter cannot name another", found->name));
    }
  }
  return parameters;
}

void apply(const Settings& settings, Parameters& parameters, Reader& reader) {
  for (const auto& [name, value] : settings) {
    const auto refuse = [&, &key = name, &text = value](const std::string& why) {
      reader.add({0, 0, fmt::format("--set {}={}: {}", key.substr(0, 64), text.substr(0, 64), why)});
    };
    const auto known = parameters.find(name);
    if (known == parameters.end()) {
      std::vector<std::string_view> names;
      for (const auto& [parameter, ignored] : parameters) names.push_back(parameter);
      const std::string hint = did_you_mean(name, names);
      refuse(names.empty()  ? "the plan has no parameters"
             : hint.empty() ? fmt::format("the plan has no such parameter; it has {}", all_of(names))
                            : fmt::format("the plan has no such parameter{}", hint));
    } else if (value.size() > kLargestValue) {
      refuse(fmt::format("the value has more than {} bytes", kLargestValue));
    } else if (find_bad_utf8(value) != std::string_view::npos) {
      refuse("the value is not UTF-8");
    } else {
      known->second = {
          value,
          fmt::format("--set {}={}", name, quoted(value).size() == value.size() + 2 ? value : quoted(value)),
          value};
    }
  }
}

class Replacer {
 public:
  Replacer(const Parameters& parameters, Reader& reader) : parameters_{parameters}, reader_{reader} {
    for (const auto& [name, ignored] : parameters) reader.names().parameters.push_back(name);
  }

  void visit(YamlNode& node) {
    if (!visited_.insert(&node).second) return;
    if (node.kind == YamlNode::Kind::scalar) return replace(node);
    const bool map = node.kind == YamlNode::Kind::map;
    for (std::size_t i = map ? 1 : 0; i < node.children.size(); i += map ? 2 : 1) visit(*node.children[i]);
  }

  void skip(const YamlNode* node) { visited_.insert(node); }

 private:
  void replace(YamlNode& node) {
    std::string out;
    std::size_t done = 0;
    std::string from_setting;
    bool whole = false;
    bool unknown = false;
    while (const auto found = next_placeholder(node.text, done)) {
      out.append(node.text, done, found->begin - done);
      done = found->end;
      const auto known = found->escaped || !found->closed ? parameters_.end() : parameters_.find(found->name);
      if (known != parameters_.end()) {
        out += known->second.value;
        from_setting = known->second.setting;
        whole = found->begin == 0 && found->end == node.text.size();
      } else {
        if (!found->escaped && found->closed && is_environment(found->name)) {
          unknown = !append_environment(reader_, node, *found, out) || unknown;
          continue;
        }
        out.append(node.text, found->begin, found->end - found->begin);
        if (found->escaped || !found->closed || is_known(found->name)) continue;
        reader_.complain_within(node, found->begin, unknown_variable(found->name, reader_.names()));
        unknown = true;
      }
    }
    if (done == 0) return;
    out.append(node.text, done);
    replaced_ += out.size();
    if (replaced_ > kMostReplaced) {
      reader_.complain(node,
                       fmt::format("with its parameters the plan grows beyond {} bytes", kMostReplaced));
      out.clear();
      unknown = true;
    }
    node.text = std::move(out);
    if (whole) node.setting = from_setting;
    node.faulty = node.faulty || unknown;
  }

  [[nodiscard]] bool is_known(std::string_view name) const {
    const std::vector<std::string>& captures = reader_.names().captures;
    return is_variable(name) || std::find(captures.begin(), captures.end(), name) != captures.end();
  }

  const Parameters& parameters_;
  Reader& reader_;
  std::unordered_set<const YamlNode*> visited_;
  std::size_t replaced_ = 0;
};

}  // namespace

std::map<std::string, std::string> substitute_parameters(YamlTree& tree, const Settings& settings,
                                                         Reader& reader) {
  YamlNode* section = child(tree.root(), "parameters");
  Parameters parameters = stated(section, reader);
  apply(settings, parameters, reader);
  Replacer replacer(parameters, reader);
  replacer.skip(section);
  replacer.visit(tree.root());
  std::map<std::string, std::string> shown;
  for (auto& [name, parameter] : parameters) shown.emplace(name, std::move(parameter.shown));
  return shown;
}

}  // namespace onrush
