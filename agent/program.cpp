#include "agent/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/check.h"
#include "core/feed_reader.h"
#include "core/user_tables.h"

namespace onrush {
namespace {

// What a GraphQL message carries stands in its payload.
constexpr const char* kPayload = "/payload";

Expected<std::optional<JsonPointer>, std::string> pointer_of(const std::string& text, bool absent) {
  if (absent) return std::optional<JsonPointer>{};
  auto parsed = JsonPointer::parse(text);
  if (!parsed) return Unexpected{parsed.error()};
  return std::optional<JsonPointer>{std::move(*parsed)};
}

/// The JSON members by which the step knows what it waits for, or nullptr.
const JsonReply* json_of(const ProgramStep& step) {
  if (step.awaited != nullptr) return std::get_if<JsonReply>(step.awaited);
  const auto* operate = std::get_if<OperateStep>(&step.instruction.step->what);
  return operate != nullptr && operate->event ? &*operate->event : nullptr;
}

// Pointers of a plan were checked by its parser; the error is for plans made otherwise.
std::optional<std::string> take_pointers(ProgramStep& out, const std::string& base) {
  const Step* step = out.instruction.step;
  if (step == nullptr) return std::nullopt;
  std::string mistake;
  const auto take = [&](std::optional<JsonPointer>& into, const std::string& text, bool absent) {
    auto pointer = pointer_of(base + text, absent);
    if (pointer)
      into = std::move(*pointer);
    else
      mistake = pointer.error();
  };
  if (const auto* listen = std::get_if<ListenStep>(&step->what)) {
    take(out.listen.sequence, listen->sequence, listen->sequence.empty());
    take(out.listen.batch_sent, listen->batch_sent, listen->batch_sent.empty());
    take(out.listen.sent, listen->sent, listen->sent.empty());
  } else if (const JsonReply* json = json_of(out)) {
    for (CaptureSource& source : out.set)
      if (source.pointer != nullptr) take(source.json, *source.pointer, false);
    for (const JsonReply::Member& member : json->members) {
      std::optional<JsonPointer> pointer;
      take(pointer, member.pointer, false);
      if (pointer) out.reply.push_back(std::move(*pointer));
    }
  } else {
    for (CaptureSource& source : out.set)
      if (source.pointer != nullptr) take(source.json, *source.pointer, false);
  }
  if (mistake.empty()) return std::nullopt;
  return mistake;
}

void take_captures(const std::vector<Capture>& captures, ProgramStep& out) {
  for (const Capture& capture : captures) {
    CaptureSource& source = out.set.emplace_back();
    source.place = capture.place;
    source.text = std::get_if<Template>(&capture.source);
    source.pointer = std::get_if<std::string>(&capture.source);
    source.regex = std::get_if<Regex>(&capture.source);
  }
}

void take_wait(ProgramStep& out) {
  if (out.instruction.step == nullptr) return;
  if (const auto* request = std::get_if<RequestStep>(&out.instruction.step->what)) {
    out.awaited = &request->reply;
    take_captures(request->set, out);
    out.timeout_ns = request->timeout_ns;
  } else if (const auto* expect = std::get_if<ExpectStep>(&out.instruction.step->what)) {
    out.awaited = &expect->reply;
    take_captures(expect->set, out);
    out.timeout_ns = expect->timeout_ns;
  } else if (const auto* set = std::get_if<SetStep>(&out.instruction.step->what)) {
    take_captures(set->set, out);
  } else if (const auto* ping = std::get_if<PingStep>(&out.instruction.step->what)) {
    out.timeout_ns = ping->timeout_ns;
  } else if (const auto* operate = std::get_if<OperateStep>(&out.instruction.step->what)) {
    out.timeout_ns = operate->timeout_ns;
  }
}

Expected<std::vector<ProgramStep>, std::string> compile_steps(const Scenario& scenario,
                                                              const std::string& base) {
  const Script script = compile(scenario);
  if (script.size() > std::numeric_limits<std::uint16_t>::max())
    return Unexpected{
        fmt::format("scenario '{}' has {} steps; at most 65,535 are possible", scenario.name, script.size())};
  std::vector<ProgramStep> steps;
  std::vector<std::uint8_t> pacing;  // depths of the enclosing repeats that have `every`
  for (const Instruction& instruction : script) {
    ProgramStep step;
    step.instruction = instruction;
    step.due_depth = pacing.empty() ? std::uint8_t{0} : pacing.back();
    take_wait(step);
    if (instruction.op == Op::repeat_begin) {
      const auto& repeat = std::get<RepeatStep>(instruction.step->what);
      if (repeat.every_ns) pacing.push_back(instruction.depth);
    } else if (instruction.op == Op::repeat_end && !pacing.empty() && pacing.back() == instruction.depth) {
      pacing.pop_back();
    }
    if (const auto mistake = take_pointers(step, base))
      return Unexpected{fmt::format("scenario '{}': {}", scenario.name, *mistake)};
    steps.push_back(std::move(step));
  }
  return steps;
}

// The share was read with the plan; the error is for plans made otherwise.
Expected<FeedTable, std::string> table_of(const Feed& feed, const PlanFiles& files) {
  const auto share = files.find(share_name(feed.name));
  if (share == files.end()) return Unexpected{fmt::format("feed '{}' has no rows here", feed.name)};
  auto reader = FeedReader::open(FeedForm::csv, *share->second);
  if (!reader) return Unexpected{reader.error().message};
  FeedTable table(static_cast<std::uint32_t>(reader->columns().size()));
  while (true) {
    const auto more = reader->next();
    if (!more) return Unexpected{more.error().message};
    if (!*more) break;
    for (const std::string_view value : reader->values()) table.add(value);
  }
  table.trim();
  return table;
}

// Two targets may lie behind one address, and then share its ports.
void add_destinations(Program& program, const std::vector<std::vector<Endpoint>>& addresses) {
  const bool proxied = program.plan.connection.proxy.has_value();
  ONRUSH_CHECK(addresses.size() == (proxied ? 1 : program.plan.targets.size()));
  for (std::size_t target = 0; target < program.plan.targets.size(); ++target) {
    const std::vector<Endpoint>& dialled = addresses[proxied ? 0 : target];
    program.destination_of_target.push_back(static_cast<std::uint32_t>(program.destinations.size()));
    ONRUSH_CHECK(!dialled.empty());
    for (const Endpoint& endpoint : dialled) {
      const auto known = std::find_if(
          program.endpoints.begin(), program.endpoints.end(),
          [&](const Endpoint& e) { return e.same_address(endpoint) && e.port() == endpoint.port(); });
      const auto index = static_cast<std::uint16_t>(known - program.endpoints.begin());
      if (known == program.endpoints.end()) program.endpoints.push_back(endpoint);
      program.destinations.push_back({static_cast<std::uint16_t>(target), index});
    }
  }
  program.destination_of_target.push_back(static_cast<std::uint32_t>(program.destinations.size()));
}

}  // namespace

Expected<std::unique_ptr<const Program>, std::string> Program::make(
    Plan plan, const std::vector<std::vector<Endpoint>>& addresses, const PlanFiles& files) {
  ArrivalMix mix{plan};
  std::unique_ptr<Program> program{
      new Program{std::move(plan), {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, 0, 0, std::move(mix)}};
  add_destinations(*program, addresses);
  for (const Scenario& scenario : program->plan.scenarios) {
    auto steps = compile_steps(scenario, program->plan.connection.graphql ? kPayload : "");
    if (!steps) return Unexpected{steps.error()};
    for (ProgramStep& step : *steps) {
      if (step.instruction.op != Op::connect) continue;
      const auto& connect = connect_of(*step.instruction.step);
      step.head = static_cast<std::uint32_t>(program->heads.size());
      // A reconnect asks for what the connect before it in the script has asked for.
      if (std::holds_alternative<ReconnectStep>(step.instruction.step->what)) {
        --step.head;
        continue;
      }
      program->heads.emplace_back(program->plan.connection.upgrade, connect.upgrade);
    }
    program->scripts.push_back(std::move(*steps));
  }
  program->subscriptions = most_subscriptions(program->plan);
  for (const Feed& feed : program->plan.data) {
    auto table = table_of(feed, files);
    if (!table) return Unexpected{table.error()};
    program->feeds.push_back(std::move(*table));
  }
  if (program->plan.connection.deflate) program->extensions = offer_text(*program->plan.connection.deflate);
  auto identities = ClientIdentities::load(program->plan, program->feeds, files);
  if (!identities) return Unexpected{identities.error()};
  program->identities = std::move(*identities);
  program->stages = timeline(program->plan);
  program->user_bases = onrush::user_bases(program->plan);
  program->user_peaks.resize(program->plan.scenarios.size());
  for (const StageTimeline& stage : program->stages)
    for (std::size_t s = 0; s < program->user_peaks.size(); ++s)
      program->user_peaks[s] = std::max(program->user_peaks[s], stage.users_at_end[s]);
  for (const std::uint64_t peak : program->user_peaks) program->all_users += peak;
  return std::unique_ptr<const Program>{std::move(program)};
}

ShareOfUsers share_of_users(const Program& program, std::uint32_t scenario, Share share) noexcept {
  const std::uint64_t base = program.user_bases[scenario] % share.count;
  const std::uint64_t first = (share.index + share.count - base) % share.count;
  const std::uint64_t peak = program.user_peaks[scenario];
  return {first, peak > first ? (peak - first - 1) / share.count + 1 : 0};
}

}  // namespace onrush
