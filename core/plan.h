// A plan: the whole test as the user wrote it, checked, in plain values.
//
// Why: everything after the parser works on a Plan that cannot be wrong, so nothing after it has to check
// again. Owner: any thread; made by plan_yaml, never changed afterwards. Durations are nanoseconds, rates
// items a second. Always: names are unique; indices into `scenarios` and `data` are in range; rates and
// lengths are finite and not negative.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "core/backoff.h"
#include "core/connection.h"
#include "core/feed.h"
#include "core/graphql_document.h"
#include "core/json_template.h"
#include "core/plan_files.h"
#include "core/regex.h"
#include "core/target.h"
#include "core/template.h"
#include "core/threshold.h"

namespace onrush {

/// A message's payload: a text template, or JSON whose texts are templates; or as a binary message that many
/// arbitrary bytes or a file's.
struct TextMessage {
  Template text;
};
struct JsonMessage {
  JsonTemplate json;
};
struct BinaryMessage {
  std::uint32_t bytes;
};
struct FileMessage {
  FileContent content;
};
using Message = std::variant<TextMessage, BinaryMessage, FileMessage, JsonMessage>;

/// What completes a request or an expectation: the first message (`any`), the message equal to a text, the
/// one whose JSON members at these pointers (RFC 6901) all equal their texts, or the one that an expression
/// matches and, if it says so, whose first group equals a text.
struct AnyReply {};
struct TextReply {
  Template text;
};
struct JsonReply {
  struct Member {
    std::string pointer;
    Template value;
  };
  std::vector<Member> members;
};
struct RegexReply {
  Regex regex;
  std::optional<Template> group;
};
using Reply = std::variant<AnyReply, TextReply, JsonReply, RegexReply>;

inline constexpr std::uint32_t kLargestCapture = 16 * 1024;  ///< bytes, of all values of a user together

/// A value that users of a scenario keep, and the longest it may be.
struct CaptureName {
  std::string name;
  std::uint32_t at_most = 0;  ///< bytes
};
/// Gives one a value: a text, the member of the reply at a JSON pointer, or what an expression finds in it.
struct Capture {
  std::uint32_t place;  ///< in Scenario::captures
  std::variant<Template, std::string, Regex> source;
};
/// A value equals a text.
struct Until {
  std::uint32_t place;  ///< in Scenario::captures
  Template value;
};

/// How long a user thinks. `uniform` lies between low and high, `exponential` has the mean `low`; `normal`
/// and `log_normal` have a mean and a standard deviation, and what lies outside low and high becomes the
/// nearer of them.
struct Duration {
  enum class Kind : std::uint8_t { fixed, uniform, exponential, normal, log_normal } kind = Kind::fixed;
  std::int64_t low_ns = 0;
  std::int64_t high_ns = 0;
  std::int64_t mean_ns = 0;
  std::int64_t deviation_ns = 0;
};

/// Subscriptions that a script may name.
inline constexpr std::size_t kMostSubscriptions = 16;

struct Step;
using Steps = std::vector<Step>;

/// Scale of a target's time stamps.
enum class TimeUnit : std::uint8_t { ns, us, ms, s };

struct ConnectStep {
  std::int64_t timeout_ns = 30'000'000'000;  ///< over TCP and upgrade together, never re-armed
  UpgradeFields upgrade = {};                ///< beside those of the connection
};
struct SendStep {
  Message message;
};
struct RequestStep {
  Message message;
  Reply reply;
  std::int64_t timeout_ns = 30'000'000'000;
  std::vector<Capture> set = {};
};
/// Wait for a message as a request waits for its reply; others are passed over.
struct ExpectStep {
  Reply reply;
  std::int64_t timeout_ns = 30'000'000'000;
  std::vector<Capture> set = {};
};
/// Take unsolicited messages until the session ends, or for `for_ns`. The pointers (RFC 6901) are empty when
/// absent.
struct ListenStep {
  std::string sequence;    ///< member that numbers the broadcasts from 1
  std::string batch_sent;  ///< member with the wall clock when the fan-out began
  std::string sent;        ///< member with the wall clock when this copy was handed to the socket
  TimeUnit unit = TimeUnit::us;
  std::optional<std::int64_t> for_ns;
  std::optional<std::uint8_t> on;  ///< GraphQL: place of the one subscription whose events count
};
struct ThinkStep {
  Duration time;
};
/// Endless when none of `times`, `for_ns` and `until` is set; `until`, all of which must hold, is looked at
/// after each iteration. With `every_ns`, iteration n is due at begin + n * every, and `for_ns` then means
/// exactly the iterations that are due before it has passed.
struct RepeatStep {
  std::optional<std::uint32_t> times;
  std::optional<std::int64_t> for_ns;
  std::optional<std::int64_t> every_ns;
  Steps body;
  std::vector<Until> until = {};
};
/// Keep texts for later steps.
struct SetStep {
  std::vector<Capture> set;
};
/// One of several ways to go on, drawn by weight.
struct ChooseStep {
  struct Branch {
    double weight = 1;
    Steps body;
  };
  std::vector<Branch> branches;
};
struct CloseStep {
  std::uint16_t code = 1000;
  std::string reason;
};
struct DropStep {};  ///< RST, no close handshake
/// Send a ping and wait for its own pong (RFC 6455 section 5.5.2).
struct PingStep {
  std::int64_t timeout_ns = 30'000'000'000;
};
/// Show a line to who watches the run; only some are shown (core/log_line.h).
struct LogStep {
  Template text;
};
/// End the connection and connect again at once.
struct ReconnectStep {
  bool drop = false;  ///< RST instead of a close handshake
  CloseStep close;
  ConnectStep connect;
};

/// What a GraphQL operation sends: the payload {"query":...,"variables":...}.
struct GraphqlPayload {
  JsonTemplate json;
};
/// Begins a subscription, and goes on at once.
struct SubscribeStep {
  std::string as;      ///< its name in the script
  std::uint8_t place;  ///< of the name among the scenario's subscriptions
  GraphqlPayload payload;
};
/// Ends a subscription.
struct UnsubscribeStep {
  std::uint8_t place;
};
/// A query or a mutation. Its reply is its own result, complete; or the event of a subscription.
struct OperateStep {
  GraphqlOperation operation;
  GraphqlPayload payload;
  std::optional<std::uint8_t> on;  ///< place of the subscription whose event is the reply
  std::optional<JsonReply> event;  ///< which event it is, the pointer in its result; absent: any
  std::int64_t timeout_ns = 30'000'000'000;
};

struct Step {
  std::variant<ConnectStep, SendStep, RequestStep, ListenStep, ThinkStep, RepeatStep, CloseStep, DropStep,
               ExpectStep, PingStep, LogStep, ReconnectStep, ChooseStep, SetStep, SubscribeStep,
               UnsubscribeStep, OperateStep>
      what;
};

struct Scenario {
  std::string name;
  double weight = 1;
  Steps script;
  std::vector<std::uint32_t> feeds = {};  ///< whose columns it names, places in Plan::data, rising
  std::optional<Backoff> reconnect = {};  ///< how whoever was cut off comes back; without it, not at all
  std::vector<CaptureName> captures = {};
};

/// Users who lose their connection when a stage begins, by the plan's will.
struct Disconnect {
  std::optional<double> share;  ///< of the users that the stages before want, in (0, 1]; or
  std::uint64_t count = 0;      ///< so many of them
  bool by_close = false;        ///< with a close frame (1001); else RST
  double rate = 20'000;         ///< a second, over all agents: faster floods the network
};

/// What a stage changes. A figure it does not state stays as the stage before left it.
struct Stage {
  std::string name;
  /// Users wanted when the change is done, by scenario; a plain number was shared out by weight.
  std::map<std::uint32_t, std::uint64_t> users;
  /// Sessions started a second when the change is done, over all scenarios by weight ...
  std::optional<double> arrivals;
  /// ... or for single scenarios.
  std::map<std::uint32_t, double> arrivals_by_scenario;
  bool poisson = false;  ///< `arrivals` come at random instants, not at equal intervals
  std::set<std::uint32_t> poisson_scenarios = {};  ///< likewise, of `arrivals_by_scenario`
  std::optional<std::int64_t> over_ns;             ///< the change is a linear ramp this long
  std::optional<double> rate;  ///< the change starts or stops users at this pace, until all have settled
  std::optional<std::int64_t> for_ns;  ///< then hold
  std::optional<Disconnect> disconnect = {};
};

/// A process whose cost is sampled: the one that listens on a TCP port of the coordinator's host.
struct Observed {
  std::string name;
  std::uint16_t port;
};

/// What `onrush search` goes by: the load that it raises, and the promise that tells whether a load is kept.
struct SearchPlan {
  enum class Raise : std::uint8_t { users, arrivals } raise = Raise::users;
  std::optional<std::uint32_t> scenario;          ///< the one that is raised; nothing: all, by weight
  std::map<std::uint32_t, std::uint64_t> beside;  ///< users of other scenarios, the same in every trial
  double from = 1;                                ///< loads are users, or sessions a second
  double to = 1;
  double factor = 2;
  double step = 0;           ///< how closely the load must be known ...
  double step_share = 0.02;  ///< ... and as a share of it, whichever is more
  std::vector<Expression> keep;
  std::int64_t over_ns = 0;  ///< a trial brings its load in this time ...
  std::int64_t hold_ns = 0;  ///< ... and holds it this long
  std::int64_t rest_ns = 0;  ///< between two trials
  std::int64_t at_most_ns = 0;
};

enum class OnAgentLoss : std::uint8_t { carry_on, abort };

struct Plan {
  std::string name;
  /// As --set gives them, or as the plan does; variables of the environment stay names.
  std::map<std::string, std::string> parameters = {};
  std::vector<Target> targets = {Target{}};  ///< at least one
  Connection connection;
  std::vector<Feed> data;
  std::set<std::string> files;  ///< that are named, those of feeds apart
  std::vector<Scenario> scenarios;
  std::vector<Stage> stages;
  std::vector<Expression> thresholds;
  std::vector<Expression> abort;
  std::vector<Observed> observe;
  std::optional<SearchPlan> search;
  std::uint64_t seed = 1;
  OnAgentLoss on_agent_loss = OnAgentLoss::carry_on;
};

/// What the agents connect to: the proxy, or the targets.
[[nodiscard]] std::vector<Target> dialled(const Plan& plan);

}  // namespace onrush
