// Every key and step of the plan language: what is taken and what is not yet.
//
// Why: the reader, its diagnostics and the check of docs/plan-reference.md use the same tables.
// Owner: constant data.
#pragma once

#include <span>
#include <string_view>

namespace onrush {

struct KeyTable {
  std::string_view owner;  ///< "a stage"
  std::span<const std::string_view> known;
  std::span<const std::string_view> later;  ///< of the language, but not yet supported
};

extern const KeyTable kPlanKeys;
extern const KeyTable kTargetKeys;
extern const KeyTable kConnectionKeys;
extern const KeyTable kDeflateKeys;
extern const KeyTable kFeedKeys;
extern const KeyTable kTlsKeys;
extern const KeyTable kKeepAliveKeys;
extern const KeyTable kScenarioKeys;
extern const KeyTable kScenarioConnectionKeys;
extern const KeyTable kOnCloseKeys;
extern const KeyTable kBackoffKeys;
extern const KeyTable kStageKeys;
extern const KeyTable kArrivalsKeys;
extern const KeyTable kDisconnectKeys;
extern const KeyTable kSteps;
extern const KeyTable kConnectKeys;
extern const KeyTable kSendKeys;
extern const KeyTable kRequestKeys;
extern const KeyTable kReplyKeys;
extern const KeyTable kExpectKeys;
extern const KeyTable kPingKeys;
extern const KeyTable kReconnectKeys;
extern const KeyTable kBranchKeys;
extern const KeyTable kCaptureKeys;
extern const KeyTable kListenKeys;
extern const KeyTable kThinkKeys;
extern const KeyTable kRepeatKeys;
extern const KeyTable kCloseKeys;
extern const KeyTable kObserveKeys;
extern const KeyTable kSearchKeys;
extern const KeyTable kSubscribeKeys;
extern const KeyTable kOperateKeys;
extern const KeyTable kEventKeys;

/// All of them.
[[nodiscard]] std::span<const KeyTable* const> key_tables() noexcept;

}  // namespace onrush
