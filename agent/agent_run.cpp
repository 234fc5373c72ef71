#include "agent/agent_run.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <thread>
#include <utility>

#include "agent/collector.h"
#include "agent/resolver.h"
#include "agent/worker.h"
#include "core/health.h"
#include "core/plan_yaml.h"
#include "core/preflight.h"

namespace onrush {
namespace {

// Sockets that are being closed still hold their places while the next users want theirs.
constexpr std::uint32_t kSparePlaces = 64;
// Of n agents: how far their snapshots of a second are spread, and for each of a few.
constexpr std::int64_t kSpread_ns = 500'000'000;
constexpr std::int64_t kSpreadOfOne_ns = 10'000'000;

/// What each worker may hold at once.
struct Places {
  std::uint32_t users = 0;
  std::uint32_t arrivals = 0;
};

// Worker w of W takes every W-th item of the agent's share, so shares stay complete whatever W each agent
// has.
Share share_of_worker(Share agent, std::uint32_t worker, std::uint32_t workers) {
  return {agent.index + agent.count * worker, agent.count * workers};
}

bool has_arrivals(const Plan& plan) {
  const auto asks = [](const Stage& stage) { return stage.arrivals || !stage.arrivals_by_scenario.empty(); };
  return std::any_of(plan.stages.begin(), plan.stages.end(), asks);
}

// Arrivals may take whatever descriptors the users of the closed model leave.
Places places_of(const Plan& plan, Share worker_share, std::uint64_t descriptors) {
  Places places;
  places.users = static_cast<std::uint32_t>(peak_users(plan, worker_share));
  if (has_arrivals(plan))
    places.arrivals = static_cast<std::uint32_t>(std::min<std::uint64_t>(
        descriptors - std::min<std::uint64_t>(descriptors, places.users), std::uint32_t{1} << 20));
  return places;
}

using Addresses = std::vector<std::vector<Endpoint>>;  ///< of each target

/// What the addresses of all targets mean for the preflight.
struct Reach {
  bool loopback = false;      ///< one is there
  bool own_address = false;   ///< one is of this host
  bool shares_ports = false;  ///< one is reached only from ports that agents of a host share
  double busiest_share = 0;
};

Reach reach_of(const std::vector<Target>& targets, const Addresses& addresses, const SourceBlock& source) {
  Reach reach;
  double weights = 0;
  for (const Target& target : targets) weights += target.weight;
  std::map<std::string, double> shares;  // two targets may lie behind one address
  for (std::size_t t = 0; t < targets.size(); ++t)
    for (const Endpoint& endpoint : addresses[t]) {
      reach.loopback = reach.loopback || endpoint.is_loopback();
      reach.own_address = reach.own_address || is_own_address(endpoint);
      reach.shares_ports = reach.shares_ports || has_to_share(source, endpoint);
      double& share = shares[endpoint.text()];
      share += targets[t].weight / weights / static_cast<double>(addresses[t].size());
      reach.busiest_share = std::max(reach.busiest_share, share);
    }
  return reach;
}

std::vector<Check> check_limits(const Prepare& prepare, const Plan& plan, const AgentSettings& settings,
                                const Addresses& addresses) {
  const PlanNeed need = need_of(plan, prepare.plan.file);
  AgentPlace place = place_of(plan, need, prepare.share, prepare.source);
  place.agent = settings.name;
  place.descriptor_limit = settings.descriptor_limit;
  const Reach reach = reach_of(dialled(plan), addresses, prepare.source);
  place.loopback = reach.loopback;
  place.busiest_share = reach.busiest_share;
  if (reach.shares_ports) {
    place.source_addresses = 1;
    place.ports_per_address =
        std::uint64_t{prepare.source.last_shared_port} - prepare.source.first_shared_port + 1;
  }
  HostPlace host;
  host.host = settings.host;
  host.agents = std::max(prepare.agents_on_host, 1U);
  // Shares differ by one, so the product may be a little more than there is.
  host.connections = std::min(place.connections * host.agents, need.peak);
  host.target_here = place.loopback || (settings.threads && reach.own_address);
  std::vector<Check> checks = check_agent(need, place, settings.facts);
  for (Check& check : check_host(need, host, settings.facts)) checks.push_back(std::move(check));
  return checks;
}

std::vector<std::string> refusals(const std::vector<Check>& checks) {
  std::vector<std::string> texts;
  for (const Check& check : checks)
    if (check.grade == CheckGrade::refused) texts.push_back(describe(check));
  return texts;
}

// What it is about comes first, so that the coordinator knows when agents of one host say the same.
std::vector<std::string> warnings_of(const std::vector<Check>& checks, const std::string& host) {
  std::vector<std::string> texts;
  for (const Check& check : checks)
    if (check.grade == CheckGrade::warning)
      texts.push_back(fmt::format("{}, {}: {}", host, check.name, describe(check)));
  return texts;
}

}  // namespace

/// A worker with its network and, unless the caller turns it, its thread.
struct RunningWorker {
  std::unique_ptr<Network> network;
  std::unique_ptr<Worker> worker;
  std::thread thread;
};

struct AgentRun::Parts {
  std::unique_ptr<const Program> program;
  std::vector<RunningWorker> workers;
  std::unique_ptr<SelfWatch> watch;
  std::unique_ptr<Collector> collector;
  std::atomic<bool> abandoned{false};
  std::vector<std::uint16_t> occupied;  ///< ports that are not to be bound
  std::uint32_t settled_told = 0;       ///< stages told as settled: all less than this
  std::uint64_t capacity = 0;
  std::vector<std::string> warnings;
  bool started = false;
  std::int64_t start_ns = 0;
  Share share{0, 1};
  bool called_off = false;  ///< stopped before it was started: there is nothing to close or to tell

  static Expected<std::unique_ptr<Parts>, std::string> make(const Prepare& prepare, Plan plan,
                                                            const Addresses& addresses,
                                                            const AgentSettings& settings,
                                                            const NetworkFactory& make_network);
  Expected<bool, std::string> add_worker(const Prepare& prepare, const AgentSettings& settings,
                                         std::uint32_t index, const NetworkFactory& make_network);
  void run_threads(const std::function<void()>& on_news);
  [[nodiscard]] std::uint32_t seconds_to_tell(std::int64_t now_ns) const noexcept;
};

Expected<std::unique_ptr<AgentRun>, std::vector<std::string>> AgentRun::prepare(
    const Prepare& prepare, const AgentSettings& settings, const NetworkFactory& make_network) {
  PlanSource source = source_of(prepare.plan);
  source.around.feeds_are_shares = true;
  auto plan = read_plan(source);
  if (!plan) return Unexpected{std::vector{render(prepare.plan.file, plan.error())}};
  const auto addresses = resolve(dialled(*plan), prepare.source, look_up);
  if (!addresses) return Unexpected{addresses.error()};
  const std::vector<Check> checks = check_limits(prepare, *plan, settings, *addresses);
  std::vector<std::string> reasons = refusals(checks);
  if (settings.threads)
    if (std::optional<std::string> foreign = foreign_address(prepare.source)) reasons.push_back(*foreign);
  if (!reasons.empty()) return Unexpected{reasons};
  auto parts = Parts::make(prepare, std::move(*plan), *addresses, settings, make_network);
  if (!parts) return Unexpected{std::vector{parts.error()}};
  (*parts)->warnings = warnings_of(checks, settings.host);
  return std::unique_ptr<AgentRun>{new AgentRun{std::move(*parts)}};
}

Expected<std::unique_ptr<AgentRun::Parts>, std::string> AgentRun::Parts::make(
    const Prepare& prepare, Plan plan, const Addresses& addresses, const AgentSettings& settings,
    const NetworkFactory& make_network) {
  auto program = Program::make(std::move(plan), addresses, prepare.plan.files);
  if (!program) return Unexpected{program.error()};
  auto parts = std::make_unique<Parts>();
  parts->share = prepare.share;
  parts->program = std::move(*program);
  if (settings.occupied_ports) parts->occupied = settings.occupied_ports();
  for (std::uint32_t w = 0; w < settings.workers; ++w)
    if (auto added = parts->add_worker(prepare, settings, w, make_network); !added)
      return Unexpected{added.error()};
  if (settings.watch_host || settings.look_at_memory)
    parts->watch = std::make_unique<SelfWatch>(settings.watch_host, settings.facts, settings.look_at_memory);
  std::vector<Recorder*> recorders;
  for (const RunningWorker& running : parts->workers) recorders.push_back(&running.worker->recorder());
  parts->collector = std::make_unique<Collector>(std::move(recorders), parts->watch.get());
  if (settings.threads) parts->run_threads(settings.on_news);
  return parts;
}

Expected<bool, std::string> AgentRun::Parts::add_worker(const Prepare& prepare, const AgentSettings& settings,
                                                        std::uint32_t index,
                                                        const NetworkFactory& make_network) {
  const std::uint32_t count = settings.workers;
  auto network = make_network(index);
  if (!network) return Unexpected{network.error()};
  const Share share = share_of_worker(prepare.share, index, count);
  const std::uint64_t descriptors =
      (settings.descriptor_limit - std::min(settings.descriptor_limit, kReservedDescriptors)) / count;
  const Places places = places_of(program->plan, share, descriptors);
  WorkerSettings worker_settings{share, prepare.share, places.users + places.arrivals + kSparePlaces,
                                 places.arrivals};
  worker_settings.trace_users = prepare.plan.trace_users;
  std::unique_ptr<TlsLayer> tls;
  if (program->plan.targets.front().url.secure) {
    auto made = TlsLayer::make(program->plan.connection.tls, program->plan.targets, worker_settings.capacity,
                               program->identities.all());
    if (!made) return Unexpected{made.error()};
    tls = std::move(*made);
  }
  std::vector<PortAllocator> ports;
  for (const Endpoint& endpoint : program->endpoints) {
    auto made = PortAllocator::make(prepare.source, {index, count}, endpoint, occupied);
    if (!made) return Unexpected{made.error()};
    // Twice what it can hold, so that a freed port rests before it is used again.
    if (program->endpoints.size() > 1) made->keep_at_most(std::size_t{2} * worker_settings.capacity);
    ports.push_back(std::move(*made));
  }
  RunningWorker running;
  running.network = std::move(*network);
  running.worker =
      std::make_unique<Worker>(*program, worker_settings, std::move(ports), *running.network, std::move(tls));
  capacity += places.users + places.arrivals;
  workers.push_back(std::move(running));
  return true;
}

void AgentRun::Parts::run_threads(const std::function<void()>& on_news) {
  for (std::size_t w = 0; w < workers.size(); ++w) {
    workers[w].thread = std::thread{[this, w, on_news] {
      // The default slack of 50 us would be added to every due time.
      prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
      pthread_setname_np(pthread_self(), fmt::format("worker-{}", w).c_str());
      Worker& worker = *workers[w].worker;
      std::uint32_t told = 0;
      while (!worker.done() && !abandoned.load(std::memory_order_relaxed)) {
        worker.turn();
        const std::uint32_t news = worker.news();
        if (on_news && std::exchange(told, news) != news) on_news();
      }
    }};
  }
}

// Agent i of n tells a second this much after its end.
std::uint32_t AgentRun::Parts::seconds_to_tell(std::int64_t now_ns) const noexcept {
  const bool over = std::all_of(workers.begin(), workers.end(),
                                [](const RunningWorker& running) { return running.worker->done(); });
  if (over) return std::numeric_limits<std::uint32_t>::max();
  const std::int64_t spread_ns =
      std::min(kSpread_ns, kSpreadOfOne_ns * share.count) * share.index / share.count;
  return static_cast<std::uint32_t>(std::max<std::int64_t>(now_ns - start_ns - spread_ns, 0) / 1'000'000'000);
}

AgentRun::AgentRun(std::unique_ptr<Parts> parts) : parts_{std::move(parts)} {}

AgentRun::~AgentRun() {
  parts_->abandoned = true;
  for (RunningWorker& running : parts_->workers) {
    running.network->wake();
    if (running.thread.joinable()) running.thread.join();
  }
}

std::uint64_t AgentRun::capacity() const noexcept { return parts_->capacity; }
const std::vector<std::string>& AgentRun::warnings() const noexcept { return parts_->warnings; }

const std::string& AgentRun::scenario_name(std::uint32_t scenario) const noexcept {
  return parts_->program->plan.scenarios[scenario].name;
}

void AgentRun::start(std::int64_t local_start_ns) {
  parts_->started = true;
  parts_->start_ns = local_start_ns;
  for (RunningWorker& running : parts_->workers) running.worker->start(local_start_ns);
}

void AgentRun::end_stage(std::uint32_t stage, std::int64_t local_at_ns) {
  for (RunningWorker& running : parts_->workers) running.worker->end_stage(stage, local_at_ns);
}

void AgentRun::stop() {
  if (!parts_->started) parts_->called_off = true;
  for (RunningWorker& running : parts_->workers) running.worker->stop();
}

void AgentRun::correct_wall_clock(std::int64_t offset_us) {
  for (RunningWorker& running : parts_->workers) running.worker->correct_wall_clock(offset_us);
}

void AgentRun::acknowledge(std::uint64_t number) { parts_->collector->acknowledge(number); }

void AgentRun::resend() {
  parts_->collector->resend();
  parts_->settled_told = 0;
}

std::vector<FromAgent> AgentRun::poll(std::int64_t local_now_ns) {
  std::vector<FromAgent> messages;
  if (parts_->called_off) return messages;
  std::uint32_t settled = std::numeric_limits<std::uint32_t>::max();
  for (const RunningWorker& running : parts_->workers) settled = std::min(settled, running.worker->settled());
  // Only the latest stage can still be waited for, and only if its end depends on it.
  if (settled > parts_->settled_told) {
    parts_->settled_told = settled;
    if (parts_->program->stages[settled - 1].end != StageEnd::after_length)
      messages.emplace_back(StageSettled{settled - 1});
  }
  for (Snapshot& snapshot : parts_->collector->collect(parts_->seconds_to_tell(local_now_ns))) {
    // At once: the coordinator stops the others when it hears of it, and may itself be slow for want of
    // memory.
    if (nears_end_of_memory(snapshot.health)) stop();
    messages.emplace_back(std::move(snapshot));
  }
  return messages;
}

bool AgentRun::finished() const noexcept { return parts_->called_off || parts_->collector->finished(); }

std::vector<Worker*> AgentRun::workers() noexcept {
  std::vector<Worker*> workers;
  for (const RunningWorker& running : parts_->workers) workers.push_back(running.worker.get());
  return workers;
}

}  // namespace onrush
