#include "core/script.h"

#include "core/check.h"

namespace onrush {
namespace {

Op op_of(const Step& step) {
  // In the order of Step's alternatives; a repeat opens here and is closed by its own instruction, and to
  // reconnect is to end one connection and make the next.
  constexpr Op kOps[] = {Op::connect, Op::send, Op::request,   Op::listen,      Op::think,  Op::repeat_begin,
                         Op::close,   Op::drop, Op::expect,    Op::ping,        Op::log,    Op::close,
                         Op::choose,  Op::set,  Op::subscribe, Op::unsubscribe, Op::operate};
  static_assert(std::size(kOps) == std::variant_size_v<decltype(Step::what)>);
  return kOps[step.what.index()];
}

void append(const Steps& steps, std::uint8_t depth, bool paced, Script& script);

// choose, then each branch as: branch (-> the next branch), its steps, jump (-> past the last).
void append_branches(const Step& step, std::uint8_t depth, bool paced, Script& script) {
  std::vector<std::size_t> ends;
  for (const ChooseStep::Branch& branch : std::get<ChooseStep>(step.what).branches) {
    const std::size_t begin = script.size();
    script.push_back({Op::branch, 0, false, 0, &step});
    append(branch.body, depth, paced, script);
    ends.push_back(script.size());
    script.push_back({Op::jump, 0, false, 0, &step});
    script[begin].jump = static_cast<std::uint32_t>(script.size());
  }
  for (const std::size_t end : ends) script[end].jump = static_cast<std::uint32_t>(script.size());
}

void append(const Steps& steps, std::uint8_t depth, bool paced, Script& script) {
  for (const Step& step : steps) {
    const auto begin = static_cast<std::uint32_t>(script.size());
    const auto* reconnect = std::get_if<ReconnectStep>(&step.what);
    const Op op = reconnect != nullptr && reconnect->drop ? Op::drop : op_of(step);
    script.push_back({op, 0, paced && (op == Op::send || op == Op::request || op == Op::operate), 0, &step});
    if (op == Op::choose) append_branches(step, depth, paced, script);
    paced = false;
    if (reconnect != nullptr) script.push_back({Op::connect, 0, false, 0, &step});
    const auto* repeat = std::get_if<RepeatStep>(&step.what);
    if (repeat == nullptr) continue;
    ONRUSH_CHECK(depth < kMaxRepeatDepth);
    append(repeat->body, static_cast<std::uint8_t>(depth + 1), repeat->every_ns.has_value(), script);
    script.push_back({Op::repeat_end, depth, false, begin, &step});
    script[begin].depth = depth;
    script[begin].jump = static_cast<std::uint32_t>(script.size());
  }
}

}  // namespace

const ConnectStep& connect_of(const Step& step) {
  const auto* reconnect = std::get_if<ReconnectStep>(&step.what);
  return reconnect != nullptr ? reconnect->connect : std::get<ConnectStep>(step.what);
}

const CloseStep& close_of(const Step& step) {
  const auto* reconnect = std::get_if<ReconnectStep>(&step.what);
  return reconnect != nullptr ? reconnect->close : std::get<CloseStep>(step.what);
}

Script compile(const Scenario& scenario) {
  Script script;
  append(scenario.script, 0, false, script);
  script.push_back({Op::end, 0, false, 0, nullptr});
  return script;
}

}  // namespace onrush
