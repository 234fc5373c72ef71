#include "core/deflate_stream.h"

#include <zlib.h>

#include <algorithm>
#include <array>

#include "core/check.h"

namespace onrush {
namespace {

// The empty stored block that a flush ends with, and that RFC 7692 section 7.2.1 leaves out.
constexpr std::array<std::uint8_t, 4> kTail{0x00, 0x00, 0xFF, 0xFF};

// zlib's interface is older than const.
Bytef* as_input(const std::uint8_t* bytes) noexcept { return const_cast<Bytef*>(bytes); }

// The server's deflate may be a zlib too, which makes 9 of 8; a larger window takes what a smaller one takes.
int inflate_bits(std::uint8_t window_bits) noexcept { return -std::max<int>(window_bits, 9); }

// After an inflate: between two blocks, with no bit left over (zlib.h on data_type).
bool between_blocks(const z_stream& stream) noexcept {
  return (stream.data_type & 128) != 0 && (stream.data_type & 63) == 0;
}

}  // namespace

Inflater::Inflater() : stream_{std::make_unique<z_stream>()} {
  ONRUSH_CHECK(inflateInit2(stream_.get(), -MAX_WBITS) == Z_OK);
}
Inflater::~Inflater() { inflateEnd(stream_.get()); }

void Inflater::reset(std::uint8_t window_bits) noexcept {
  ONRUSH_CHECK(inflateReset2(stream_.get(), inflate_bits(window_bits)) == Z_OK);
  nothing_open_ = true;
}

void Inflater::begin(Opcode opcode, std::uint32_t max_message_bytes) noexcept {
  text_ = opcode == Opcode::text;
  utf8_ = kBetweenCharacters;
  left_ = max_message_bytes;
  payload_ends_ = tail_given_ = false;
  empty_ = true;
}

void Inflater::give(std::span<const std::uint8_t> payload, bool ends) noexcept {
  ONRUSH_CHECK(!payload_ends_);
  stream_->next_in = as_input(payload.data());
  stream_->avail_in = static_cast<uInt>(payload.size());
  payload_ends_ = ends;
  empty_ = empty_ && payload.empty();
}

// A peer may end a message with a block that is the last of a stream (BFINAL, RFC 7692 section 7.2.3.4); the
// next stream still refers to what came before.
void Inflater::restart() noexcept {
  ONRUSH_CHECK(inflateResetKeep(stream_.get()) == Z_OK);
  nothing_open_ = true;
}

Inflater::Progress Inflater::advance() noexcept {
  // Which message consists of no byte at all nobody has said; it is taken as an empty one
  // (docs/decisions/0036-deflate.md).
  if (empty_ && payload_ends_) return Progress::ended;
  while (true) {
    if (stream_->avail_in > 0) nothing_open_ = false;
    const int said = ::inflate(stream_.get(), Z_SYNC_FLUSH);
    if (said == Z_STREAM_END) {
      restart();
    } else if (said != Z_OK && said != Z_BUF_ERROR) {
      return Progress::broken;
    }
    if (stream_->avail_out == 0) return Progress::full;
    if (stream_->avail_in > 0) continue;
    if (!payload_ends_) return Progress::drained;
    if (nothing_open_) return Progress::ended;
    if (tail_given_) return between_blocks(*stream_) ? Progress::ended : Progress::broken;
    stream_->next_in = as_input(kTail.data());
    stream_->avail_in = kTail.size();
    tail_given_ = true;
  }
}

Inflater::Part Inflater::next(std::span<std::uint8_t> room) noexcept {
  stream_->next_out = room.data();
  stream_->avail_out = static_cast<uInt>(room.size());
  const Progress progress = advance();
  Part part;
  part.written = room.size() - stream_->avail_out;
  part.ends = progress == Progress::ended;
  part.more = progress == Progress::full;
  const auto failed = [&](Cause cause, std::uint16_t close_code) {
    return Part{part.written, false, false, {cause, close_code}};
  };
  // In the order of the bytes, so that the verdict does not depend on the room.
  const std::size_t allowed = std::min<std::size_t>(part.written, left_);
  if (text_ && check_utf8(utf8_, room.first(allowed)) < allowed) return failed(Cause::invalid_utf8, 1007);
  if (part.written > left_) return failed(Cause::message_too_large, 1009);
  left_ -= static_cast<std::uint32_t>(part.written);
  if (progress == Progress::broken) return failed(Cause::bad_deflate, 1007);
  if (text_ && part.ends && utf8_ != kBetweenCharacters) return failed(Cause::invalid_utf8, 1007);
  return part;
}

Deflater::Deflater(std::uint8_t window_bits)
    : stream_{std::make_unique<z_stream>()}, window_bits_{window_bits} {
  // The generator's own processor time is what is short, and messages are short: level 1, and a hash table
  // that is cleared quickly (docs/decisions/0036-deflate.md has the figures).
  constexpr int kLevel = 1;
  ONRUSH_CHECK(window_bits >= 9 && window_bits <= kMaxWindowBits &&
               deflateInit2(stream_.get(), kLevel, Z_DEFLATED, -int{window_bits}, kDeflateMemoryLevel,
                            Z_DEFAULT_STRATEGY) == Z_OK);
}
Deflater::~Deflater() { deflateEnd(stream_.get()); }

void Deflater::reset() noexcept { ONRUSH_CHECK(deflateReset(stream_.get()) == Z_OK); }

std::span<const std::uint8_t> Deflater::compress(std::span<const std::uint8_t> payload,
                                                 std::vector<std::uint8_t>& room) {
  // Without new input zlib has nothing to flush. One byte 00, with the tail, is an empty stored block.
  static constexpr std::array<std::uint8_t, 1> kEmpty{0x00};
  if (payload.empty()) return kEmpty;
  stream_->next_in = as_input(payload.data());
  stream_->avail_in = static_cast<uInt>(payload.size());
  std::size_t size = 0;
  do {
    const std::size_t more = std::max<std::size_t>(256, deflateBound(stream_.get(), stream_->avail_in));
    if (room.size() < size + more) room.resize(size + more);
    const std::size_t space = room.size() - size;
    stream_->next_out = room.data() + size;
    stream_->avail_out = static_cast<uInt>(space);
    const int said = ::deflate(stream_.get(), Z_SYNC_FLUSH);
    ONRUSH_CHECK(said == Z_OK || said == Z_BUF_ERROR);  // the latter: the flush was complete already
    size += space - stream_->avail_out;
  } while (stream_->avail_out == 0);
  ONRUSH_CHECK(size >= kTail.size() && stream_->avail_in == 0 &&
               std::equal(kTail.begin(), kTail.end(), room.begin() + static_cast<std::ptrdiff_t>(size - 4)));
  return {room.data(), size - kTail.size()};
}

}  // namespace onrush
