// The parts of the summary's screen, and how they read a file that may lack anything.
//
// Owner: summary_view.cpp. Always: a key that is absent or of another type reads as nothing, never as 0.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/view_text.h"

namespace onrush::summary_parts {

using Json = nlohmann::json;
using Lines = std::vector<Line>;

/// The member, or null.
[[nodiscard]] const Json& member(const Json& object, const char* key);
/// The member's elements; none if it is no array.
[[nodiscard]] const Json& list(const Json& object, const char* key);
[[nodiscard]] std::optional<double> number(const Json& object, const char* key);
[[nodiscard]] std::optional<std::uint64_t> count(const Json& object, const char* key);
[[nodiscard]] std::string text(const Json& object, const char* key);

/// "1,000,001" or "-".
[[nodiscard]] std::string shown_count(std::optional<std::uint64_t> count);
/// "100.2 s" or "-".
[[nodiscard]] std::string shown_seconds(std::optional<double> length_s);

[[nodiscard]] Lines stages(const Json& summary, const ViewStyle& style);
[[nodiscard]] Lines storms(const Json& summary, const ViewStyle& style);
[[nodiscard]] Lines times(const Json& summary, const ViewStyle& style);
[[nodiscard]] Lines costs(const Json& summary, const ViewStyle& style);
[[nodiscard]] Lines failures(const Json& summary, const ViewStyle& style);
[[nodiscard]] Lines thresholds(const Json& summary, const ViewStyle& style);
[[nodiscard]] Lines verdict(const Json& summary, const ViewStyle& style, std::string_view folder);

}  // namespace onrush::summary_parts
