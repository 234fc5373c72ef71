#include "core/plan_on_close.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/nearest.h"
#include "core/plan_values.h"

namespace onrush {
namespace {

constexpr std::array<std::string_view, 3> kJitters{"none", "equal", "full"};
constexpr std::string_view kExample = "{reconnect: {backoff: 100ms..10s}}";

// `100ms..10s`, or one time for all pauses.
void read_pauses(Reader& reader, const YamlNode& node, const std::string& what, Backoff& backoff) {
  const bool range = node.kind == YamlNode::Kind::scalar && node.text.find("..") != std::string::npos;
  const Duration pauses =
      range ? read_range(reader, node, what)
            : Duration{Duration::Kind::fixed, reader.duration_ns(node, what, Zero::refused).value_or(1), 0};
  const std::int64_t high_ns = range ? pauses.high_ns : pauses.low_ns;
  if (high_ns == 0) return;  // a mistake that was reported
  if (pauses.low_ns == 0)
    return reader.complain(
        node, fmt::format("{} begins with 0s, which no factor makes longer; write 100ms..10s", what));
  backoff.low_ns = pauses.low_ns;
  backoff.high_ns = high_ns;
}

Backoff read_backoff(Reader& reader, const YamlNode& node, const std::string& what) {
  Backoff backoff;
  const Fields fields(reader, node, kBackoffKeys, what);
  if (const YamlNode* pauses = fields.find("backoff"))
    read_pauses(reader, *pauses, fields.what("backoff"), backoff);
  if (const YamlNode* factor = fields.find("factor")) {
    backoff.factor = reader.decimal(*factor, fields.what("factor")).value_or(1);
    if (backoff.factor < 1 || backoff.factor > kLargestFactor)
      reader.complain(*factor, fmt::format("{} is {}; write 1 (all pauses alike) to {}",
                                           fields.what("factor"), factor->text, kLargestFactor));
  }
  if (const YamlNode* jitter = fields.find("jitter"))
    backoff.jitter = static_cast<Jitter>(reader.word(*jitter, fields.what("jitter"), kJitters).value_or(2));
  if (const YamlNode* attempts = fields.find("attempts")) {
    const auto most = reader.count(*attempts, fields.what("attempts"), Zero::refused).value_or(1);
    if (most > kMostAttempts)
      reader.complain(*attempts,
                      fmt::format("{} is {}; at most {}", fields.what("attempts"), most, kMostAttempts));
    backoff.attempts = static_cast<std::uint32_t>(std::min<std::uint64_t>(most, kMostAttempts));
  }
  backoff.reset_after_ns = backoff.high_ns;
  if (const YamlNode* held = fields.find("reset_after"))
    backoff.reset_after_ns =
        reader.duration_ns(*held, fields.what("reset_after"), Zero::refused).value_or(backoff.high_ns);
  return backoff;
}

}  // namespace

std::optional<Backoff> read_on_close(Reader& reader, const YamlNode& node, const std::string& owner) {
  const std::string what = fmt::format("'on_close' of {}", owner);
  if (node.kind == YamlNode::Kind::scalar && node.text == "reconnect") return Backoff{};
  if (!reader.is_map(node, what, kExample)) return std::nullopt;
  Fields fields(reader, node, kOnCloseKeys, what);
  const YamlNode* reconnect = fields.need("reconnect", kExample);
  if (reconnect == nullptr || !reader.is_map(*reconnect, fields.what("reconnect"), "{backoff: 100ms..10s}"))
    return std::nullopt;
  return read_backoff(reader, *reconnect, fields.what("reconnect"));
}

}  // namespace onrush
