// Steps that wait for something, say something or keep something, from YAML: expect, ping, log, reconnect,
// set.
//
// Owner: one reading of one plan. `name` is the node of the step's word, `value` what stands behind it, which
// is null if nothing does.
#pragma once

#include <string>
#include <vector>

#include "core/plan.h"
#include "core/yaml_reader.h"

namespace onrush {

/// What the steps of one script are read with.
struct StepContext {
  Reader& reader;
  const std::string& owner;            ///< "scenario 'visitor'"
  std::vector<CaptureName>& captures;  ///< of the scenario

  /// "'ping' of scenario 'visitor'"
  [[nodiscard]] std::string within(const YamlNode& name) const;
};

[[nodiscard]] ExpectStep read_expect(const StepContext& context, const YamlNode& name, const YamlNode& value);
[[nodiscard]] PingStep read_ping(const StepContext& context, const YamlNode& name, const YamlNode& value);
[[nodiscard]] LogStep read_log(const StepContext& context, const YamlNode& name, const YamlNode& value);
[[nodiscard]] ReconnectStep read_reconnect(const StepContext& context, const YamlNode& name,
                                           const YamlNode& value);
[[nodiscard]] SetStep read_set(const StepContext& context, const YamlNode& name, const YamlNode& value);

/// `set` of a request or an expectation.
[[nodiscard]] std::vector<Capture> read_kept(const StepContext& context, const Fields& fields);
/// `timeout`, if it is stated.
void read_timeout(Reader& reader, const Fields& fields, std::int64_t& timeout_ns);
/// `code` and `reason` of a close frame.
void read_close_frame(Reader& reader, const Fields& fields, CloseStep& step);

}  // namespace onrush
