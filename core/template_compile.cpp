// Names of templates looked up: what each `${...}` stands for, or what its author probably meant.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/nearest.h"
#include "core/template.h"
#include "core/yaml_text.h"

namespace onrush {
namespace {

constexpr std::array<std::string_view, 5> kPlain{"user", "agent", "sequence", "now_us", "uuid"};
constexpr std::array<std::string_view, 3> kOthers{"random(a,b)", "data.FEED.COLUMN", "env.NAME"};
constexpr std::size_t kLargestVariable = 64 * 1024;

constexpr std::string_view kRandom = "random(";
constexpr std::string_view kData = "data.";
constexpr std::string_view kEnvironment = "env.";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::optional<std::int64_t> integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string no_feed(std::string_view feed, const TemplateNames& names) {
  if (names.feeds.empty()) return fmt::format("the plan has no 'data', so there is no feed {}", quoted(feed));
  std::vector<std::string_view> known;
  for (const TemplateNames::Feed& other : names.feeds) known.push_back(other.name);
  const std::string hint = did_you_mean(feed, known);
  return fmt::format("the plan has no feed {}{}", quoted(feed),
                     hint.empty() ? fmt::format("; 'data' has {}", all_of(known)) : hint);
}

std::string no_column(const TemplateNames::Feed& feed, std::string_view column) {
  const std::vector<std::string_view> known{feed.columns.begin(), feed.columns.end()};
  const std::string hint = did_you_mean(column, known);
  return fmt::format("feed '{}' has no column {}{}", feed.name, quoted(column),
                     hint.empty() ? fmt::format("; it has {}", all_of(known)) : hint);
}

}  // namespace

bool is_variable(std::string_view name) noexcept {
  return std::find(kPlain.begin(), kPlain.end(), name) != kPlain.end() || name.starts_with(kRandom) ||
         name.starts_with(kData) || name.starts_with(kEnvironment);
}

bool is_environment(std::string_view name) noexcept { return name.starts_with(kEnvironment); }

Expected<std::string, std::string> environment_value(std::string_view name, const TemplateNames& names) {
  const std::string variable{name.substr(kEnvironment.size())};
  auto value = names.variable ? names.variable(variable) : std::nullopt;
  if (!value)
    return Unexpected{fmt::format("environment variable {} is not set where this command runs; set it before",
                                  quoted(variable))};
  if (value->size() > kLargestVariable)
    return Unexpected{
        fmt::format("environment variable {} has more than {} bytes", quoted(variable), kLargestVariable)};
  if (find_bad_utf8(*value) != std::string_view::npos)
    return Unexpected{fmt::format("environment variable {} is not UTF-8", quoted(variable))};
  return std::move(*value);
}

std::string unknown_variable(std::string_view name, const TemplateNames& names) {
  std::vector<std::string_view> known{names.parameters.begin(), names.parameters.end()};
  known.insert(known.end(), names.captures.begin(), names.captures.end());
  known.insert(known.end(), kPlain.begin(), kPlain.end());
  known.insert(known.end(), kOthers.begin(), kOthers.end());
  const std::string_view near = nearest(name, known);
  if (!near.empty())
    return fmt::format("unknown name {} in '${{...}}'; did you mean '${{{}}}'?", quoted(name), near);
  return fmt::format("unknown name {} in '${{...}}'; known are {}", quoted(name), all_of(known));
}

std::optional<Placeholder> next_placeholder(std::string_view text, std::size_t from) noexcept {
  const std::size_t begin = text.find("${", from);
  if (begin == std::string_view::npos) return std::nullopt;
  if (begin > from && text[begin - 1] == '$') return Placeholder{begin - 1, begin + 2, {}, true, true};
  const std::size_t close = text.find('}', begin);
  if (close == std::string_view::npos)
    return Placeholder{begin, text.size(), text.substr(begin + 2), false, false};
  return Placeholder{begin, close + 1, text.substr(begin + 2, close - begin - 2), true, false};
}

/// Builds one Template; each function adds what a name stands for, or says why it stands for nothing.
class TemplateCompiler {
 public:
  TemplateCompiler(std::string_view text, const TemplateNames& names) : names_{names} {
    made_.source_ = text;
  }

  void literal(std::string_view text) { made_.add_literal(text); }

  std::optional<std::string> name(std::string_view name) {
    constexpr std::array<Kind, 4> kKinds{Kind::user, Kind::agent, Kind::sequence, Kind::now_us};
    const auto plain =
        static_cast<std::size_t>(std::find(kPlain.begin(), kPlain.end(), name) - kPlain.begin());
    if (plain < kKinds.size()) return add({kKinds[plain]});
    if (plain < kPlain.size()) return add({Kind::uuid, made_.draws_.uuids++});
    if (name.starts_with(kRandom)) return random(name);
    if (name.starts_with(kData)) return data(name);
    if (name.starts_with(kEnvironment)) return environment(name);
    const auto capture = std::find(names_.captures.begin(), names_.captures.end(), name);
    if (capture != names_.captures.end())
      return add({Kind::capture, static_cast<std::uint32_t>(capture - names_.captures.begin())});
    return unknown_variable(name, names_);
  }

  Template take() { return std::move(made_); }

 private:
  using Kind = Template::Piece::Kind;

  std::optional<std::string> add(Template::Piece piece) {
    made_.pieces_.push_back(piece);
    return std::nullopt;
  }

  std::optional<std::string> random(std::string_view name) {
    const std::size_t comma = name.find(',');
    if (name.back() == ')' && comma != std::string_view::npos) {
      const auto low = integer(trimmed(name.substr(kRandom.size(), comma - kRandom.size())));
      const auto high = integer(trimmed(name.substr(comma + 1, name.size() - comma - 2)));
      if (low && high && *low <= *high)
        return add({Kind::random, made_.draws_.randoms++, 0, *low,
                    static_cast<std::uint64_t>(*high) - static_cast<std::uint64_t>(*low)});
    }
    return fmt::format(
        "{} is not readable; write two whole numbers, the smaller one first, as ${{random(1,6)}}",
        quoted(fmt::format("${{{}}}", name)));
  }

  std::optional<std::string> data(std::string_view name) {
    const std::string_view path = name.substr(kData.size());
    const std::size_t dot = path.find('.');
    if (dot == std::string_view::npos)
      return fmt::format("{} names no column; write ${{data.FEED.COLUMN}}",
                         quoted(fmt::format("${{{}}}", name)));
    const auto feed = std::find_if(names_.feeds.begin(), names_.feeds.end(),
                                   [&](const auto& known) { return known.name == path.substr(0, dot); });
    if (feed == names_.feeds.end()) return no_feed(path.substr(0, dot), names_);
    auto column = std::find(feed->columns.begin(), feed->columns.end(), path.substr(dot + 1));
    if (feed->columns.empty())
      column = feed->columns.begin();  // its file is faulty, which is told there
    else if (column == feed->columns.end())
      return no_column(*feed, path.substr(dot + 1));
    const auto place = static_cast<std::uint32_t>(feed - names_.feeds.begin());
    made_.add_feed(place);
    return add({Kind::data, place, static_cast<std::uint32_t>(column - feed->columns.begin())});
  }

  std::optional<std::string> environment(std::string_view name) {
    const auto value = environment_value(name, names_);
    if (!value) return value.error();
    literal(*value);
    return std::nullopt;
  }

  const TemplateNames& names_;
  Template made_;
};

Expected<Template, TemplateError> Template::compile(std::string_view text, const TemplateNames& names) {
  TemplateCompiler compiler(text, names);
  std::size_t done = 0;
  while (const auto found = next_placeholder(text, done)) {
    compiler.literal(text.substr(done, found->begin - done));
    done = found->end;
    if (found->escaped) {
      compiler.literal("${");
      continue;
    }
    if (!found->closed)
      return Unexpected{TemplateError{found->begin, "'${' has no '}'; write $${ for the text itself"}};
    if (const auto mistake = compiler.name(found->name))
      return Unexpected{TemplateError{found->begin, *mistake}};
  }
  compiler.literal(text.substr(done));
  return compiler.take();
}

void Template::add_literal(std::string_view text) {
  if (text.empty()) return;
  const auto length = static_cast<std::uint32_t>(text.size());
  if (!pieces_.empty() && pieces_.back().kind == Piece::Kind::literal)
    pieces_.back().second += length;
  else
    pieces_.push_back({Piece::Kind::literal, static_cast<std::uint32_t>(literals_.size()), length});
  literals_ += text;
}

void Template::add_feed(std::uint32_t feed) {
  if (std::find(feeds_.begin(), feeds_.end(), feed) == feeds_.end()) feeds_.push_back(feed);
}

void Template::append(std::string_view literal) {
  source_ += literal;
  add_literal(literal);
}

void Template::draw_behind(Draws& drawn) {
  for (Piece& piece : pieces_) {
    if (piece.kind == Piece::Kind::random) piece.first += drawn.randoms;
    if (piece.kind == Piece::Kind::uuid) piece.first += drawn.uuids;
  }
  drawn.randoms += draws_.randoms;
  drawn.uuids += draws_.uuids;
}

void Template::append(const Template& more) {
  Template part = more;
  part.draw_behind(draws_);
  source_ += part.source_;
  for (const Piece& piece : part.pieces_) {
    if (piece.kind == Piece::Kind::literal)
      add_literal(std::string_view{part.literals_}.substr(piece.first, piece.second));
    else
      pieces_.push_back(piece);
  }
  for (const std::uint32_t feed : part.feeds_) add_feed(feed);
}

}  // namespace onrush
