#include "core/plan_keys.h"

#include <array>

namespace onrush {
namespace {

using Name = std::string_view;
template <std::size_t N>
using Names = std::array<Name, N>;

constexpr Names<13> kPlan{"name",          "target",     "parameters", "connection", "scenarios",
                          "stages",        "thresholds", "abort",      "seed",       "observe",
                          "on_agent_loss", "data",       "search"};

constexpr Names<13> kConnection{
    "path",     "headers", "cookies",     "subprotocols",      "tls",   "ping",   "timeout",
    "protocol", "init",    "ack_timeout", "on_protocol_error", "proxy", "deflate"};

constexpr Names<4> kDeflate{"client_max_window_bits", "server_max_window_bits", "client_no_context_takeover",
                            "server_no_context_takeover"};

constexpr Names<8> kTls{"ca",          "certificate", "key",     "verify",
                        "server_name", "min_version", "ciphers", "resume"};

constexpr Names<4> kFeed{"csv", "json_lines", "take", "on_end"};

constexpr Names<4> kScenario{"weight", "script", "on_close", "connection"};

constexpr Names<2> kScenarioLater{"target", "data"};

constexpr Names<5> kScenarioConnection{"path", "timeout", "headers", "cookies", "subprotocols"};

constexpr Names<5> kScenarioConnectionLater{"tls", "ping", "protocol", "proxy", "deflate"};

constexpr Names<7> kStage{"name", "users", "arrivals", "over", "rate", "for", "disconnect"};

constexpr Names<18> kStep{"connect", "send", "request",   "listen",      "think", "repeat",
                          "close",   "drop", "expect",    "ping",        "log",   "reconnect",
                          "choose",  "set",  "subscribe", "unsubscribe", "query", "mutate"};

constexpr Names<5> kConnect{"path", "timeout", "headers", "cookies", "subprotocols"};

constexpr Names<4> kConnectLater{"target", "tls", "deflate", "protocol"};

constexpr Names<4> kSend{"text", "json", "bytes", "file"};

constexpr Names<7> kRequest{"text", "json", "bytes", "file", "reply", "timeout", "set"};

constexpr Names<4> kReply{"text", "json", "regex", "group"};

constexpr Names<1> kReplyLater{"bytes"};

constexpr Names<6> kListen{"sequence", "batch_sent", "sent", "unit", "for", "on"};

constexpr Names<1> kListenLater{"until"};

constexpr Names<3> kSubscribe{"as", "query", "variables"};

constexpr Names<1> kSubscribeLater{"file"};

constexpr Names<4> kOperate{"query", "variables", "reply", "timeout"};

constexpr Names<2> kOperateLater{"file", "set"};

constexpr Names<2> kEvent{"on", "json"};

constexpr Names<3> kEventLater{"text", "regex", "bytes"};

constexpr Names<6> kThink{"uniform", "exponential", "normal", "log_normal", "deviation", "within"};

constexpr Names<5> kRepeat{"times", "for", "every", "do", "until"};

constexpr Names<2> kClose{"code", "reason"};

constexpr Names<2> kObserve{"name", "port"};

constexpr Names<3> kObserveLater{"pid", "host", "url"};

constexpr Names<2> kKeepAlive{"interval", "timeout"};

constexpr Names<1> kPing{"timeout"};

constexpr Names<1> kOnClose{"reconnect"};

constexpr Names<5> kBackoff{"backoff", "factor", "jitter", "attempts", "reset_after"};

constexpr Names<2> kArrivals{"rate", "distribution"};

constexpr Names<4> kDisconnect{"share", "count", "by", "rate"};

constexpr Names<6> kExpect{"text", "json", "regex", "group", "timeout", "set"};

constexpr Names<2> kExpectLater{"on", "bytes"};

constexpr Names<4> kCapture{"text", "json", "regex", "at_most"};

constexpr Names<2> kBranch{"weight", "do"};

constexpr Names<4> kReconnect{"by", "code", "reason", "timeout"};

constexpr Names<11> kSearch{"raise",  "from", "to",   "factor", "step",   "keep",
                            "beside", "over", "hold", "rest",   "at_most"};

constexpr Names<3> kTarget{"url", "weight", "resolve"};

}  // namespace

constinit const KeyTable kPlanKeys{"a plan", kPlan, {}};
constinit const KeyTable kConnectionKeys{"'connection'", kConnection, {}};
constinit const KeyTable kDeflateKeys{"'deflate'", kDeflate, {}};
constinit const KeyTable kFeedKeys{"a feed", kFeed, {}};
constinit const KeyTable kTlsKeys{"'tls'", kTls, {}};
constinit const KeyTable kScenarioKeys{"a scenario", kScenario, kScenarioLater};
constinit const KeyTable kScenarioConnectionKeys{"'connection' of a scenario", kScenarioConnection,
                                                 kScenarioConnectionLater};
constinit const KeyTable kStageKeys{"a stage", kStage, {}};
constinit const KeyTable kSteps{"a script", kStep, {}};
constinit const KeyTable kConnectKeys{"'connect'", kConnect, kConnectLater};
constinit const KeyTable kSendKeys{"'send'", kSend, {}};
constinit const KeyTable kRequestKeys{"'request'", kRequest, {}};
constinit const KeyTable kReplyKeys{"'reply'", kReply, kReplyLater};
constinit const KeyTable kListenKeys{"'listen'", kListen, kListenLater};
constinit const KeyTable kSubscribeKeys{"'subscribe'", kSubscribe, kSubscribeLater};
constinit const KeyTable kOperateKeys{"'query' and 'mutate'", kOperate, kOperateLater};
constinit const KeyTable kEventKeys{"'reply' of 'query' and 'mutate'", kEvent, kEventLater};
constinit const KeyTable kThinkKeys{"'think'", kThink, {}};
constinit const KeyTable kRepeatKeys{"'repeat'", kRepeat, {}};
constinit const KeyTable kCloseKeys{"'close'", kClose, {}};
constinit const KeyTable kObserveKeys{"an item of 'observe'", kObserve, kObserveLater};
constinit const KeyTable kKeepAliveKeys{"'ping' of 'connection'", kKeepAlive, {}};
constinit const KeyTable kPingKeys{"'ping'", kPing, {}};
constinit const KeyTable kOnCloseKeys{"'on_close'", kOnClose, {}};
constinit const KeyTable kBackoffKeys{"'reconnect' of 'on_close'", kBackoff, {}};
constinit const KeyTable kArrivalsKeys{"'arrivals'", kArrivals, {}};
constinit const KeyTable kDisconnectKeys{"'disconnect'", kDisconnect, {}};
constinit const KeyTable kExpectKeys{"'expect'", kExpect, kExpectLater};
constinit const KeyTable kCaptureKeys{"a value of 'set'", kCapture, {}};
constinit const KeyTable kBranchKeys{"a branch of 'choose'", kBranch, {}};
constinit const KeyTable kReconnectKeys{"'reconnect'", kReconnect, {}};
constinit const KeyTable kSearchKeys{"'search'", kSearch, {}};
constinit const KeyTable kTargetKeys{"'target'", kTarget, {}};

std::span<const KeyTable* const> key_tables() noexcept {
  static constexpr auto kAll = std::to_array<const KeyTable*>({
      &kPlanKeys,     &kConnectionKeys, &kFeedKeys,
      &kTlsKeys,      &kScenarioKeys,   &kScenarioConnectionKeys,
      &kStageKeys,    &kSteps,          &kConnectKeys,
      &kSendKeys,     &kRequestKeys,    &kReplyKeys,
      &kListenKeys,   &kSubscribeKeys,  &kOperateKeys,
      &kEventKeys,    &kThinkKeys,      &kRepeatKeys,
      &kCloseKeys,    &kObserveKeys,    &kKeepAliveKeys,
      &kPingKeys,     &kOnCloseKeys,    &kBackoffKeys,
      &kArrivalsKeys, &kDisconnectKeys, &kExpectKeys,
      &kCaptureKeys,  &kBranchKeys,     &kReconnectKeys,
      &kSearchKeys,   &kTargetKeys,     &kDeflateKeys,
  });
  return kAll;
}

}  // namespace onrush
