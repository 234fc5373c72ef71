#include "core/threshold.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "core/nearest.h"
#include "core/units.h"

namespace onrush {
namespace {

constexpr std::size_t kLongestExpression = 1024;

/// What a figure's value may be written as.
enum class Written : std::uint8_t { count_or_share, count, share, rate };

struct NamedFigure {
  std::string_view name;
  Figure figure;
  Written written;
};
constexpr std::array<NamedFigure, 9> kFigures{{
    {"failed_connections", Figure::failed_connections, Written::count_or_share},
    {"lost_connections", Figure::lost_connections, Written::count_or_share},
    {"failed_requests", Figure::failed_requests, Written::count_or_share},
    {"open", Figure::open, Written::count},
    {"reach", Figure::reach, Written::share},
    {"connect_rate", Figure::connect_rate, Written::rate},
    {"connect_pace", Figure::connect_pace, Written::share},
    {"send_rate", Figure::send_rate, Written::rate},
    {"receive_rate", Figure::receive_rate, Written::rate},
}};

struct NamedComparison {
  std::string_view sign;
  Comparison comparison;
};
// Longer signs first, so that `<=` is not taken for `<`.
constexpr std::array<NamedComparison, 6> kComparisons{{{"<=", Comparison::less_equal},
                                                       {">=", Comparison::greater_equal},
                                                       {"==", Comparison::equal},
                                                       {"!=", Comparison::not_equal},
                                                       {"<", Comparison::less},
                                                       {">", Comparison::greater}}};

std::vector<std::string_view> metric_names() {
  std::vector<std::string_view> names;
  for (const NamedFigure& f : kFigures) names.push_back(f.name);
  for (std::size_t i = 0; i < kTimes; ++i) names.push_back(describe(static_cast<Time>(i)).name);
  for (std::size_t i = 0; i < kCounters; ++i) names.push_back(describe(static_cast<Counter>(i)).name);
  return names;
}

struct Word {
  std::size_t offset;
  std::string_view text;
};

bool blank(char c) { return c == ' ' || c == '\t'; }
bool sign(char c) { return c == '<' || c == '>' || c == '=' || c == '!'; }

// Words between blanks; a run of comparison signs is a word of its own, so that `p99<250ms` reads like `p99 <
// 250ms`.
std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  std::size_t i = 0;
  while (i < text.size()) {
    if (blank(text[i])) {
      ++i;
      continue;
    }
    const std::size_t begin = i;
    const bool signs = sign(text[i]);
    while (i < text.size() && !blank(text[i]) && sign(text[i]) == signs) ++i;
    words.push_back({begin, text.substr(begin, i - begin)});
  }
  return words;
}

/// One reading of one expression, left to right.
class ExpressionReader {
 public:
  ExpressionReader(std::string_view text, const std::vector<std::string>& stages,
                   const std::vector<std::string>& scenarios)
      : text_{text}, stages_{stages}, scenarios_{scenarios}, words_{words_of(text)} {}

  Expected<Expression, ExpressionError> read() {
    expression_.text = text_;
    if (text_.size() > kLongestExpression)
      fail(0, "the expression is too long");
    else if (words_.empty())
      fail(0, "the expression is empty; write METRIC < VALUE");
    else
      subject() && comparison() && value() && tail();
    if (error_) return Unexpected{std::move(*error_)};
    return std::move(expression_);
  }

 private:
  bool fail(std::size_t offset, std::string message) {
    error_ = ExpressionError{offset, std::move(message)};
    return false;
  }
  [[nodiscard]] bool more() const { return next_ < words_.size(); }
  [[nodiscard]] const Word& word() const { return words_[next_]; }
  [[nodiscard]] std::size_t end() const { return text_.size(); }

  bool subject() {
    const Word name = word();
    ++next_;
    for (const NamedFigure& f : kFigures) {
      if (f.name != name.text) continue;
      written_ = f.written;
      expression_.subject = f.figure;
      return true;
    }
    if (const auto time = time_named(name.text)) return statistic(*time, name);
    if (const auto counter = counter_named(name.text)) {
      written_ = Written::count;
      expression_.subject = *counter;
      return true;
    }
    const auto names = metric_names();
    const std::string hint = did_you_mean(name.text, names);
    return fail(name.offset, fmt::format("unknown metric {}{}", quoted(name.text),
                                         hint.empty() ? "; docs/plan-reference.md lists them" : hint));
  }

  bool statistic(Time time, const Word& name) {
    if (!more() || sign(word().text[0]))
      return fail(
          name.offset,
          fmt::format("'{0}' needs a statistic; write {0} p99, p50, mean, min, max or count", name.text));
    const Word w = word();
    ++next_;
    using Statistic = TimeStatistic::Kind;
    constexpr std::array<std::pair<std::string_view, Statistic>, 4> kNamedStatistics{
        {{"count", Statistic::count},
         {"mean", Statistic::mean},
         {"min", Statistic::min},
         {"max", Statistic::max}}};
    for (const auto& [known, kind] : kNamedStatistics) {
      if (w.text != known) continue;
      expression_.subject = TimeStatistic{time, kind, 0};
      if (kind == Statistic::count) written_ = Written::count;
      return true;
    }
    const auto percent =
        w.text[0] == 'p' ? parse_decimal(w.text.substr(1)) : Expected<double, std::string>(0.0);
    if (!percent || *percent <= 0 || *percent > 100) return unknown_statistic(w);
    expression_.subject = TimeStatistic{time, Statistic::quantile, *percent / 100};
    return true;
  }

  bool unknown_statistic(const Word& w) {
    constexpr std::array<std::string_view, 6> kUsual{"mean", "min", "max", "count", "p50", "p99"};
    // "p0" lies near "p50", and is no mistake of a letter.
    std::string hint = parse_decimal(w.text.substr(1)) ? "" : did_you_mean(w.text, kUsual);
    if (w.text.starts_with("p(") && w.text.ends_with(")") &&
        parse_decimal(w.text.substr(2, w.text.size() - 3)))
      hint = fmt::format("; write p{}", w.text.substr(2, w.text.size() - 3));
    return fail(w.offset, fmt::format("unknown statistic {}{}", quoted(w.text),
                                      hint.empty() ? "; write p99, p99.9, mean, min, max or count" : hint));
  }

  bool comparison() {
    if (!more()) return fail(end(), "the comparison is missing; write < VALUE behind it");
    const Word w = word();
    for (const NamedComparison& c : kComparisons) {
      if (w.text != c.sign) continue;
      expression_.comparison = c.comparison;
      comparison_ = w;
      ++next_;
      return true;
    }
    return fail(w.offset,
                fmt::format("{} is not a comparison; write one of < <= > >= == !=", quoted(w.text)));
  }

  bool value() {
    if (!more()) return fail(end(), fmt::format("the value behind '{}' is missing", comparison_.text));
    const Word w = word();
    ++next_;
    if (w.text.back() == '%') return share(w);
    if (!written_) return time_value(w);
    if (*written_ == Written::share) return needs_unit(w, fmt::format("{}%", w.text));
    if (*written_ == Written::rate) return set(w, parse_rate(w.text), fmt::format("{}/s", w.text));
    const auto count = parse_count(w.text);
    if (!count) return fail(w.offset, count.error());
    expression_.value = static_cast<double>(*count);
    return true;
  }

  bool share(const Word& w) {
    if (!written_ || (*written_ != Written::share && *written_ != Written::count_or_share))
      return fail(w.offset,
                  fmt::format("{} has no share; only failed_connections, lost_connections, failed_requests, "
                              "reach and connect_pace are compared with a percentage",
                              subject_text()));
    const auto percent = parse_decimal(w.text.substr(0, w.text.size() - 1));
    if (!percent)
      return fail(w.offset, fmt::format("{} is not a percentage; write one such as 0.1%", quoted(w.text)));
    if (*percent > 100 && std::get<Figure>(expression_.subject) != Figure::connect_pace)
      return fail(w.offset, fmt::format("{} is more than the whole", quoted(w.text)));
    expression_.value = *percent / 100;
    expression_.share = true;
    return true;
  }

  bool time_value(const Word& w) {
    const auto ns = parse_duration(w.text);
    if (!ns)
      return parse_decimal(w.text) ? needs_unit(w, fmt::format("{}ms", w.text)) : fail(w.offset, ns.error());
    expression_.value = static_cast<double>(*ns) / 1e3;
    return true;
  }

  bool set(const Word& w, const Expected<double, std::string>& parsed, std::string better) {
    if (!parsed)
      return parse_decimal(w.text) ? needs_unit(w, std::move(better)) : fail(w.offset, parsed.error());
    expression_.value = *parsed;
    return true;
  }

  bool needs_unit(const Word& w, std::string better) {
    if (!parse_decimal(w.text))
      return fail(w.offset, fmt::format("{} is compared with {}; write a percentage such as 99.9%",
                                        subject_text(), quoted(w.text)));
    return fail(w.offset, fmt::format("{} is compared with {}, which has no unit; write {}", subject_text(),
                                      w.text, better));
  }

  bool tail() {
    bool had_for = false, had_stage = false, had_scenario = false;
    while (more()) {
      const Word keyword = word();
      ++next_;
      bool* had = keyword.text == "for"  ? &had_for
                  : keyword.text == "in" ? &had_stage
                  : keyword.text == "of" ? &had_scenario
                                         : nullptr;
      if (had == nullptr || *had)
        return fail(
            keyword.offset,
            fmt::format(
                "{} is not expected here; an expression ends with [for DURATION] [in STAGE] [of SCENARIO]",
                quoted(keyword.text)));
      if (!more())
        return fail(end(), fmt::format("a {} is missing behind '{}'",
                                       had == &had_for     ? "duration"
                                       : had == &had_stage ? "stage"
                                                           : "scenario",
                                       keyword.text));
      *had = true;
      if (!(had == &had_for ? window() : had == &had_stage ? stage() : scenario(keyword))) return false;
    }
    return true;
  }

  bool window() {
    const Word w = word();
    ++next_;
    const auto ns = parse_duration(w.text);
    if (!ns) return fail(w.offset, ns.error());
    if (*ns < 1'000'000'000 || *ns % 1'000'000'000 != 0)
      return fail(
          w.offset,
          fmt::format("'for {}' is not in whole seconds, and figures come once a second; write 1s or more",
                      w.text));
    expression_.for_ns = *ns;
    return true;
  }

  bool stage() {
    expression_.stage = word().text;
    return one_of(stages_, "stage");
  }

  bool scenario(const Word& keyword) {
    const auto* figure = std::get_if<Figure>(&expression_.subject);
    if (figure != nullptr && (*figure == Figure::reach || *figure == Figure::connect_pace))
      return fail(keyword.offset, fmt::format("{} is not kept by scenario; leave 'of' out", subject_text()));
    expression_.scenario = word().text;
    return one_of(scenarios_, "scenario");
  }

  bool one_of(const std::vector<std::string>& known, const char* what) {
    const Word w = word();
    ++next_;
    if (std::find(known.begin(), known.end(), w.text) != known.end()) return true;
    const std::vector<std::string_view> names(known.begin(), known.end());
    const std::string hint = did_you_mean(w.text, names);
    const std::string all =
        names.empty() || names.size() > 10 ? "" : fmt::format("; the {}s are {}", what, all_of(names));
    return fail(w.offset, fmt::format("unknown {} {}{}", what, quoted(w.text), hint.empty() ? all : hint));
  }

  // "p99 of 'round_trip_time'", "'reach'"
  [[nodiscard]] std::string subject_text() const {
    if (words_.size() > 1 && std::holds_alternative<TimeStatistic>(expression_.subject))
      return fmt::format("{} of '{}'", words_[1].text, words_[0].text);
    return fmt::format("'{}'", words_[0].text);
  }

  std::string_view text_;
  const std::vector<std::string>& stages_;
  const std::vector<std::string>& scenarios_;
  std::vector<Word> words_;
  std::size_t next_ = 0;
  std::optional<Written> written_;  // nothing: a time
  Word comparison_{};
  Expression expression_{};
  std::optional<ExpressionError> error_;
};

}  // namespace

Expected<Expression, ExpressionError> parse_expression(std::string_view text,
                                                       const std::vector<std::string>& stages,
                                                       const std::vector<std::string>& scenarios) {
  return ExpressionReader(text, stages, scenarios).read();
}

bool compare(double left, Comparison comparison, double right) noexcept {
  switch (comparison) {
    case Comparison::less: return left < right;
    case Comparison::less_equal: return left <= right;
    case Comparison::greater: return left > right;
    case Comparison::greater_equal: return left >= right;
    case Comparison::equal: return left == right;
    case Comparison::not_equal: return left != right;
  }
  return false;
}

}  // namespace onrush
