#include "proto/convert.h"

#include <algorithm>
#include <utility>

#include "core/overloaded.h"
#include "proto/convert_snapshot.h"

namespace onrush {
namespace {

void write(const HostFacts& from, proto::HostFacts& to) {
  for (const std::uint64_t number : from.numbers()) to.add_numbers(number);
  to.set_congestion_control(from.congestion_control);
  to.set_congestion_other(from.congestion_other);
  to.set_queueing(from.queueing);
}

// Numbers that are missing stay unknown, and more than this version knows of are passed over: what versions
// must agree on is checked with the agent's first words.
HostFacts read(const proto::HostFacts& from) {
  HostFacts facts;
  const auto count = std::min<std::size_t>(kFacts, static_cast<std::size_t>(from.numbers_size()));
  for (std::size_t i = 0; i < count; ++i) facts.set(static_cast<Fact>(i), from.numbers(static_cast<int>(i)));
  facts.congestion_control = from.congestion_control();
  facts.congestion_other = from.congestion_other();
  facts.queueing = from.queueing();
  return facts;
}

void write(const Hello& from, proto::Hello& to) {
  to.set_version(from.version);
  to.set_name(from.name);
  to.set_start_number(from.start_number);
  to.set_host(from.host);
  to.set_boot_id(from.boot_id);
  to.set_pid(from.pid);
  to.set_cores(from.cores);
  to.set_workers(from.workers);
  to.set_descriptor_limit(from.descriptor_limit);
  for (const std::string& range : from.source_addresses) to.add_source_addresses(range);
  write(from.facts, *to.mutable_facts());
}

Hello read(const proto::Hello& from) {
  return {.version = from.version(),
          .name = from.name(),
          .start_number = from.start_number(),
          .host = from.host(),
          .boot_id = from.boot_id(),
          .pid = from.pid(),
          .cores = from.cores(),
          .workers = from.workers(),
          .descriptor_limit = from.descriptor_limit(),
          .source_addresses = {from.source_addresses().begin(), from.source_addresses().end()},
          .facts = read(from.facts())};
}

void write(const Prepare& from, proto::Prepare& to) {
  to.set_run(from.run);
  *to.mutable_plan() = to_proto(from.plan);
  to.set_share_index(from.share.index);
  to.set_share_count(from.share.count);
  for (const std::string& address : from.source.addresses) to.mutable_source()->add_addresses(address);
  to.mutable_source()->set_first_port(from.source.first_port);
  to.mutable_source()->set_last_port(from.source.last_port);
  to.mutable_source()->set_first_shared_port(from.source.first_shared_port);
  to.mutable_source()->set_last_shared_port(from.source.last_shared_port);
  to.set_agents_on_host(from.agents_on_host);
}

Expected<FromCoordinator, std::string> read(const proto::Prepare& from) {
  constexpr std::uint32_t kTopPort = 65'535;
  const proto::SourceBlock& source = from.source();
  if (from.share_count() == 0 || from.share_index() >= from.share_count())
    return Unexpected{std::string{"prepare: the share lies outside of the plan"}};
  if (source.first_port() > source.last_port() || source.last_port() > kTopPort ||
      source.first_shared_port() > source.last_shared_port() || source.last_shared_port() > kTopPort)
    return Unexpected{std::string{"prepare: the block of ports is not one"}};
  return FromCoordinator{
      Prepare{.run = from.run(),
              .plan = from_proto(from.plan()),
              .share = {from.share_index(), from.share_count()},
              .source = {.addresses = {source.addresses().begin(), source.addresses().end()},
                         .first_port = static_cast<std::uint16_t>(source.first_port()),
                         .last_port = static_cast<std::uint16_t>(source.last_port()),
                         .first_shared_port = static_cast<std::uint16_t>(source.first_shared_port()),
                         .last_shared_port = static_cast<std::uint16_t>(source.last_shared_port())},
              .agents_on_host = from.agents_on_host()}};
}

}  // namespace

proto::PlanText to_proto(const PlanText& plan) {
  proto::PlanText to;
  to.set_file(plan.file);
  to.set_yaml(plan.yaml);
  to.set_target(plan.target);
  to.set_trace_users(plan.trace_users);
  for (const auto& [key, value] : plan.settings) {
    proto::Setting* setting = to.add_settings();
    setting->set_key(key);
    setting->set_value(value);
  }
  for (const auto& [key, value] : plan.environment) {
    proto::Setting* variable = to.add_environment();
    variable->set_key(key);
    variable->set_value(value);
  }
  return to;
}

PlanText from_proto(const proto::PlanText& from) {
  PlanText plan{.file = from.file(), .yaml = from.yaml(), .settings = {}, .target = from.target()};
  for (const proto::Setting& setting : from.settings())
    plan.settings.emplace_back(setting.key(), setting.value());
  for (const proto::Setting& variable : from.environment())
    plan.environment.emplace(variable.key(), variable.value());
  plan.trace_users = from.trace_users();
  return plan;
}

proto::Hello to_proto(const Hello& hello) {
  proto::Hello to;
  write(hello, to);
  return to;
}

Hello from_proto(const proto::Hello& from) { return read(from); }

proto::FromAgent to_proto(const FromAgent& message) {
  proto::FromAgent to;
  std::visit(Overloaded{
                 [&](const Hello& m) { write(m, *to.mutable_hello()); },
                 [&](const Probe& m) { to.mutable_probe()->set_t1_ns(m.t1_ns); },
                 [&](const HostFacts& m) { write(m, *to.mutable_host_facts()); },
                 [&](const Ready& m) {
                   to.mutable_ready()->set_capacity(m.capacity);
                   for (const std::string& warning : m.warnings) to.mutable_ready()->add_warnings(warning);
                 },
                 [&](const Refused& m) {
                   auto* refused = to.mutable_refused();
                   for (const std::string& reason : m.reasons) refused->add_reasons(reason);
                 },
                 [&](const StageSettled& m) { to.mutable_stage_settled()->set_stage(m.stage); },
                 [&](const Snapshot& m) { write(m, *to.mutable_snapshot()); },
             },
             message);
  return to;
}

Expected<FromAgent, std::string> from_proto(const proto::FromAgent& from) {
  switch (from.message_case()) {
    case proto::FromAgent::kHello: return FromAgent{read(from.hello())};
    case proto::FromAgent::kProbe: return FromAgent{Probe{from.probe().t1_ns()}};
    case proto::FromAgent::kHostFacts: return FromAgent{read(from.host_facts())};
    case proto::FromAgent::kReady: {
      const auto& warnings = from.ready().warnings();
      return FromAgent{Ready{from.ready().capacity(), {warnings.begin(), warnings.end()}}};
    }
    case proto::FromAgent::kRefused:
      return FromAgent{Refused{{from.refused().reasons().begin(), from.refused().reasons().end()}}};
    case proto::FromAgent::kStageSettled: return FromAgent{StageSettled{from.stage_settled().stage()}};
    case proto::FromAgent::kSnapshot: {
      Expected<Snapshot, std::string> snapshot = read(from.snapshot());
      if (!snapshot) return Unexpected{snapshot.error()};
      return FromAgent{std::move(*snapshot)};
    }
    case proto::FromAgent::MESSAGE_NOT_SET: break;
  }
  return Unexpected{std::string{"a message of a kind that this version does not know"}};
}

proto::FromCoordinator to_proto(const FromCoordinator& message) {
  proto::FromCoordinator to;
  std::visit(Overloaded{
                 [&](const Welcome& m) {
                   to.mutable_welcome()->set_version(m.version);
                   to.mutable_welcome()->set_boot_id(m.boot_id);
                 },
                 [&](const ProbeReply& m) {
                   to.mutable_probe_reply()->set_t1_ns(m.t1_ns);
                   to.mutable_probe_reply()->set_t2_ns(m.t2_ns);
                   to.mutable_probe_reply()->set_t3_ns(m.t3_ns);
                 },
                 [&](const Prepare& m) { write(m, *to.mutable_prepare()); },
                 [&](const Start& m) { to.mutable_start()->set_at_ns(m.at_ns); },
                 [&](const EndStage& m) {
                   to.mutable_end_stage()->set_stage(m.stage);
                   to.mutable_end_stage()->set_at_ns(m.at_ns);
                 },
                 [&](const Stop& m) { to.mutable_stop()->set_why(m.why); },
                 [&](const Acknowledge& m) { to.mutable_acknowledge()->set_number(m.number); },
             },
             message);
  return to;
}

Expected<FromCoordinator, std::string> from_proto(const proto::FromCoordinator& from) {
  switch (from.message_case()) {
    case proto::FromCoordinator::kWelcome:
      return FromCoordinator{Welcome{from.welcome().version(), from.welcome().boot_id()}};
    case proto::FromCoordinator::kProbeReply: {
      const proto::ProbeReply& reply = from.probe_reply();
      return FromCoordinator{ProbeReply{reply.t1_ns(), reply.t2_ns(), reply.t3_ns()}};
    }
    case proto::FromCoordinator::kPrepare: return read(from.prepare());
    case proto::FromCoordinator::kStart: return FromCoordinator{Start{from.start().at_ns()}};
    case proto::FromCoordinator::kEndStage:
      return FromCoordinator{EndStage{from.end_stage().stage(), from.end_stage().at_ns()}};
    case proto::FromCoordinator::kStop: return FromCoordinator{Stop{from.stop().why()}};
    case proto::FromCoordinator::kAcknowledge:
      return FromCoordinator{Acknowledge{from.acknowledge().number()}};
    case proto::FromCoordinator::kFile:  // collected before it comes here
    case proto::FromCoordinator::MESSAGE_NOT_SET: break;
  }
  return Unexpected{std::string{"a message of a kind that this version does not know"}};
}

}  // namespace onrush
