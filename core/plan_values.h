// What the steps of a script carry: messages, replies, think times and close codes, from YAML.
//
// Owner: one reading of one plan. `what` names the value in messages to the author.
#pragma once

#include <cstdint>
#include <string>

#include "core/plan.h"
#include "core/yaml_reader.h"

namespace onrush {

/// `text`, `bytes` or `file` of the step at `at`.
[[nodiscard]] Message read_message(Reader& reader, const Fields& fields, const YamlNode& at);

/// `any`, `{text: ...}`, `{json: {/pointer: ...}}` or `{regex: ...}`.
[[nodiscard]] Reply read_reply(Reader& reader, const YamlNode& node, const std::string& what);

/// The same for all users, so without `${...}`.
[[nodiscard]] std::optional<Regex> read_regex(Reader& reader, const YamlNode& node, const std::string& what);

/// The members of a reply or an expectation that say which; `any` if none does.
[[nodiscard]] Reply read_reply_fields(Reader& reader, const Fields& fields);

/// `{/pointer: text}`, with several of them.
[[nodiscard]] JsonReply read_json_reply(Reader& reader, const YamlNode& node, const std::string& what);

/// `2s`, `{uniform: 1s..3s}`, `{exponential: 400ms}` or `{normal: 2s, deviation: 500ms, within: 1s..4s}`.
[[nodiscard]] Duration read_think_time(Reader& reader, const YamlNode& node, const std::string& what);

/// `1s..3s`.
[[nodiscard]] Duration read_range(Reader& reader, const YamlNode& node, const std::string& what);

/// One that a script may send.
[[nodiscard]] std::uint16_t read_close_code(Reader& reader, const YamlNode& node, const std::string& what);

}  // namespace onrush
