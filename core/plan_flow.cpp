#include "core/plan_flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace onrush {
namespace {

enum class Link : std::uint8_t { none, open };

template <class T>
bool is(const Step& step) {
  return std::holds_alternative<T>(step.what);
}

const char* step_name(const Step& step) {
  constexpr const char* kNames[] = {"connect", "send", "request",   "listen",      "think", "repeat",
                                    "close",   "drop", "expect",    "ping",        "log",   "reconnect",
                                    "choose",  "set",  "subscribe", "unsubscribe", "mutate"};
  static_assert(std::size(kNames) == std::variant_size_v<decltype(Step::what)>);
  const auto* operate = std::get_if<OperateStep>(&step.what);
  if (operate != nullptr && operate->operation == GraphqlOperation::query) return "query";
  return kNames[step.what.index()];
}

bool endless(const PlacedStep& placed) {
  if (const auto* listen = std::get_if<ListenStep>(&placed.step.what)) return !listen->for_ns;
  // Whoever takes a branch that ends goes on.
  if (is<ChooseStep>(placed.step))
    return std::all_of(placed.branches.begin(), placed.branches.end(),
                       [](const auto& branch) { return std::any_of(branch.begin(), branch.end(), endless); });
  const auto* repeat = std::get_if<RepeatStep>(&placed.step.what);
  if (repeat == nullptr) return false;
  return (!repeat->times && !repeat->for_ns && repeat->until.empty()) ||
         std::any_of(placed.body.begin(), placed.body.end(), endless);
}

// A send alone never waits: an iteration without one of these would be followed by the next in the same turn.
bool waits(const PlacedStep& placed) {
  if (const auto* repeat = std::get_if<RepeatStep>(&placed.step.what))
    return repeat->every_ns || std::any_of(placed.body.begin(), placed.body.end(), waits);
  if (is<ChooseStep>(placed.step))  // a branch that waits is taken sooner or later
    return std::any_of(placed.branches.begin(), placed.branches.end(),
                       [](const auto& branch) { return std::any_of(branch.begin(), branch.end(), waits); });
  return is<ConnectStep>(placed.step) || is<RequestStep>(placed.step) || is<ListenStep>(placed.step) ||
         is<ThinkStep>(placed.step) || is<ExpectStep>(placed.step) || is<PingStep>(placed.step) ||
         is<ReconnectStep>(placed.step) || is<OperateStep>(placed.step);
}

class Flow {
 public:
  Flow(Reader& reader, const std::string& owner) : reader_{reader}, owner_{owner} {}

  Link walk(const std::vector<PlacedStep>& steps, Link connection) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      connection = step(steps[i], connection);
      if (endless(steps[i]) && i + 1 < steps.size()) {
        complain(steps[i + 1],
                 fmt::format("'{}' in {} is never reached: the '{}' before it never ends; give it a 'for'{}",
                             step_name(steps[i + 1].step), owner_, step_name(steps[i].step),
                             is<RepeatStep>(steps[i].step) ? " or 'times'" : ""));
        break;
      }
    }
    return connection;
  }

 private:
  Link step(const PlacedStep& placed, Link connection) {
    if (is<ConnectStep>(placed.step)) {
      if (connection == Link::open)
        complain(placed, fmt::format("'connect' in {} while the user is connected; 'close' or 'drop' first",
                                     again()));
      return Link::open;
    }
    if (is<ThinkStep>(placed.step) || is<LogStep>(placed.step) || is<SetStep>(placed.step)) return connection;
    if (is<RepeatStep>(placed.step)) return repeat(placed, connection);
    if (is<ChooseStep>(placed.step)) return choose(placed, connection);
    if (connection == Link::none)
      complain(placed,
               fmt::format("'{}' in {} has no connection; 'connect' first", step_name(placed.step), again()));
    return is<CloseStep>(placed.step) || is<DropStep>(placed.step) ? Link::none : Link::open;
  }

  Link repeat(const PlacedStep& placed, Link before) {
    const auto& repeat = std::get<RepeatStep>(placed.step.what);
    const bool body_waits = repeat.every_ns || std::any_of(placed.body.begin(), placed.body.end(), waits);
    if (!repeat.times && !body_waits && !placed.body.empty())
      complain(placed,
               fmt::format(
                   "this 'repeat' in {} never waits, so it would send without pause; give it an 'every' or a "
                   "'think'",
                   owner_));
    if (!placed.body.empty() && endless(placed.body.back()) && (!repeat.times || *repeat.times > 1))
      complain(placed.body.back(),
               fmt::format("this '{}' in {} never ends, so the 'repeat' around it has one iteration only; "
                           "give it a 'for'",
                           step_name(placed.body.back().step), owner_));
    const Link after = walk(placed.body, before);
    if (after == before || repeat.times == 1u) return after;
    // The second iteration begins where the first ended.
    const bool outer = second_;
    second_ = true;
    const Link last = walk(placed.body, after);
    second_ = outer;
    return last;
  }

  // What follows must make sense whichever branch was taken; one that never ends leads nowhere.
  Link choose(const PlacedStep& placed, Link before) {
    std::optional<Link> after;
    bool told = false;
    for (const auto& branch : placed.branches) {
      const Link end = walk(branch, before);
      if (std::any_of(branch.begin(), branch.end(), endless)) continue;
      if (after && *after != end && !std::exchange(told, true))
        complain(
            placed,
            fmt::format("after one branch of this 'choose' in {} the user is connected, after another not; "
                        "let all end alike",
                        again()));
      after = after.value_or(end);
    }
    return after.value_or(Link::open);
  }

  [[nodiscard]] std::string again() const {
    return second_ ? fmt::format("the second iteration of a 'repeat' in {}", owner_) : owner_;
  }

  void complain(const PlacedStep& placed, std::string message) {
    reader_.complain(*placed.node, std::move(message));
  }

  Reader& reader_;
  const std::string& owner_;
  bool second_ = false;
};

}  // namespace

void check_flow(Reader& reader, const std::vector<PlacedStep>& script, const std::string& owner) {
  if (script.empty()) return;
  if (!is<ConnectStep>(script.front().step)) {
    reader.complain(*script.front().node,
                    fmt::format("the script of {} begins with '{}'; it must begin with 'connect'", owner,
                                step_name(script.front().step)));
    return;
  }
  Flow(reader, owner).walk(script, Link::none);
}

bool never_ends(const Steps& script) {
  return std::any_of(script.begin(), script.end(), [](const Step& step) {
    if (const auto* listen = std::get_if<ListenStep>(&step.what)) return !listen->for_ns;
    if (const auto* choose = std::get_if<ChooseStep>(&step.what))
      return std::any_of(choose->branches.begin(), choose->branches.end(),
                         [](const auto& branch) { return never_ends(branch.body); });
    const auto* repeat = std::get_if<RepeatStep>(&step.what);
    return repeat != nullptr &&
           ((!repeat->times && !repeat->for_ns && repeat->until.empty()) || never_ends(repeat->body));
  });
}

}  // namespace onrush
