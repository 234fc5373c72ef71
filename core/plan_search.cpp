#include "core/plan_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/nearest.h"
#include "core/plan_stages.h"
#include "core/units.h"

namespace onrush {
namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;
constexpr std::int64_t kDefaultHold_ns = 20 * kSecond_ns;
constexpr std::int64_t kDefaultRest_ns = 2 * kSecond_ns;
constexpr std::int64_t kDefaultAtMost_ns = 1800 * kSecond_ns;
constexpr double kLargestFactor = 100;
constexpr std::size_t kMostKept = 20;
constexpr std::string_view kExample =
    "{raise: users, from: 100, to: 10k, keep: [\"response_time p99 < 250ms\"]}";

class SearchReader {
 public:
  SearchReader(Reader& reader, const YamlNode& node, const std::vector<Scenario>& scenarios)
      : reader_{reader}, fields_{reader, node, kSearchKeys, "'search'"}, node_{node}, scenarios_{scenarios} {}

  SearchPlan read() {
    if (const YamlNode* raise = fields_.need("raise", "raise: users")) read_raise(*raise);
    search_.from = load("from", "from: 100");
    search_.to = load("to", "to: 10k");
    if (search_.from > search_.to && search_.to > 0)
      reader_.complain(*fields_.find("from"), fmt::format("{} is more than 'to'", fields_.what("from")));
    if (const YamlNode* factor = fields_.find("factor")) read_factor(*factor);
    if (const YamlNode* step = fields_.find("step")) read_step(*step);
    if (const YamlNode* beside = fields_.find("beside")) read_beside(*beside);
    read_times();
    if (const YamlNode* keep = fields_.need("keep", "keep: [\"response_time p99 < 250ms\"]"))
      read_keep(*keep);
    return std::move(search_);
  }

 private:
  void read_raise(const YamlNode& node) {
    const std::string what = fields_.what("raise");
    constexpr std::array<std::string_view, 2> kWords{"users", "arrivals"};
    const YamlNode* word = &node;
    if (node.kind == YamlNode::Kind::map) {
      if (node.children.size() != 2)
        return reader_.complain(node, fmt::format("{} names one scenario, as {{users: {}}}", what,
                                                  scenarios_.empty() ? "visitor" : scenarios_.front().name));
      word = node.children[0];
      names_one_ = true;
      search_.scenario = scenario(*node.children[1], what);
    }
    const auto index = reader_.word(*word, what, kWords);
    if (!index) return;
    search_.raise = static_cast<SearchPlan::Raise>(*index);
    raise_is_known_ = true;
  }

  std::optional<std::uint32_t> scenario(const YamlNode& node, const std::string& what) {
    const std::string* name = reader_.text(node, what);
    if (name == nullptr || scenarios_.empty()) return std::nullopt;
    std::vector<std::string_view> names;
    for (const Scenario& s : scenarios_) names.push_back(s.name);
    const auto found = std::find(names.begin(), names.end(), *name);
    if (found != names.end()) return static_cast<std::uint32_t>(found - names.begin());
    const std::string hint = did_you_mean(*name, names);
    reader_.complain(node, fmt::format("unknown scenario {} in {}{}", quoted(*name), what,
                                       hint.empty() ? "; the scenarios are " + all_of(names) : hint));
    return std::nullopt;
  }

  double load(std::string_view key, std::string_view example) {
    const YamlNode* node = fields_.need(key, example);
    return node == nullptr ? 0 : load_at(*node, fields_.what(key));
  }

  double load_at(const YamlNode& node, const std::string& what) {
    if (!raise_is_known_) return 1;  // nothing says which form it should have
    if (search_.raise == SearchPlan::Raise::users) {
      const auto users = reader_.count(node, what, Zero::refused).value_or(0);
      if (users > kMostUsers)
        reader_.complain(node, fmt::format("{} is {}; a run has at most {} million users", what, node.text,
                                           kMostUsers / 1'000'000));
      return static_cast<double>(users);
    }
    const auto rate = reader_.rate(node, what, Zero::refused);
    if (rate && *rate * units_per_load(search_.raise) < 1)
      reader_.complain(node, fmt::format("{} is {}; at least 0.01/s", what, node.text));
    return rate.value_or(0);
  }

  void read_factor(const YamlNode& node) {
    search_.factor = reader_.decimal(node, fields_.what("factor")).value_or(2);
    if (search_.factor > 1 && search_.factor <= kLargestFactor) return;
    reader_.complain(node, fmt::format("{} is {}; the load is multiplied by it until the promise breaks, so "
                                       "write more than 1 and at most {}",
                                       fields_.what("factor"), node.text, kLargestFactor));
  }

  void read_step(const YamlNode& node) {
    const std::string what = fields_.what("step");
    const std::string* text = reader_.text(node, what);
    if (text == nullptr) return;
    if (text->empty() || text->back() != '%') {
      search_.step_share = 0;
      search_.step = load_at(node, what);
      return;
    }
    const auto share = parse_decimal(std::string_view(*text).substr(0, text->size() - 1));
    if (!share)
      reader_.complain(node, fmt::format("{}: {}", what, share.error()));
    else if (!(*share > 0 && *share <= 50))
      reader_.complain(node,
                       fmt::format("{} is {}; write more than 0% and at most 50%", what, quoted(*text)));
    else
      search_.step_share = *share / 100;
  }

  void read_keep(const YamlNode& node) {
    const std::string what = fields_.what("keep");
    if (!reader_.is_list(node, what, "[\"response_time p99 < 250ms\"]")) return;
    if (node.children.empty() || node.children.size() > kMostKept)
      reader_.complain(
          node, fmt::format("{} has {} entries; write 1 to {}, as [\"response_time p99 < 250ms\"]", what,
                            node.children.size(), kMostKept));
    const std::vector<std::string> stages{std::string{kRaiseStage}, std::string{kHoldStage}};
    std::vector<std::string> scenarios;
    for (const Scenario& s : scenarios_) scenarios.push_back(s.name);
    for (const YamlNode* item : node.children) {
      if (search_.keep.size() == kMostKept) return;
      const std::string* text = reader_.text(*item, fmt::format("an item of {}", what));
      if (text == nullptr) continue;
      auto parsed = parse_expression(*text, stages, scenarios);
      if (!parsed) {
        reader_.complain_within(*item, parsed.error().offset, parsed.error().message);
        continue;
      }
      if (parsed->for_ns > judged_s(*parsed) * kSecond_ns)
        reader_.complain_within(
            *item, text->find(" for ") + 1,
            fmt::format("a trial judges this for {} whole seconds, so nothing could break "
                        "it; make 'hold' longer or 'for' shorter",
                        judged_s(*parsed)));
      search_.keep.push_back(std::move(*parsed));
    }
  }

  /// Whole seconds of a trial in which the promise is judged: figures come once a second.
  [[nodiscard]] std::int64_t judged_s(const Expression& promise) const {
    const std::string stage = judged_in(search_, promise);
    const std::int64_t raised_ns = search_.over_ns;
    const std::int64_t from_s = stage == kHoldStage ? (raised_ns + kSecond_ns - 1) / kSecond_ns : 0;
    const std::int64_t to_s = (stage == kRaiseStage ? raised_ns : raised_ns + search_.hold_ns) / kSecond_ns;
    return std::max<std::int64_t>(to_s - from_s, 0);
  }

  void read_beside(const YamlNode& node) {
    const std::string what = fields_.what("beside");
    if (!reader_.is_map(node, what, "{publisher: 1}")) return;
    refuse_repeated_names(reader_, node, what);
    if (!names_one_)
      return reader_.complain(
          node, fmt::format("{} has users of other scenarios, but 'raise' raises all of them; write raise: "
                            "{{users: SCENARIO}}",
                            what));
    for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
      const auto which = scenario(*node.children[i], what);
      const auto users =
          reader_.count(*node.children[i + 1], fmt::format("{} of {}", quoted(node.children[i]->text), what),
                        Zero::refused);
      if (users && *users > kMostUsers)
        reader_.complain(*node.children[i + 1],
                         fmt::format("a run has at most {} million users", kMostUsers / 1'000'000));
      if (which && which == search_.scenario && search_.raise == SearchPlan::Raise::users)
        reader_.complain(*node.children[i], fmt::format("{} names the scenario that is raised", what));
      else if (which && users)
        search_.beside[*which] = *users;
    }
  }

  void read_times() {
    const auto time = [&](std::string_view key, std::int64_t otherwise, Zero zero) {
      const YamlNode* node = fields_.find(key);
      return node == nullptr ? otherwise
                             : reader_.duration_ns(*node, fields_.what(key), zero).value_or(otherwise);
    };
    search_.hold_ns = time("hold", kDefaultHold_ns, Zero::refused);
    // Whole seconds: users who start at different parts of a second would else load some parts of it twice as
    // much as others, for as long as they repeat something each second.
    const std::int64_t quarter_s = (search_.hold_ns / 4 + kSecond_ns - 1) / kSecond_ns;
    search_.over_ns = time("over", std::max<std::int64_t>(quarter_s, 1) * kSecond_ns, Zero::refused);
    search_.rest_ns = time("rest", kDefaultRest_ns, Zero::allowed);
    search_.at_most_ns = time("at_most", kDefaultAtMost_ns, Zero::refused);
    const std::int64_t trial_ns = range_of(search_).trial_ns;
    if (search_.at_most_ns >= trial_ns) return;
    const YamlNode* at = fields_.find("at_most");
    reader_.complain(at == nullptr ? node_ : *at,
                     fmt::format("{} is shorter than one trial ('over', 'hold' and 'rest': {:g} s)",
                                 fields_.what("at_most"), static_cast<double>(trial_ns) / 1e9));
  }

  Reader& reader_;
  Fields fields_;
  const YamlNode& node_;
  const std::vector<Scenario>& scenarios_;
  bool raise_is_known_ = false;
  bool names_one_ = false;
  SearchPlan search_;
};

}  // namespace

SearchPlan read_search(Reader& reader, const YamlNode& node, const std::vector<Scenario>& scenarios) {
  if (!reader.is_map(node, "'search'", kExample)) return {};
  return SearchReader(reader, node, scenarios).read();
}

}  // namespace onrush
