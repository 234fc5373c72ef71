// What a few users sent and received, as lines of text: for whoever writes a plan and wonders what is on the
// wire.
//
// Why: figures over thousands of users hide that a template is wrong in each message. Owner: any thread;
// pure. Always: a line is printable ASCII and bounded, whatever a server sends; secrets of a request are not
// in it.
//
//     0.001210  visitor 1   >  text, 9 bytes: hello 1 1
//     0.001345  visitor 1   <  text, 9 bytes: hello 1 1
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/frame.h"

namespace onrush {

/// Users of each scenario that may be followed.
inline constexpr std::uint32_t kMostTracedUsers = 1000;
/// Bytes shown of a message, and of a head.
inline constexpr std::size_t kTracedBytes = 160;
inline constexpr std::size_t kTracedHeadBytes = 2048;
/// A worker's lines of one second; and a run's, on the coordinator. What exceeds them is left out, and said
/// so.
inline constexpr std::size_t kTraceBytesASecond = 256 * 1024;
inline constexpr std::size_t kTraceBytesOfARun = 32 * 1024 * 1024;

enum class Direction : std::uint8_t { none, sent, received };

/// Adds a line, if `trace` has room for it; the first that has not says so.
void add_line(std::string& trace, std::int64_t at_us, std::string_view whose, Direction direction,
              std::string_view text);

/// At most `most` bytes, unprintable ones escaped: \n, \x1B; with "..." if there are more.
[[nodiscard]] std::string escaped(std::string_view bytes, std::size_t most);

/// A request's head with the values of Authorization, Proxy-Authorization and Cookie hidden.
[[nodiscard]] std::string without_secrets(std::string_view head);

/// "text, 9 bytes: hello 1 1"; `length` of the whole frame, whose beginning `payload` is.
[[nodiscard]] std::string describe_frame(Opcode opcode, std::string_view payload, std::uint64_t length);
/// The same for each of our own frames, masked as they travel; of compressed ones only the length.
[[nodiscard]] std::vector<std::string> describe_frames(std::span<const std::uint8_t> bytes);

/// Lines of several agents, each in order of its time, as one text in order of time.
[[nodiscard]] std::string in_order(const std::string& trace);

}  // namespace onrush
