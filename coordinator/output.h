// What the commands leave behind: files of results, standard output, lines on standard error.
//
// Why: a disk may be full and a reader may have gone, at any time. No result may then look whole that is not,
// and no line that nobody takes may end a run. Owner: any thread.
#pragma once

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace onrush {

/// Writes files by name into a folder, which is made: all or none of them, and nothing that is there already
/// is touched before all are on the disk. Error: one that could not be written.
[[nodiscard]] std::optional<std::string> write_files(const std::string& folder,
                                                     const std::map<std::string, std::string>& files);

/// Puts text on standard output, whole. Error: why it is not there; a reader that has gone away (EPIPE) is
/// none, it has seen what it wanted.
[[nodiscard]] std::optional<std::string> print_whole(std::string_view text);

/// The same as a command's whole work: its exit code, and the error told.
[[nodiscard]] int print_or_fail(std::string_view text);

/// Puts text on standard error; what cannot be written is gone.
void tell_text(std::string_view text) noexcept;

template <typename... Values>
void tell(fmt::format_string<Values...> words, Values&&... values) {
  tell_text(fmt::format(words, std::forward<Values>(values)...));
}

}  // namespace onrush
