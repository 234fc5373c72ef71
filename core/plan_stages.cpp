#include "core/plan_stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>

#include "core/nearest.h"
#include "core/plan_flow.h"
#include "core/timeline.h"
#include "core/units.h"

namespace onrush {
namespace {

constexpr std::array<std::string_view, 2> kDistributions{"even", "poisson"};
constexpr std::array<std::string_view, 2> kDisconnectWays{"rst", "close"};

/// Reads one stage after the other and follows what each leaves behind.
class StageReader {
 public:
  StageReader(Reader& reader, const std::vector<Scenario>& scenarios)
      : reader_{reader}, scenarios_{scenarios}, users_(scenarios.size(), 0), rates_(scenarios.size(), 0) {
    for (const Scenario& s : scenarios) names_.push_back(s.name);
  }

  Stage stage(const YamlNode& node, std::size_t index) {
    Stage stage;
    owner_ = fmt::format("stage {}", index + 1);
    if (!reader_.is_map(node, owner_, "{name: steady, users: 100, over: 10s, for: 30s}")) return stage;
    for (std::size_t i = 0; i + 1 < node.children.size(); i += 2)
      if (node.children[i]->text == "name" && node.children[i + 1]->kind == YamlNode::Kind::scalar)
        owner_ = fmt::format("stage {}", quoted(node.children[i + 1]->text));
    Fields fields(reader_, node, kStageKeys, owner_);
    if (const YamlNode* name = fields.need("name", "name: steady")) stage_name(*name, fields, stage);
    if (const YamlNode* users = fields.find("users")) read_users(*users, fields.what("users"), stage);
    if (const YamlNode* arrivals = fields.find("arrivals"))
      read_arrivals(*arrivals, fields.what("arrivals"), stage);
    if (const YamlNode* over = fields.find("over"))
      stage.over_ns = reader_.duration_ns(*over, fields.what("over"), Zero::refused).value_or(1);
    if (const YamlNode* rate = fields.find("rate"))
      stage.rate = reader_.rate(*rate, fields.what("rate"), Zero::refused).value_or(1);
    if (const YamlNode* hold = fields.find("for"))
      stage.for_ns = reader_.duration_ns(*hold, fields.what("for"), Zero::refused).value_or(1);
    if (const YamlNode* disconnect = fields.find("disconnect"))
      read_disconnect(*disconnect, fields.what("disconnect"), stage);
    follow(node, stage);
    check_shape(node, fields);
    return stage;
  }

  /// True if some stage starts a user.
  [[nodiscard]] bool starts_any() const { return starts_any_; }

 private:
  void stage_name(const YamlNode& node, const Fields& fields, Stage& stage) {
    stage.name = reader_.name(node, fields.what("name")).value_or("");
    if (stage.name.empty()) return;
    const auto [first, is_new] = lines_.emplace(stage.name, node.at.line);
    if (!is_new)
      reader_.complain(node, fmt::format("a stage '{}' stands in line {} already; give each its own name",
                                         stage.name, first->second));
  }

  // Calls `take(scenario, value)` for each entry of a map by scenario.
  template <class Take>
  void by_scenario(const YamlNode& map, const std::string& what, Take take) {
    refuse_repeated_names(reader_, map, what);
    if (map.children.empty()) reader_.complain(map, fmt::format("{} is an empty map; name a scenario", what));
    for (std::size_t i = 0; i + 1 < map.children.size(); i += 2) {
      const YamlNode& key = *map.children[i];
      const auto found = std::find(names_.begin(), names_.end(), key.text);
      if (found == names_.end()) {
        if (!names_.empty()) unknown_scenario(key, what);
        continue;
      }
      take(static_cast<std::uint32_t>(found - names_.begin()), *map.children[i + 1],
           fmt::format("{} of {}", quoted(key.text), what));
    }
  }

  void unknown_scenario(const YamlNode& key, const std::string& what) {
    const std::string hint = did_you_mean(key.text, names_);
    const std::string known = names_.size() > 10 ? "" : fmt::format("; the scenarios are {}", all_of(names_));
    reader_.complain(
        key, fmt::format("unknown scenario {} in {}{}", quoted(key.text), what, hint.empty() ? known : hint));
  }

  void read_users(const YamlNode& node, const std::string& what, Stage& stage) {
    if (node.kind == YamlNode::Kind::map) {
      by_scenario(node, what, [&](std::uint32_t scenario, const YamlNode& value, const std::string& whose) {
        stage.users[scenario] = limited(value, whose);
      });
      return;
    }
    const std::uint64_t total = limited(node, what);
    std::vector<double> weights;
    for (const Scenario& s : scenarios_) weights.push_back(s.weight);
    const auto parts = apportion(total, weights);
    for (std::size_t i = 0; i < parts.size(); ++i) stage.users[static_cast<std::uint32_t>(i)] = parts[i];
  }

  std::uint64_t limited(const YamlNode& node, const std::string& what) {
    const auto users = reader_.count(node, what, Zero::allowed);
    starts_any_ = starts_any_ || !users;  // a figure with a mistake was meant to be one
    if (users.value_or(0) <= kMostUsers) return users.value_or(0);

    reader_.complain(node, fmt::format("{} is {}; a run has at most {} million users", what, node.text,
                                       kMostUsers / 1'000'000));
    return 0;
  }

  void read_arrivals(const YamlNode& node, const std::string& what, Stage& stage) {
    if (node.kind != YamlNode::Kind::map || is_rate_with_options(node)) {
      stage.arrivals = read_rate(node, what, stage.poisson);
      return;
    }
    by_scenario(node, what, [&](std::uint32_t scenario, const YamlNode& value, const std::string& whose) {
      bool poisson = false;
      stage.arrivals_by_scenario[scenario] = read_rate(value, whose, poisson);
      if (poisson) stage.poisson_scenarios.insert(scenario);
    });
  }

  // `{rate: 200/s, distribution: poisson}`, unless a scenario has one of these names.
  [[nodiscard]] bool is_rate_with_options(const YamlNode& map) const {
    for (std::size_t i = 0; i + 1 < map.children.size(); i += 2) {
      const std::string& key = map.children[i]->text;
      const bool option =
          std::find(kArrivalsKeys.known.begin(), kArrivalsKeys.known.end(), key) != kArrivalsKeys.known.end();
      if (option && std::find(names_.begin(), names_.end(), key) == names_.end()) return true;
    }
    return false;
  }

  double read_rate(const YamlNode& node, const std::string& what, bool& poisson) {
    if (node.kind != YamlNode::Kind::map) return reader_.rate(node, what, Zero::allowed).value_or(1);
    Fields fields(reader_, node, kArrivalsKeys, what);
    if (const YamlNode* distribution = fields.find("distribution"))
      poisson = reader_.word(*distribution, fields.what("distribution"), kDistributions).value_or(0) == 1;
    const YamlNode* rate = fields.need("rate", "{rate: 200/s, distribution: poisson}");
    return rate == nullptr ? 1 : reader_.rate(*rate, fields.what("rate"), Zero::allowed).value_or(1);
  }

  // `users_` is still what the stages before want.
  void read_disconnect(const YamlNode& node, const std::string& what, Stage& stage) {
    if (!reader_.is_map(node, what, "{share: 50%, by: rst}")) return;
    const Fields fields(reader_, node, kDisconnectKeys, what);
    Disconnect& disconnect = stage.disconnect.emplace();
    const YamlNode* share = fields.find("share");
    const YamlNode* count = fields.find("count");
    if ((share == nullptr) == (count == nullptr) && fields.intact())
      return reader_.complain(
          share == nullptr ? node : *count,
          fmt::format("{} wants one of 'share' and 'count'; write {{share: 50%}} or {{count: 100}}", what));
    if (share != nullptr) disconnect.share = read_share(*share, fields.what("share"));
    if (count != nullptr)
      disconnect.count = reader_.count(*count, fields.what("count"), Zero::refused).value_or(1);
    if (const YamlNode* by = fields.find("by"))
      disconnect.by_close = reader_.word(*by, fields.what("by"), kDisconnectWays).value_or(0) == 1;
    if (const YamlNode* rate = fields.find("rate"))
      disconnect.rate = reader_.rate(*rate, fields.what("rate"), Zero::refused).value_or(1);
    check_disconnect(node, what, disconnect, stage);
  }

  double read_share(const YamlNode& node, const std::string& what) {
    const std::string* text = reader_.text(node, what);
    if (text == nullptr) return 1;
    const bool percent = !text->empty() && text->back() == '%';
    const auto share = parse_decimal(std::string_view(*text).substr(0, text->size() - (percent ? 1 : 0)));
    if (percent && share && *share > 0 && *share <= 100) return *share / 100;
    reader_.complain(
        node, fmt::format("{}: {} is not a share above 0% and up to 100%; write 50%", what, quoted(*text)));
    return 1;
  }

  void check_disconnect(const YamlNode& node, const std::string& what, const Disconnect& disconnect,
                        const Stage& stage) {
    const std::uint64_t all = std::accumulate(users_.begin(), users_.end(), std::uint64_t{0});
    if (all == 0)
      return reader_.complain(
          node, fmt::format("{} has nobody to disconnect: no stage before it wants any 'users'", what));
    if (!disconnect.share && disconnect.count > all)
      return reader_.complain(node, fmt::format("{} is to disconnect {} users, and the stages before want {}",
                                                what, disconnect.count, all));
    const double over_s = static_cast<double>(cut_count(disconnect, users_)) / disconnect.rate;
    const double length_s = static_cast<double>(stage.over_ns.value_or(0) + stage.for_ns.value_or(0)) / 1e9;
    if (!stage.rate && length_s > 0 && over_s > length_s)
      reader_.complain(
          node,
          fmt::format("{} takes {:.1f} s at {}/s, longer than its stage; give it a higher 'rate' or the "
                      "stage a longer 'for'",
                      what, over_s, disconnect.rate));
  }

  // What holds once the stage's change is done.
  void follow(const YamlNode& node, const Stage& stage) {
    for (const auto& [scenario, users] : stage.users) users_[scenario] = users;
    // The one form takes the other's place (core/timeline): a plain figure is all there is, and a map leaves
    // the scenarios that it does not name what they had of the plain one.
    if (stage.arrivals) {
      shared_rate_ = *stage.arrivals;
      std::fill(rates_.begin(), rates_.end(), 0.0);
    } else if (!stage.arrivals_by_scenario.empty() && shared_rate_ > 0) {
      for (std::size_t i = 0; i < rates_.size(); ++i)
        if (scenarios_[i].weight > 0) rates_[i] = shared_rate_;
      shared_rate_ = 0;
    }
    for (const auto& [scenario, rate] : stage.arrivals_by_scenario) rates_[scenario] = rate;
    const std::uint64_t all = std::accumulate(users_.begin(), users_.end(), std::uint64_t{0});
    if (all > kMostUsers)
      reader_.complain(node, fmt::format("{} brings the run to {} users; at most {} million", owner_, all,
                                         kMostUsers / 1'000'000));
    for (std::size_t i = 0; i < rates_.size(); ++i)
      if (shared_rate_ > 0 || rates_[i] > 0) ever_arrived_.insert(i);
    starts_any_ = starts_any_ || all > 0 || !ever_arrived_.empty();
  }

  [[nodiscard]] bool nothing_arrives() const {
    return shared_rate_ == 0 && std::all_of(rates_.begin(), rates_.end(), [](double r) { return r == 0; });
  }

  void check_shape(const YamlNode& node, const Fields& fields) {
    const bool says_users = fields.find("users") != nullptr,
               says_arrivals = fields.find("arrivals") != nullptr;
    const YamlNode* over = fields.find("over");
    const YamlNode* rate = fields.find("rate");
    const YamlNode* hold = fields.find("for");
    const bool changes = says_users || says_arrivals;
    const bool cuts = fields.find("disconnect") != nullptr;
    if (over != nullptr && rate != nullptr)
      return reader_.complain(*rate,
                              fmt::format("{} beside 'over'; a change takes a time or has a pace, not both",
                                          fields.what("rate")));
    if (rate != nullptr && !says_users)
      return reader_.complain(
          *rate, fmt::format("{} is the pace at which users start or stop, and the stage states no 'users'{}",
                             fields.what("rate"),
                             says_arrivals ? "; the arrival rate itself is 'arrivals: 100/s'" : ""));
    if (over != nullptr && !changes)
      return reader_.complain(
          *over, fmt::format("{} has no change to spread: state 'users' or 'arrivals', or write 'for'",
                             fields.what("over")));
    if (over != nullptr || rate != nullptr || hold != nullptr || !fields.intact()) return;
    if (!changes && !cuts)
      return reader_.complain(
          node, fmt::format("{} has nothing to do; give it 'users', 'arrivals' or 'for: 30s'", owner_));
    if (says_arrivals && !says_users && nothing_arrives()) return check_drain(node);
    const char* way_out = !changes     ? "'for: 30s'"
                          : says_users ? "'rate: 100/s', 'over: 10s' or 'for: 30s'"
                                       : "'over: 10s' or 'for: 30s'";
    reader_.complain(node,
                     fmt::format("{} says what changes but not how long it lasts; add {}", owner_, way_out));
  }

  // The stage lasts until every session of the open model has ended by itself.
  void check_drain(const YamlNode& node) {
    for (const std::size_t scenario : ever_arrived_)
      if (never_ends(scenarios_[scenario].script))
        reader_.complain(
            node,
            fmt::format("{} would never end: it waits for all sessions, and the script of scenario '{}' has "
                        "no end; add 'for: 30s', which ends them",
                        owner_, scenarios_[scenario].name));
  }

  Reader& reader_;
  const std::vector<Scenario>& scenarios_;
  std::vector<std::string_view> names_;
  std::string owner_;
  std::map<std::string, int> lines_;
  std::vector<std::uint64_t> users_;
  double shared_rate_ = 0;
  std::vector<double> rates_;
  std::set<std::size_t> ever_arrived_;
  bool starts_any_ = false;
};

}  // namespace

std::vector<Stage> read_stages(Reader& reader, const YamlNode& node, const std::vector<Scenario>& scenarios) {
  std::vector<Stage> stages;
  if (!reader.is_list(node, "'stages'", "[{name: steady, users: 100, over: 10s, for: 30s}]")) return stages;
  if (node.children.empty())
    reader.complain(node, "'stages' is empty; write [{name: steady, users: 100, over: 10s, for: 30s}]");
  if (node.children.size() > kMostStages) {
    reader.complain(node,
                    fmt::format("'stages' has {} entries; at most {}", node.children.size(), kMostStages));
    return stages;
  }
  StageReader stage_reader(reader, scenarios);
  for (std::size_t i = 0; i < node.children.size(); ++i)
    stages.push_back(stage_reader.stage(*node.children[i], i));
  const bool states_load = std::any_of(stages.begin(), stages.end(), [](const Stage& s) {
    return !s.users.empty() || s.arrivals || !s.arrivals_by_scenario.empty();
  });
  if (!stages.empty() && states_load && !stage_reader.starts_any())
    reader.complain(node, "no stage starts a user; give one 'users' or 'arrivals' above 0");
  return stages;
}

std::vector<std::uint64_t> apportion(std::uint64_t total, const std::vector<double>& weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<std::uint64_t> parts;
  std::vector<double> remainders;
  std::uint64_t given = 0;
  for (const double w : weights) {
    const double quota = static_cast<double>(total) * (w / sum);
    // Rounding may lift a quota by a hair; what was given can never exceed the total.
    const auto whole = std::min(static_cast<std::uint64_t>(std::floor(quota)), total - given);
    parts.push_back(whole);
    remainders.push_back(quota - static_cast<double>(whole));
    given += whole;
  }
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  for (std::size_t i = 0; given < total && !order.empty(); i = (i + 1) % order.size(), ++given)
    ++parts[order[i]];
  return parts;
}

}  // namespace onrush
