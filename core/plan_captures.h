// `set` of steps, replies and expectations, and `until` of a repeat: values that users keep.
//
// Owner: one reading of one plan. Names belong to one scenario: they are collected before its texts are
// compiled, so that an unknown one is a mistake with a place.
#pragma once

#include <vector>

#include "core/plan.h"
#include "core/yaml_reader.h"

namespace onrush {

inline constexpr std::size_t kMostCaptures = 32;  ///< of one scenario
inline constexpr std::uint32_t kUsualCapture_bytes = 256;

/// Every name that a `set` somewhere below `node` gives a value to, each once.
[[nodiscard]] std::vector<std::string> captured_names(const YamlNode& node);

/// Where the values of a `set` may come from: a reply has just come, or there is only text.
enum class CaptureFrom : std::uint8_t { reply, text };

/// Reads the map of a `set` and adds what it needs to `names`.
[[nodiscard]] std::vector<Capture> read_captures(Reader& reader, const YamlNode& node,
                                                 const std::string& what, CaptureFrom from,
                                                 std::vector<CaptureName>& names);

/// Reads `until: {name: text}`.
[[nodiscard]] std::vector<Until> read_until(Reader& reader, const YamlNode& node, const std::string& what);

}  // namespace onrush
