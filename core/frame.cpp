#include "core/frame.h"

#include <algorithm>
#include <cstring>

namespace onrush {
namespace {

constexpr std::uint8_t kFin = 0x80;
constexpr std::uint8_t kReserved = 0x70;
constexpr std::uint8_t kCompressed = 0x40;  // RSV1, RFC 7692 section 6
constexpr std::uint8_t kOpcode = 0x0F;
constexpr std::uint8_t kMasked = 0x80;
constexpr std::uint8_t kLength = 0x7F;
constexpr std::size_t kMaxControlBytes = 125;  // RFC 6455 section 5.5

constexpr FrameError protocol_error(Cause cause) noexcept { return {cause, 1002}; }
constexpr FrameError kInvalidUtf8{Cause::invalid_utf8, 1007};

bool is_control(std::uint8_t opcode) noexcept { return opcode >= 8; }
// Whose text can be checked: not a compressed one's.
bool is_text(const FrameState& state) noexcept {
  return !is_control(state.opcode) && state.message == static_cast<std::uint8_t>(Opcode::text);
}

// RSV1 stands on the first frame of a compressed message, and nowhere else.
bool begins_compressed(const FrameState& state, std::uint8_t first_byte) noexcept {
  const std::uint8_t opcode = first_byte & kOpcode;
  return state.deflates && (first_byte & kReserved) == kCompressed && (opcode == 1 || opcode == 2);
}

// What deflate makes of bytes that cannot be compressed, at the worst: stored blocks of 256 bytes with 5 of
// header.
std::uint32_t compressed_limit(std::uint32_t bytes) noexcept {
  return bytes + std::min(bytes / 32 + 64, ~bytes);
}

std::uint64_t big_endian(std::span<const std::uint8_t> bytes) noexcept {
  std::uint64_t value = 0;
  for (const std::uint8_t byte : bytes) value = value << 8 | byte;
  return value;
}

// The rules of a header, byte by byte in the order of the wire, so that the verdict does not depend on the
// cuts.
Cause fault_of_first_byte(const FrameState& state, std::uint8_t byte) noexcept {
  const std::uint8_t opcode = byte & kOpcode;
  if ((byte & kReserved) != 0 && !begins_compressed(state, byte)) return Cause::reserved_bits;
  if ((opcode > 2 && opcode < 8) || opcode > 10) return Cause::reserved_opcode;
  if (is_control(opcode)) return (byte & kFin) != 0 ? Cause::none : Cause::bad_control_frame;
  const bool continues = opcode == static_cast<std::uint8_t>(Opcode::continuation);
  return continues == (state.message != 0) ? Cause::none : Cause::bad_fragment;
}

Cause fault_of_second_byte(std::uint8_t opcode, std::uint8_t byte) noexcept {
  if ((byte & kMasked) != 0) return Cause::masked_frame;  // RFC 6455 section 5.1
  if (is_control(opcode) && (byte & kLength) > kMaxControlBytes) return Cause::bad_control_frame;
  return Cause::none;
}

std::size_t header_size(std::uint8_t second_byte) noexcept {
  const std::uint8_t length = second_byte & kLength;
  return length < 126 ? 2 : length == 126 ? 4 : 10;
}

// The length of a complete header; the top bit and longer forms than needed are errors (RFC 6455
// section 5.2).
struct Length {
  std::uint64_t bytes;
  bool valid;
};
Length length_of(std::span<const std::uint8_t> header) noexcept {
  if (header.size() == 2) return {header[1] & std::uint64_t{kLength}, true};
  const std::uint64_t bytes = big_endian(header.subspan(2));
  if (header.size() == 4) return {bytes, bytes > 125};
  return {bytes, bytes > 0xFFFF && bytes >> 63 == 0};
}

struct HeaderRead {
  std::size_t taken = 0;
  bool complete = false;
  FrameError error{};
};

FrameError begin_frame(FrameState& state, std::span<const std::uint8_t> header,
                       std::uint32_t max_message_bytes) noexcept {
  const Length length = length_of(header);
  if (!length.valid) return protocol_error(Cause::bad_length);
  const std::uint8_t opcode = header[0] & kOpcode;
  if (!is_control(opcode)) {
    if (opcode != static_cast<std::uint8_t>(Opcode::continuation)) {
      state.message = opcode | (header[0] & kCompressed);
      state.message_bytes = 0;
      state.utf8 = kBetweenCharacters;
    }
    if ((state.message & kCompressed) != 0) max_message_bytes = compressed_limit(max_message_bytes);
    if (length.bytes > max_message_bytes - std::min(state.message_bytes, max_message_bytes))
      return {Cause::message_too_large, 1009};
    state.message_bytes += static_cast<std::uint32_t>(length.bytes);
  }
  state.opcode = opcode;
  state.final = (header[0] & kFin) != 0;
  state.begun = false;
  state.payload_left = static_cast<std::uint32_t>(length.bytes);
  return {};
}

HeaderRead read_header(FrameState& state, std::span<const std::uint8_t> bytes,
                       std::uint32_t max_message_bytes) noexcept {
  const std::size_t kept = state.header_bytes;
  const std::size_t present = std::min(state.header.size(), kept + bytes.size());
  const auto at = [&](std::size_t i) { return i < kept ? state.header[i] : bytes[i - kept]; };

  const std::uint8_t first = at(0);
  if (const Cause fault = fault_of_first_byte(state, first); fault != Cause::none)
    return {0, false, protocol_error(fault)};
  std::size_t size = 2;
  if (present >= 2) {
    if (const Cause fault = fault_of_second_byte(first & kOpcode, at(1)); fault != Cause::none)
      return {0, false, protocol_error(fault)};
    size = header_size(at(1));
  }
  const std::size_t taken = std::min(size, present) - kept;
  if (kept == 0 && present >= size) {
    const FrameError error = begin_frame(state, bytes.first(size), max_message_bytes);
    return {error.cause == Cause::none ? size : 0, true, error};
  }
  std::memcpy(state.header.data() + kept, bytes.data(), taken);
  state.header_bytes = static_cast<std::uint8_t>(kept + taken) & 0x7F;
  if (kept + taken < size) return {taken, false, {}};
  state.header_bytes = 0;
  const FrameError error = begin_frame(state, std::span{state.header}.first(size), max_message_bytes);
  return {error.cause == Cause::none ? taken : 0, true, error};
}

// How much of `payload`, not empty, may be handed on: all, or what stands before the first wrong byte of a
// text. The byte with which a text ends inside a character is a wrong one.
std::size_t check_text(FrameState& state, std::span<const std::uint8_t> payload) noexcept {
  const Utf8State before = state.utf8;
  const std::size_t valid = check_utf8(state.utf8, payload);
  const bool ends = state.final && payload.size() == state.payload_left;
  if (valid < payload.size() || !ends || state.utf8 == kBetweenCharacters) return valid;
  state.utf8 = before;
  return check_utf8(state.utf8, payload.first(payload.size() - 1));
}

}  // namespace

Decoded decode(FrameState& state, std::span<const std::uint8_t> bytes,
               std::uint32_t max_message_bytes) noexcept {
  Decoded result;
  if (bytes.empty()) return result;
  if (state.payload_left == 0) {
    const HeaderRead header = read_header(state, bytes, max_message_bytes);
    result.error = header.error;
    if (header.error.cause != Cause::none) return result;
    result.taken = header.taken;
    if (!header.complete) return result;
    bytes = bytes.subspan(header.taken);
    if (bytes.empty() && state.payload_left > 0) return result;
  }

  std::span payload = bytes.first(std::min<std::size_t>(bytes.size(), state.payload_left));
  if (is_text(state)) {
    // An empty last fragment cannot complete the character that the message stands in.
    if (state.payload_left == 0 && state.final && state.utf8 != kBetweenCharacters)
      return {0, false, {}, kInvalidUtf8};
    const std::size_t valid = payload.empty() ? 0 : check_text(state, payload);
    if (valid == 0 && !payload.empty()) {
      if (result.taken > 0) return result;  // the header is taken; the error is the next call's
      return {0, false, {}, kInvalidUtf8};
    }
    payload = payload.first(valid);
  }
  state.payload_left -= static_cast<std::uint32_t>(payload.size());

  result.taken += payload.size();
  result.has_piece = true;
  result.piece.opcode =
      static_cast<Opcode>(is_control(state.opcode) ? state.opcode : state.message & kOpcode);
  result.piece.begins = !state.begun && state.opcode != static_cast<std::uint8_t>(Opcode::continuation);
  result.piece.ends = state.final && state.payload_left == 0;
  result.piece.compressed = (state.message & kCompressed) != 0 && !is_control(state.opcode);
  result.piece.payload = payload;
  state.begun = true;
  if (result.piece.ends && !is_control(state.opcode)) state.message = 0;
  return result;
}

void encode_frame(Opcode opcode, std::span<const std::uint8_t> payload, std::uint32_t mask_key,
                  std::string& out) {
  std::array<std::uint8_t, 14> header{};
  std::size_t size = 0;
  const auto put = [&](std::uint64_t value, int bytes) {
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
      header[size++] = static_cast<std::uint8_t>(value >> shift);
  };
  put(kFin | static_cast<std::uint8_t>(opcode), 1);
  if (payload.size() < 126) {
    put(kMasked | payload.size(), 1);
  } else if (payload.size() <= 0xFFFF) {
    put(kMasked | 126, 1);
    put(payload.size(), 2);
  } else {
    put(kMasked | 127, 1);
    put(payload.size(), 8);
  }
  put(mask_key, 4);
  out.append(reinterpret_cast<const char*>(header.data()), size);
  if (payload.empty()) return;

  const std::size_t begin = out.size();
  out.append(reinterpret_cast<const char*>(payload.data()), payload.size());
  // The key as it lies in memory, twice, masks eight bytes at once.
  std::uint32_t key;
  std::memcpy(&key, header.data() + size - 4, 4);
  const std::uint64_t twice = std::uint64_t{key} << 32 | key;
  char* at = out.data() + begin;
  char* const end = out.data() + out.size();
  for (; end - at >= 8; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    word ^= twice;
    std::memcpy(at, &word, 8);
  }
  for (std::size_t i = 0; at < end; ++i, ++at)
    *at = static_cast<char>(*at ^ static_cast<char>(header[size - 4 + i % 4]));
}

void encode_compressed_frame(Opcode opcode, std::span<const std::uint8_t> payload, std::uint32_t mask_key,
                             std::string& out) {
  const std::size_t begin = out.size();
  encode_frame(opcode, payload, mask_key, out);
  out[begin] = static_cast<char>(out[begin] | kCompressed);
}

void encode_close(std::uint16_t code, std::string_view reason, std::uint32_t mask_key, std::string& out) {
  std::array<std::uint8_t, kMaxControlBytes> payload;
  std::size_t size = 0;
  if (code != 0) {
    payload[0] = static_cast<std::uint8_t>(code >> 8);
    payload[1] = static_cast<std::uint8_t>(code);
    const std::string_view kept = cut_utf8(reason, kMaxControlBytes - 2);
    if (!kept.empty()) std::memcpy(payload.data() + 2, kept.data(), kept.size());
    size = 2 + kept.size();
  }
  encode_frame(Opcode::close, std::span{payload}.first(size), mask_key, out);
}

ClosePayload parse_close(std::span<const std::uint8_t> payload) noexcept {
  if (payload.empty()) return {1005, {}, {}};
  if (payload.size() == 1) return {1005, {}, protocol_error(Cause::bad_close_frame)};
  const auto code = static_cast<std::uint16_t>(big_endian(payload.first(2)));
  const std::string_view reason{reinterpret_cast<const char*>(payload.data()) + 2, payload.size() - 2};
  // RFC 6455 section 7.4: 1004 is reserved, 1005, 1006 and 1015 never travel, and IANA has given out up to
  // 1014.
  const bool registered = code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006;
  const bool allowed = registered || (code >= 3000 && code <= 4999);
  if (!allowed) return {code, reason, protocol_error(Cause::bad_close_frame)};
  if (!is_utf8(reason)) return {code, reason, kInvalidUtf8};
  return {code, reason, {}};
}

}  // namespace onrush
