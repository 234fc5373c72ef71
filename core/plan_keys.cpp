#include "core/plan_keys.h"

#include <array>

namespace onrush {
namespace {

using Name = std::string_view;
template <std::size_t N>
using Names = std::array<Name, N>;

constexpr Names<11> kPlan{"name",       "target", "parameters", "connection", "scenarios",    "stages",
                          "thresholds", "abort",  "seed",       "observe",    "on_agent_loss"};
constexpr Names<2> kPlanLater{"data", "search"};

constexpr Names<3> kConnection{"headers", "cookies", "subprotocols"};
constexpr Names<6> kConnectionLater{"protocol", "tls", "deflate", "ping", "timeout", "proxy"};

constexpr Names<2> kScenario{"weight", "script"};
constexpr Names<4> kScenarioLater{"on_close", "connection", "target", "data"};

constexpr Names<6> kStage{"name", "users", "arrivals", "over", "rate", "for"};
constexpr Names<1> kStageLater{"disconnect"};

constexpr Names<14> kStep{"connect", "send",   "request", "listen", "think",     "repeat", "close",
                          "drop",    "expect", "ping",    "log",    "reconnect", "choose", "set"};
constexpr Names<3> kStepLater{"subscribe", "query", "mutate"};

constexpr Names<4> kConnect{"timeout", "headers", "cookies", "subprotocols"};
constexpr Names<4> kConnectLater{"target", "tls", "deflate", "protocol"};

constexpr Names<3> kSend{"text", "bytes", "file"};
constexpr Names<1> kSendLater{"json"};

constexpr Names<6> kRequest{"text", "bytes", "file", "reply", "timeout", "set"};
constexpr Names<1> kRequestLater{"json"};

constexpr Names<4> kReply{"text", "json", "regex", "group"};
constexpr Names<2> kReplyLater{"on", "bytes"};

constexpr Names<6> kExpect{"text", "json", "regex", "group", "timeout", "set"};
constexpr Names<2> kExpectLater{"on", "bytes"};

constexpr Names<1> kPing{"timeout"};

constexpr Names<4> kCapture{"text", "json", "regex", "at_most"};

constexpr Names<2> kBranch{"weight", "do"};

constexpr Names<4> kReconnect{"by", "code", "reason", "timeout"};

constexpr Names<5> kListen{"sequence", "batch_sent", "sent", "unit", "for"};
constexpr Names<2> kListenLater{"until", "on"};

constexpr Names<6> kThink{"uniform", "exponential", "normal", "log_normal", "deviation", "within"};

constexpr Names<5> kRepeat{"times", "for", "every", "until", "do"};

constexpr Names<2> kClose{"code", "reason"};

constexpr Names<2> kObserve{"name", "port"};
constexpr Names<3> kObserveLater{"pid", "host", "url"};

}  // namespace

constinit const KeyTable kPlanKeys{"a plan", kPlan, kPlanLater};
constinit const KeyTable kConnectionKeys{"'connection'", kConnection, kConnectionLater};
constinit const KeyTable kScenarioKeys{"a scenario", kScenario, kScenarioLater};
constinit const KeyTable kStageKeys{"a stage", kStage, kStageLater};
constinit const KeyTable kSteps{"a script", kStep, kStepLater};
constinit const KeyTable kConnectKeys{"'connect'", kConnect, kConnectLater};
constinit const KeyTable kSendKeys{"'send'", kSend, kSendLater};
constinit const KeyTable kRequestKeys{"'request'", kRequest, kRequestLater};
constinit const KeyTable kReplyKeys{"'reply'", kReply, kReplyLater};
constinit const KeyTable kExpectKeys{"'expect'", kExpect, kExpectLater};
constinit const KeyTable kPingKeys{"'ping'", kPing, {}};
constinit const KeyTable kCaptureKeys{"a value of 'set'", kCapture, {}};
constinit const KeyTable kBranchKeys{"a branch of 'choose'", kBranch, {}};
constinit const KeyTable kReconnectKeys{"'reconnect'", kReconnect, {}};
constinit const KeyTable kListenKeys{"'listen'", kListen, kListenLater};
constinit const KeyTable kThinkKeys{"'think'", kThink, {}};
constinit const KeyTable kRepeatKeys{"'repeat'", kRepeat, {}};
constinit const KeyTable kCloseKeys{"'close'", kClose, {}};
constinit const KeyTable kObserveKeys{"an item of 'observe'", kObserve, kObserveLater};

std::span<const KeyTable* const> key_tables() noexcept {
  static constexpr std::array<const KeyTable*, 19> kAll{
      &kPlanKeys,    &kConnectionKeys, &kScenarioKeys, &kStageKeys,   &kSteps,
      &kConnectKeys, &kSendKeys,       &kRequestKeys,  &kReplyKeys,   &kListenKeys,
      &kThinkKeys,   &kRepeatKeys,     &kCloseKeys,    &kObserveKeys, &kExpectKeys,
      &kPingKeys,    &kReconnectKeys,  &kBranchKeys,   &kCaptureKeys};
  return kAll;
}

}  // namespace onrush
