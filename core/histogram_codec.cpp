// HdrHistogram's V2 encoding: a header of 40 bytes, all numbers big-endian, then the buckets from the first
// to the last in use. A bucket's count is a ZigZag LEB128 number of at most 9 bytes; a negative one -n is a
// run of n empty buckets. The compressed form is a cookie, a length and the same bytes through zlib.
#include <zlib.h>

#include <array>
#include <cmath>
#include <cstring>
#include <optional>

#include "core/histogram.h"

namespace onrush {
namespace {

constexpr std::uint32_t kCookie = 0x1c849313;  // V2 (3), with the word size that marks LEB128 counts (0x10)
constexpr std::uint32_t kCompressedCookie = 0x1c849314;
constexpr std::size_t kHeaderBytes = 40;
constexpr std::size_t kCompressedHeaderBytes = 8;
constexpr int kMaxNumberBytes = 9;  // the ninth byte carries 8 bits, so that 64 fit

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
}

std::uint64_t get(std::string_view bytes, std::size_t at, std::size_t length) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < length; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

void put_number(std::string& out, std::int64_t number) {
  auto left = static_cast<std::uint64_t>(number) << 1 ^ static_cast<std::uint64_t>(number >> 63);
  for (int i = 1; i < kMaxNumberBytes && left > 0x7f; ++i, left >>= 7) out += static_cast<char>(left | 0x80);
  out += static_cast<char>(left);
}

/// Takes one number from the front; nothing if the bytes end within it.
std::optional<std::int64_t> take_number(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    const bool ninth = i + 1 == kMaxNumberBytes;
    value |= static_cast<std::uint64_t>(ninth ? byte : byte & 0x7f) << (7 * i);
    if (!ninth && (byte & 0x80) != 0) continue;
    bytes.remove_prefix(i + 1);
    return static_cast<std::int64_t>(value >> 1 ^ (~(value & 1) + 1));
  }
  return std::nullopt;
}

/// What is wrong with the header, or "".
std::string header_fault(std::string_view v2) {
  if (v2.size() < kHeaderBytes) return "histogram: shorter than its header";
  if (get(v2, 0, 4) != kCookie) return "histogram: not an HdrHistogram V2 encoding";
  if (get(v2, 4, 4) != v2.size() - kHeaderBytes) return "histogram: its length is not what the header says";
  if (get(v2, 8, 4) != 0) return "histogram: shifted buckets are not supported";
  if (get(v2, 12, 4) != Histogram::kSignificantDigits) return "histogram: precision is not three digits";
  if (get(v2, 16, 8) != Histogram::kLowest_us || get(v2, 24, 8) != Histogram::kHighest_us)
    return "histogram: range is not 1 us to 1 h";
  if (get(v2, 32, 8) != std::bit_cast<std::uint64_t>(1.0)) return "histogram: values are scaled";
  return "";
}

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string to_base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t have = std::min<std::size_t>(3, bytes.size() - i);
    const std::uint64_t group = get(bytes, i, have) << (8 * (3 - have));
    for (std::size_t j = 0; j < 4; ++j) out += j <= have ? kAlphabet[group >> (18 - 6 * j) & 63] : '=';
  }
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) text.remove_suffix(1);
  std::string out;
  out.reserve(text.size() / 4 * 3 + 2);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    const std::string_view group = text.substr(i, 4);
    std::uint32_t value = 0;
    for (const char c : group) {
      const std::size_t digit = kAlphabet.find(c);
      if (digit == std::string_view::npos) return std::nullopt;
      value = value << 6 | static_cast<std::uint32_t>(digit);
    }
    value <<= 6 * (4 - group.size());
    for (std::size_t j = 0; j < 3 && j + 1 < group.size(); ++j)
      out += static_cast<char>(value >> (16 - 8 * j));
  }
  return out;
}

/// Inflates to at most `limit` bytes; nothing if that is too few, or if it is no whole zlib stream.
std::optional<std::string> inflate_at_most(std::string_view compressed, std::size_t limit) {
  std::string out(limit, '\0');
  auto length = static_cast<uLongf>(limit);
  auto taken = static_cast<uLong>(compressed.size());
  if (uncompress2(reinterpret_cast<Bytef*>(out.data()), &length,
                  reinterpret_cast<const Bytef*>(compressed.data()), &taken) != Z_OK)
    return std::nullopt;
  if (taken != compressed.size()) return std::nullopt;
  out.resize(length);
  return out;
}

}  // namespace

std::string Histogram::encode() const {
  std::string payload;
  std::int64_t empty = static_cast<std::int64_t>(count_ == 0 ? 1 : first_used());
  const auto end_run = [&] {
    if (empty != 0) put_number(payload, empty == 1 ? 0 : -empty);
    empty = 0;
  };
  for (std::size_t i = count_ == 0 ? 1 : first_used(), last = count_ == 0 ? 0 : last_used(); i <= last; ++i) {
    if (counts_[i] == 0) {
      ++empty;
      continue;
    }
    end_run();
    put_number(payload, static_cast<std::int64_t>(counts_[i]));
  }
  end_run();

  std::string out;
  out.reserve(kHeaderBytes + payload.size());
  put(out, kCookie, 4);
  put(out, payload.size(), 4);
  put(out, 0, 4);
  put(out, kSignificantDigits, 4);
  put(out, kLowest_us, 8);
  put(out, kHighest_us, 8);
  put(out, std::bit_cast<std::uint64_t>(1.0), 8);
  return out += payload;
}

std::string Histogram::encode_base64() const {
  const std::string v2 = encode();
  std::string compressed(compressBound(v2.size()), '\0');
  auto length = static_cast<uLongf>(compressed.size());
  const int result = compress(reinterpret_cast<Bytef*>(compressed.data()), &length,
                              reinterpret_cast<const Bytef*>(v2.data()), v2.size());
  ONRUSH_CHECK(result == Z_OK);  // the buffer is as long as zlib asks for
  std::string out;
  put(out, kCompressedCookie, 4);
  put(out, length, 4);
  out.append(compressed, 0, length);
  return to_base64(out);
}

/// Calls `bucket(index, count)` for each bucket in use, after the header and while the encoding is sound.
template <class Bucket>
Expected<Histogram::Walked, std::string> Histogram::walk(std::string_view v2, Bucket&& bucket) {
  if (std::string fault = header_fault(v2); !fault.empty()) return Unexpected{std::move(fault)};
  Walked walked;
  std::size_t index = 0;
  for (std::string_view payload = v2.substr(kHeaderBytes); !payload.empty();) {
    const std::optional<std::int64_t> number = take_number(payload);
    if (!number) return Unexpected{std::string{"histogram: ends within a number"}};
    const std::uint64_t buckets = *number < 0 ? 0 - static_cast<std::uint64_t>(*number) : 1;
    if (buckets > kBuckets - index)
      return Unexpected{std::string{"histogram: more buckets than its range has"}};
    if (*number > 0) {
      if (walked.count > static_cast<std::uint64_t>(INT64_MAX - *number))
        return Unexpected{std::string{"histogram: counts overflow"}};
      if (walked.count == 0) walked.first = index;
      walked.last = index;
      walked.count += static_cast<std::uint64_t>(*number);
      if (index >= index_of(kHighest_us)) walked.in_top += static_cast<std::uint64_t>(*number);
      bucket(index, static_cast<std::uint64_t>(*number));
    }
    index += buckets;
  }
  if (walked.last > index_of(kHighest_us))
    return Unexpected{std::string{"histogram: a sample above its range"}};
  return walked;
}

std::string Histogram::why_impossible(const Walked& walked, const Exact& exact) {
  if (walked.count == 0) {
    const bool nothing =
        exact.sum_us == 0 && exact.min_us == 0 && exact.max_us == 0 && exact.above_range == 0;
    return nothing ? "" : "histogram: figures without samples";
  }
  if (exact.min_us < 0 || exact.min_us > exact.max_us ||
      index_of(within_range(exact.min_us)) != walked.first ||
      index_of(within_range(exact.max_us)) != walked.last)
    return "histogram: minimum or maximum does not fit its buckets";
  if (exact.above_range > walked.in_top || (exact.above_range > 0) != (exact.max_us > kHighest_us))
    return "histogram: samples above the range do not fit its buckets";
  // A double carries 53 bits of the sum; a part in 10^9 allows for that.
  const auto count = static_cast<double>(walked.count);
  const double least = count * static_cast<double>(exact.min_us) * (1 - 1e-9);
  const double most = count * static_cast<double>(exact.max_us) * (1 + 1e-9);
  if (!(exact.sum_us >= least && exact.sum_us <= most))
    return "histogram: sum does not fit minimum and maximum";
  return "";
}

Expected<std::uint64_t, std::string> Histogram::check_encoded(std::string_view v2, const Exact& exact) {
  const Expected<Walked, std::string> walked = walk(v2, [](std::size_t, std::uint64_t) {});
  if (!walked) return Unexpected{walked.error()};
  if (std::string why = why_impossible(*walked, exact); !why.empty()) return Unexpected{std::move(why)};
  return walked->count;
}

Expected<std::uint64_t, std::string> Histogram::add_encoded(std::string_view v2, const Exact& exact) {
  Expected<std::uint64_t, std::string> checked = check_encoded(v2, exact);
  if (!checked || *checked == 0) return checked;
  if (*checked > static_cast<std::uint64_t>(INT64_MAX) - count_)
    return Unexpected{std::string{"histogram: counts overflow"}};
  const auto added = walk(v2, [this](std::size_t index, std::uint64_t count) { counts_[index] += count; });
  ONRUSH_CHECK(added.has_value());  // the same bytes were sound a moment ago
  count_ += *checked;
  above_range_ += exact.above_range;
  sum_us_ += static_cast<unsigned __int128>(exact.sum_us);
  min_us_ = std::min(min_us_, exact.min_us);
  max_us_ = std::max(max_us_, exact.max_us);
  return checked;
}

Expected<Histogram, std::string> Histogram::decode_base64(std::string_view text) {
  constexpr std::size_t kMostBytes = kHeaderBytes + kBuckets * kMaxNumberBytes;
  if (text.size() > 2 * kMostBytes) return Unexpected{std::string{"histogram: too long"}};
  const std::optional<std::string> bytes = from_base64(text);
  if (!bytes) return Unexpected{std::string{"histogram: not base64"}};
  if (bytes->size() < kCompressedHeaderBytes || get(*bytes, 0, 4) != kCompressedCookie)
    return Unexpected{std::string{"histogram: not a compressed HdrHistogram V2 encoding"}};
  if (get(*bytes, 4, 4) != bytes->size() - kCompressedHeaderBytes)
    return Unexpected{std::string{"histogram: its length is not what the header says"}};
  const std::optional<std::string> v2 =
      inflate_at_most(std::string_view{*bytes}.substr(kCompressedHeaderBytes), kMostBytes);
  if (!v2) return Unexpected{std::string{"histogram: its compressed bytes are broken or too long"}};

  Histogram decoded;
  const auto walked = walk(*v2, [&](std::size_t index, std::uint64_t count) {
    decoded.counts_[index] += count;
    const auto middle = static_cast<std::uint64_t>(lowest_in(index) + highest_in(index)) / 2;
    decoded.sum_us_ += static_cast<unsigned __int128>(middle) * count;
  });
  if (!walked) return Unexpected{walked.error()};
  if (walked->count == 0) return decoded;
  decoded.count_ = walked->count;
  decoded.min_us_ = lowest_in(walked->first);
  decoded.max_us_ = within_range(highest_in(walked->last));
  return decoded;
}

}  // namespace onrush
