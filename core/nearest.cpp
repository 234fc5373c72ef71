#include "core/nearest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace onrush {
namespace {

constexpr std::size_t kLongestWord = 40;
constexpr std::size_t kLongestQuotation = 60;

using Row = std::array<std::size_t, kLongestWord + 1>;

// Edits between two words (insert, delete, replace, swap neighbours): the optimal string alignment distance,
// which needs the last two rows of the matrix only.
std::size_t distance(std::string_view a, std::string_view b) {
  Row before{}, last{}, row{};
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = last;
    last = row;
  }
  return last[b.size()];
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// 'round_trip' for 'round_trip_time': a whole beginning counts as near, whatever its length.
bool begins(std::string_view word, std::string_view known) {
  return word.size() >= 4 && known.size() > word.size() && known.substr(0, word.size()) == word;
}

struct Synonym {
  std::string_view theirs;
  std::string_view ours;
};

// Words of other load generators; of several of ours, the first that is known where it stands.
constexpr std::array kSynonyms = std::to_array<Synonym>({
    {"sleep", "think"},     {"wait", "think"},           {"pause", "think"},
    {"delay", "think"},     {"loop", "repeat"},          {"iterations", "times"},
    {"vus", "users"},       {"clients", "users"},        {"duration", "for"},
    {"ramp", "over"},       {"rampup", "over"},          {"capture", "set"},
    {"extract", "set"},     {"check", "reply"},          {"check", "expect"},
    {"assert", "reply"},    {"assert", "expect"},        {"receive", "expect"},
    {"match", "reply"},     {"disconnect", "close"},     {"avg", "mean"},
    {"average", "mean"},    {"median", "p50"},           {"med", "p50"},
    {"vars", "parameters"}, {"variables", "parameters"},
});

std::string_view synonym(std::string_view word, std::span<const std::string_view> known) {
  for (const Synonym& s : kSynonyms)
    if (s.theirs == word && std::find(known.begin(), known.end(), s.ours) != known.end()) return s.ours;
  return {};
}

std::string joined(std::span<const std::string_view> words, std::string_view last) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? last : ", ";
    out += words[i];
  }
  return out;
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
  if (word.empty() || word.size() > kLongestWord) return {};
  std::string small(word);
  std::transform(small.begin(), small.end(), small.begin(), lower);
  if (const std::string_view ours = synonym(small, known); !ours.empty()) return ours;
  std::string_view best;
  std::size_t fewest = std::max<std::size_t>(1, small.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    if (candidate.size() > kLongestWord) continue;
    const std::size_t edits = distance(small, candidate);
    if (edits >= fewest) continue;
    fewest = edits;
    best = candidate;
  }
  if (!best.empty()) return best;
  const auto longer = std::find_if(known.begin(), known.end(), [&](auto k) { return begins(small, k); });
  return longer == known.end() ? std::string_view() : *longer;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  const std::string_view best = nearest(word, known);
  return best.empty() ? std::string() : fmt::format("; did you mean '{}'?", best);
}

std::string any_of(std::span<const std::string_view> words) { return joined(words, " or "); }
std::string all_of(std::span<const std::string_view> words) { return joined(words, " and "); }

std::string quoted(std::string_view text) {
  std::string out = "'";
  std::size_t shown = 0;
  for (; shown < text.size() && out.size() < kLongestQuotation; ++shown) {
    const char c = text[shown];
    if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\x{:02x}", c);
    else
      out += c;
  }
  if (shown == text.size()) return out + "'";
  // A character must not be cut: drop the continuation bytes at the end and their lead.
  while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xC0) == 0x80) out.pop_back();
  if (!out.empty() && static_cast<unsigned char>(out.back()) >= 0xC0) out.pop_back();
  return out + "...'";
}

}  // namespace onrush
