#include "core/plan_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/nearest.h"
#include "core/plan_captures.h"
#include "core/plan_graphql_steps.h"
#include "core/plan_upgrade.h"
#include "core/plan_values.h"
#include "core/script.h"

namespace onrush {
namespace {

constexpr std::array<std::string_view, 4> kTimeUnits{"ns", "us", "ms", "s"};

using OptionalStep = std::optional<PlacedStep>;

bool given(const YamlNode& node) { return node.kind != YamlNode::Kind::null; }

/// Reads the steps of one scenario.
class ScriptReader {
 public:
  ScriptReader(Reader& reader, std::string owner, std::vector<CaptureName>& names, bool graphql)
      : reader_{reader},
        owner_{std::move(owner)},
        names_{names},
        graphql_{graphql},
        graphql_steps_{graphql} {}

  std::vector<PlacedStep> steps(const YamlNode& list, std::uint8_t depth) {
    std::vector<PlacedStep> out;
    for (const YamlNode* item : list.children) {
      if (++count_ > kMostSteps) {
        reader_.complain(
            *item, fmt::format("the script of {} has more than {} steps; use 'repeat'", owner_, kMostSteps));
        whole_ = false;
        break;
      }
      OptionalStep placed = step(*item, depth);
      if (placed)
        out.push_back(std::move(*placed));
      else
        whole_ = false;
    }
    return out;
  }

  /// False if a step could not be read, so that nothing can be said of the script as a whole.
  [[nodiscard]] bool whole() const { return whole_; }

 private:
  OptionalStep step(const YamlNode& item, std::uint8_t depth) {
    static const YamlNode kNothing{};
    if (item.kind == YamlNode::Kind::scalar) return named(item, kNothing, depth);
    if (item.kind != YamlNode::Kind::map || item.children.empty()) {
      reader_.complain(
          item, fmt::format("a step in {} is not readable; write '- connect' or '- think: 2s'", owner_));
      return std::nullopt;
    }
    refuse_repeated_names(reader_, item, fmt::format("a step in {}", owner_));
    const YamlNode& name = *item.children[0];
    if (item.children.size() > 2 && item.children[2]->text != name.text)
      reader_.complain(
          *item.children[2],
          fmt::format("a step in {} has one name; indent {} to put it into {}, or begin a new step with '- '",
                      owner_, quoted(item.children[2]->text), quoted(name.text)));
    return name.kind == YamlNode::Kind::scalar ? named(name, *item.children[1], depth) : std::nullopt;
  }

  OptionalStep named(const YamlNode& name, const YamlNode& value, std::uint8_t depth) {
    using Read = OptionalStep (ScriptReader::*)(const YamlNode&, const YamlNode&);
    // In the order of kSteps; what holds other steps needs its depth.
    constexpr std::array<Read, 18> kRead{&ScriptReader::connect,
                                         &ScriptReader::send,
                                         &ScriptReader::request,
                                         &ScriptReader::listen,
                                         &ScriptReader::think,
                                         nullptr,
                                         &ScriptReader::close,
                                         &ScriptReader::drop,
                                         &ScriptReader::expect,
                                         &ScriptReader::ping,
                                         &ScriptReader::log,
                                         &ScriptReader::reconnect,
                                         nullptr,
                                         &ScriptReader::set,
                                         &ScriptReader::subscribe,
                                         &ScriptReader::unsubscribe,
                                         &ScriptReader::query,
                                         &ScriptReader::mutate};
    const auto found = std::find(kSteps.known.begin(), kSteps.known.end(), name.text);
    if (found == kSteps.known.end()) {
      unknown(name);
      return std::nullopt;
    }
    const Read read = kRead[static_cast<std::size_t>(found - kSteps.known.begin())];
    if (read != nullptr) return (this->*read)(name, value);
    return name.text == "repeat" ? repeat(name, value, depth) : choose(name, value, depth);
  }

  void unknown(const YamlNode& name) {
    if (std::find(kSteps.later.begin(), kSteps.later.end(), name.text) != kSteps.later.end())
      return reader_.complain(name, fmt::format("step '{}' in {} is not yet supported", name.text, owner_));
    std::string hint = did_you_mean(name.text, kSteps.known);
    if (hint.empty()) hint = fmt::format("; the steps are {}", all_of(kSteps.known));
    reader_.complain(name, fmt::format("unknown step {} in {}{}", quoted(name.text), owner_, hint));
  }

  [[nodiscard]] std::string within(std::string_view step_name) const {
    return fmt::format("'{}' of {}", step_name, owner_);
  }

  static OptionalStep placed(Step step, const YamlNode& at) {
    return PlacedStep{std::move(step), &at, {}, {}};
  }
  static OptionalStep placed_if(std::optional<Step> step, const YamlNode& at) {
    return step ? placed(std::move(*step), at) : std::nullopt;
  }

  OptionalStep connect(const YamlNode& name, const YamlNode& value) {
    ConnectStep step;
    step.timeout_ns = 0;  // the connection's, unless it states its own
    if (given(value) && reader_.is_map(value, within("connect"), "{timeout: 30s}")) {
      const Fields fields(reader_, value, kConnectKeys, within("connect"));
      read_timeout(reader_, fields, step.timeout_ns);
      step.upgrade = read_upgrade_fields(reader_, fields);
      if (const YamlNode* node = fields.find("subprotocols"); node != nullptr && graphql_)
        reader_.complain(*node, fmt::format("{} on a GraphQL connection, which offers its 'protocol'",
                                            fields.what("subprotocols")));
    }
    return placed({std::move(step)}, name);
  }

  OptionalStep send(const YamlNode& name, const YamlNode& value) {
    SendStep step;
    if (message_map(name, value, "{text: hello}"))
      step.message = read_message(reader_, Fields(reader_, value, kSendKeys, within("send")), value);
    return placed({std::move(step)}, name);
  }

  bool message_map(const YamlNode& name, const YamlNode& value, std::string_view example) {
    if (given(value)) return reader_.is_map(value, within(name.text), example);
    reader_.complain(name,
                     fmt::format("{} says no message; write {}: {}", within(name.text), name.text, example));
    return false;
  }

  OptionalStep request(const YamlNode& name, const YamlNode& value) {
    RequestStep step;
    if (graphql_)
      reader_.complain(
          name, fmt::format("{} on a GraphQL connection; write 'query' or 'mutate'", within("request")));
    if (!message_map(name, value, "{text: hello, reply: any}")) return placed({std::move(step)}, name);
    const Fields fields(reader_, value, kRequestKeys, within("request"));
    step.message = read_message(reader_, fields, value);
    read_timeout(reader_, fields, step.timeout_ns);
    if (const YamlNode* node = fields.find("reply"))
      step.reply = read_reply(reader_, *node, fields.what("reply"));
    step.set = read_kept(context(), fields);
    return placed({std::move(step)}, name);
  }

  OptionalStep listen(const YamlNode& name, const YamlNode& value) {
    ListenStep step;
    if (!given(value) || !reader_.is_map(value, within("listen"), "{sequence: /seq}"))
      return placed({std::move(step)}, name);
    const Fields fields(reader_, value, kListenKeys, within("listen"));
    const auto pointer = [&](std::string_view key, std::string& out) {
      if (const YamlNode* node = fields.find(key))
        out = reader_.pointer(*node, fields.what(key)).value_or("/");
    };
    pointer("sequence", step.sequence);
    pointer("batch_sent", step.batch_sent);
    pointer("sent", step.sent);
    if (const YamlNode* unit = fields.find("unit")) {
      step.unit = static_cast<TimeUnit>(reader_.word(*unit, fields.what("unit"), kTimeUnits).value_or(1));
      if (step.batch_sent.empty() && step.sent.empty())
        reader_.complain(*unit, fmt::format("{} belongs to 'sent' or 'batch_sent', and neither is stated",
                                            fields.what("unit")));
    }
    if (const YamlNode* length = fields.find("for"))
      step.for_ns = reader_.duration_ns(*length, fields.what("for"), Zero::refused).value_or(1);
    if (const YamlNode* on = fields.find("on"))
      step.on = graphql_steps_.subscription(context(), name, *on, fields.what("on"));
    return placed({std::move(step)}, name);
  }

  OptionalStep think(const YamlNode& name, const YamlNode& value) {
    ThinkStep step;
    if (given(value))
      step.time = read_think_time(reader_, value, within("think"));
    else
      reader_.complain(name, fmt::format("{} says no time; write think: 2s or think: {{uniform: 1s..3s}}",
                                         within("think")));
    return placed({step}, name);
  }

  OptionalStep repeat(const YamlNode& name, const YamlNode& value, std::uint8_t depth) {
    const std::string what = within("repeat");
    if (depth >= kMaxRepeatDepth) {
      reader_.complain(name,
                       fmt::format("'repeat' in {} is nested more than {} deep", owner_, kMaxRepeatDepth));
      return std::nullopt;
    }
    if (!reader_.is_map(given(value) ? value : name, what, "{times: 5, do: [...]}")) return std::nullopt;
    Fields fields(reader_, value, kRepeatKeys, what);
    RepeatStep step;
    if (const YamlNode* node = fields.find("times")) step.times = times(*node, fields.what("times"));
    if (const YamlNode* node = fields.find("for"))
      step.for_ns = reader_.duration_ns(*node, fields.what("for"), Zero::refused).value_or(1);
    if (const YamlNode* node = fields.find("every"))
      step.every_ns = reader_.duration_ns(*node, fields.what("every"), Zero::refused).value_or(1);
    if (const YamlNode* node = fields.find("until"))
      step.until = read_until(reader_, *node, fields.what("until"));
    if (step.times && step.for_ns)
      reader_.complain(*fields.find("for"),
                       fmt::format("{} beside 'times'; a repeat ends by one of the two", fields.what("for")));
    OptionalStep out = placed({std::move(step)}, name);
    const YamlNode* body = fields.need("do", "do: [...]");
    if (body == nullptr || !reader_.is_list(*body, fields.what("do"), "[{send: {text: hello}}]"))
      return std::nullopt;
    if (body->children.empty())
      reader_.complain(*body, fmt::format("{} is empty; give it a step", fields.what("do")));
    out->body = steps(*body, static_cast<std::uint8_t>(depth + 1));
    return out;
  }

  OptionalStep choose(const YamlNode& name, const YamlNode& value, std::uint8_t depth) {
    const std::string what = within("choose");
    if (!reader_.is_list(given(value) ? value : name, what, "[{weight: 3, do: [...]}, {do: [...]}]"))
      return std::nullopt;
    if (value.children.size() < 2 || value.children.size() > kMostBranches) {
      reader_.complain(value, fmt::format("{} has {} branches; give it 2 to {}", what, value.children.size(),
                                          kMostBranches));
      return std::nullopt;
    }
    ChooseStep step;
    std::vector<std::vector<PlacedStep>> branches;
    for (const YamlNode* item : value.children) {
      const std::string owner = fmt::format("a branch of {}", what);
      if (!reader_.is_map(*item, owner, "{weight: 3, do: [...]}")) return std::nullopt;
      Fields fields(reader_, *item, kBranchKeys, owner);
      ChooseStep::Branch& branch = step.branches.emplace_back();
      if (const YamlNode* weight = fields.find("weight")) {
        branch.weight = reader_.decimal(*weight, fields.what("weight")).value_or(1);
        if (branch.weight > kHeaviestWeight)
          reader_.complain(*weight,
                           fmt::format("{} is more than {}", fields.what("weight"), kHeaviestWeight));
      }
      const YamlNode* body = fields.need("do", "do: [...]");
      if (body == nullptr || !reader_.is_list(*body, fields.what("do"), "[{send: {text: hello}}]"))
        return std::nullopt;
      branches.push_back(steps(*body, depth));
    }
    OptionalStep out = placed({std::move(step)}, name);
    out->branches = std::move(branches);
    return out;
  }

  std::uint32_t times(const YamlNode& node, const std::string& what) {
    const auto count = reader_.count(node, what, Zero::refused).value_or(1);
    if (count > UINT32_MAX)
      reader_.complain(node, fmt::format("{} is {}; at most {}", what, count, UINT32_MAX));
    return static_cast<std::uint32_t>(count);
  }

  OptionalStep close(const YamlNode& name, const YamlNode& value) {
    CloseStep step;
    if (given(value) && reader_.is_map(value, within("close"), "{code: 1000}"))
      read_close_frame(reader_, Fields(reader_, value, kCloseKeys, within("close")), step);
    return placed({std::move(step)}, name);
  }

  OptionalStep subscribe(const YamlNode& name, const YamlNode& value) {
    return placed_if(graphql_steps_.subscribe(context(), name, value), name);
  }
  OptionalStep unsubscribe(const YamlNode& name, const YamlNode& value) {
    return placed_if(graphql_steps_.unsubscribe(context(), name, value), name);
  }
  OptionalStep query(const YamlNode& name, const YamlNode& value) {
    return placed_if(graphql_steps_.operate(context(), name, value, GraphqlOperation::query), name);
  }
  OptionalStep mutate(const YamlNode& name, const YamlNode& value) {
    return placed_if(graphql_steps_.operate(context(), name, value, GraphqlOperation::mutation), name);
  }

  OptionalStep drop(const YamlNode& name, const YamlNode& value) {
    if (given(value))
      reader_.complain(value, fmt::format("{} takes nothing; write '- drop'", within("drop")));
    return placed({DropStep{}}, name);
  }

  OptionalStep expect(const YamlNode& name, const YamlNode& value) {
    if (graphql_)
      reader_.complain(name, fmt::format("{} on a GraphQL connection; write 'listen' or a reply's 'on'",
                                         within("expect")));
    return placed({read_expect(context(), name, value)}, name);
  }
  OptionalStep ping(const YamlNode& name, const YamlNode& value) {
    return placed({read_ping(context(), name, value)}, name);
  }
  OptionalStep log(const YamlNode& name, const YamlNode& value) {
    return placed({read_log(context(), name, value)}, name);
  }
  OptionalStep reconnect(const YamlNode& name, const YamlNode& value) {
    return placed({read_reconnect(context(), name, value)}, name);
  }
  OptionalStep set(const YamlNode& name, const YamlNode& value) {
    return placed({read_set(context(), name, value)}, name);
  }

  [[nodiscard]] StepContext context() { return {reader_, owner_, names_}; }

  Reader& reader_;
  std::string owner_;
  std::vector<CaptureName>& names_;
  bool graphql_;
  GraphqlSteps graphql_steps_;
  std::size_t count_ = 0;
  bool whole_ = true;
};

}  // namespace

PlacedScript read_script(const StepContext& context, const YamlNode& list, bool graphql) {
  ScriptReader reader(context.reader, context.owner, context.captures, graphql);
  PlacedScript script;
  script.steps = reader.steps(list, 0);
  script.whole = reader.whole();
  return script;
}

}  // namespace onrush
