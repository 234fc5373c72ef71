// Text with `${...}` in it, compiled once with the plan and rendered for each message.
//
// Why: a message is rendered millions of times; looking names up again each time would cost more than sending
// it. Owner: any thread; immutable. Rendering appends to the caller's buffer and allocates only if that must
// grow. Always: the same values give the same text, `random` and `uuid` included, on whichever agent: the
// n-th `random` of a text is the n-th of every text with the same seed, user and sequence, so that a reply
// can name what its message drew. Texts that are parts of one message count on (draw_behind), so that no two
// of them draw the same.
//
// Whoever adds a source of names (captures) puts them into TemplateNames before texts are compiled; a name
// becomes its place in the list, and rendering finds the value at that place in TemplateValues.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/expected.h"

namespace onrush {

class FeedTable;

/// What the plan's own `${...}` may name, besides the variables that every plan has.
struct TemplateNames {
  struct Feed {
    std::string name;
    std::vector<std::string> columns;
  };
  std::vector<Feed> feeds;
  std::vector<std::string> captures;
  std::vector<std::string> parameters;  ///< replaced before; only to be suggested
  /// Of the environment; its value becomes part of the text.
  std::function<std::optional<std::string>(const std::string& name)> variable;
};

/// True for `user`, `uuid`, `random(1,6)`, `data.FEED.COLUMN`, ...: what is known only while the run is on,
/// or is of the environment. Whether that feed exists is another question.
[[nodiscard]] bool is_variable(std::string_view name) noexcept;

/// True for `env.NAME`, which is known before the run.
[[nodiscard]] bool is_environment(std::string_view name) noexcept;
/// Its value, or why it has none.
[[nodiscard]] Expected<std::string, std::string> environment_value(std::string_view name,
                                                                   const TemplateNames& names);

/// What to say of a name that is neither a variable nor one of these.
[[nodiscard]] std::string unknown_variable(std::string_view name, const TemplateNames& names);

/// One `${name}` of a text, or one `$${`, which stands for the two characters `${` themselves.
struct Placeholder {
  std::size_t begin;
  std::size_t end;  ///< past it
  std::string_view name;
  bool closed;
  bool escaped;
};
/// The first at or after `from`.
[[nodiscard]] std::optional<Placeholder> next_placeholder(std::string_view text, std::size_t from) noexcept;

/// The values of one rendering.
struct TemplateValues {
  std::uint64_t user;
  std::uint64_t sequence;
  std::int64_t now_us;
  std::uint32_t agent = 1;
  std::uint64_t seed = 0;                           ///< of `random` and `uuid`, with user and sequence
  std::span<const FeedTable> feeds = {};            ///< in the order of TemplateNames::feeds
  const std::uint32_t* rows = nullptr;              ///< the user's row of each feed that the text names
  std::span<const std::string_view> captures = {};  ///< in the order of TemplateNames::captures
};

/// Where in the text something is wrong (byte offset from 0), and what.
struct TemplateError {
  std::size_t offset;
  std::string message;
};

class Template {
 public:
  Template() = default;

  /// Compiles `text`; `$${` stands for `${` itself. Errors: an unknown name (with the nearest known one),
  /// `${` without `}`, a variable of the environment that is not set.
  static Expected<Template, TemplateError> compile(std::string_view text, const TemplateNames& names = {});

  /// How many `random` and `uuid` of a message come before those of a text.
  struct Draws {
    std::uint32_t randoms = 0;
    std::uint32_t uuids = 0;
  };

  /// Makes this a later part of the message whose parts so far drew `drawn`, and adds to that what it draws
  /// itself. Once for each text.
  void draw_behind(Draws& drawn);

  /// Puts another text behind this one, as a later part of one message.
  void append(const Template& more);
  /// The same of a text without names.
  void append(std::string_view literal);

  /// Appends the rendered text to `out`.
  void render(const TemplateValues& values, std::string& out) const;

  /// The text as it was written.
  [[nodiscard]] const std::string& source() const noexcept { return source_; }
  /// True if every rendering is the same.
  [[nodiscard]] bool is_fixed() const noexcept;
  /// Places in TemplateNames::feeds of the feeds that it names, each once.
  [[nodiscard]] const std::vector<std::uint32_t>& feeds() const noexcept { return feeds_; }

 private:
  friend class TemplateCompiler;

  struct Piece {
    enum class Kind : std::uint8_t {
      literal,   ///< first = begin in literals_, second = length
      user,      ///< number of the user, unique in the run, from 1
      agent,     ///< number of the agent that runs it, from 1
      sequence,  ///< messages this user has begun, from 1; a request's reply sees its own message's number
      now_us,    ///< wall clock, microseconds since 1970
      random,    ///< first = which of the text's; low, span
      uuid,      ///< first = which of the text's
      data,      ///< first = feed, second = column
      capture,   ///< first = its place
    } kind;
    std::uint32_t first = 0;
    std::uint32_t second = 0;
    std::int64_t low = 0;
    std::uint64_t span = 0;  ///< high - low
  };

  void add_literal(std::string_view text);
  void add_feed(std::uint32_t feed);

  std::string source_;
  std::string literals_;
  std::vector<Piece> pieces_;
  std::vector<std::uint32_t> feeds_;
  Draws draws_;
};

}  // namespace onrush
