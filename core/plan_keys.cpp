#include "core/plan_keys.h"

#include <array>

namespace onrush {
namespace {

using Name = std::string_view;
template <std::size_t N>
using Names = std::array<Name, N>;

constexpr Names<12> kPlan{"name",       "target", "parameters", "connection", "scenarios", "stages",
                          "thresholds", "abort",  "search",     "seed",       "observe",   "on_agent_loss"};
constexpr Names<1> kPlanLater{"data"};

constexpr Names<3> kConnection{"headers", "cookies", "subprotocols"};
constexpr Names<6> kConnectionLater{"protocol", "tls", "deflate", "ping", "timeout", "proxy"};

constexpr Names<2> kScenario{"weight", "script"};
constexpr Names<4> kScenarioLater{"on_close", "connection", "target", "data"};

constexpr Names<6> kStage{"name", "users", "arrivals", "over", "rate", "for"};
constexpr Names<1> kStageLater{"disconnect"};

constexpr Names<8> kStep{"connect", "send", "request", "listen", "think", "repeat", "close", "drop"};
constexpr Names<9> kStepLater{"expect", "ping",      "reconnect", "choose", "set",
                              "log",    "subscribe", "query",     "mutate"};

constexpr Names<4> kConnect{"timeout", "headers", "cookies", "subprotocols"};
constexpr Names<4> kConnectLater{"target", "tls", "deflate", "protocol"};

constexpr Names<3> kSend{"text", "bytes", "file"};
constexpr Names<1> kSendLater{"json"};

constexpr Names<5> kRequest{"text", "bytes", "file", "reply", "timeout"};
constexpr Names<2> kRequestLater{"json", "set"};

constexpr Names<2> kReply{"text", "json"};
constexpr Names<3> kReplyLater{"regex", "on", "bytes"};

constexpr Names<5> kListen{"sequence", "batch_sent", "sent", "unit", "for"};
constexpr Names<2> kListenLater{"until", "on"};

constexpr Names<2> kThink{"uniform", "exponential"};
constexpr Names<3> kThinkLater{"normal", "log_normal", "lognormal"};

constexpr Names<4> kRepeat{"times", "for", "every", "do"};
constexpr Names<1> kRepeatLater{"until"};

constexpr Names<2> kClose{"code", "reason"};

constexpr Names<2> kObserve{"name", "port"};
constexpr Names<3> kObserveLater{"pid", "host", "url"};

constexpr Names<11> kSearch{"raise",  "from", "to",   "factor", "step",   "keep",
                            "beside", "over", "hold", "rest",   "at_most"};

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
constinit const KeyTable kListenKeys{"'listen'", kListen, kListenLater};
constinit const KeyTable kThinkKeys{"'think'", kThink, kThinkLater};
constinit const KeyTable kRepeatKeys{"'repeat'", kRepeat, kRepeatLater};
constinit const KeyTable kCloseKeys{"'close'", kClose, {}};
constinit const KeyTable kObserveKeys{"an item of 'observe'", kObserve, kObserveLater};
constinit const KeyTable kSearchKeys{"'search'", kSearch, {}};

std::span<const KeyTable* const> key_tables() noexcept {
  static constexpr std::array<const KeyTable*, 15> kAll{
      &kPlanKeys,    &kConnectionKeys, &kScenarioKeys, &kStageKeys,   &kSteps,
      &kConnectKeys, &kSendKeys,       &kRequestKeys,  &kReplyKeys,   &kListenKeys,
      &kThinkKeys,   &kRepeatKeys,     &kCloseKeys,    &kObserveKeys, &kSearchKeys};
  return kAll;
}

}  // namespace onrush
