// Any bytes as compressed frames and as an answer to the offer: no crash, no more out than the limit, the
// same in one piece and in many and whatever the room (with the largest window), text that is UTF-8, an
// agreement within the offer; and what we compress is read back. Input: a byte that cuts, a byte that chooses
// limit, window and offer, then what the server sent.
#include <algorithm>

#include "tests/deflated.h"
#include "tests/fuzz/fuzz.h"

using namespace onrush;

namespace {

void check_answer(const std::string& bytes, std::uint8_t choice) {
  DeflateOffer offer;
  offer.client_window = (choice & 1) != 0;
  if ((choice & 3) == 3) offer.client_max_window_bits = 10;
  if ((choice & 4) != 0) offer.server_max_window_bits = 11;
  offer.client_no_context_takeover = (choice & 8) != 0;
  offer.server_no_context_takeover = (choice & 16) != 0;
  ExtensionAnswer answer;
  read_extensions(bytes, &offer, answer);
  if (answer.fault != Cause::none || !answer.deflate) return;
  ONRUSH_CHECK(bytes.find("permessage-deflate") != std::string::npos);
  const DeflateAgreement& agreed = *answer.deflate;
  ONRUSH_CHECK(agreed.client_window_bits >= 8 &&
               agreed.client_window_bits <= offer.client_max_window_bits.value_or(15));
  ONRUSH_CHECK(agreed.server_window_bits >= 8 &&
               agreed.server_window_bits <= offer.server_max_window_bits.value_or(15));
  ONRUSH_CHECK(!(offer.client_no_context_takeover && agreed.client_takeover));
  ONRUSH_CHECK(!(offer.server_no_context_takeover && agreed.server_takeover));
}

void check_round_trip(const std::string& bytes, std::uint8_t window_bits) {
  Deflater deflater{window_bits};
  std::vector<std::uint8_t> room;
  std::string frames;
  for (int i = 0; i < 2; ++i) {
    const auto deflated = deflater.compress(as_bytes(bytes), room);
    frames += frame(0xC2, {reinterpret_cast<const char*>(deflated.data()), deflated.size()});
  }
  const Inflated read =
      inflate_frames({frames}, static_cast<std::uint32_t>(bytes.size()), 4096, {window_bits, true});
  ONRUSH_CHECK(read.error.cause == Cause::none && read.messages == std::vector(2, bytes));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string bytes{reinterpret_cast<const char*>(data) + 2, size - 2};
  const std::uint8_t choice = data[1];
  check_answer(bytes, choice);

  const std::uint32_t limit = 16u << choice % 16;
  const Context context{static_cast<std::uint8_t>(9 + choice % 7), (choice & 16) != 0};
  const Inflated whole = inflate_frames({bytes}, limit, 4096, context);
  const Inflated pieces = inflate_frames(split_by(bytes, data[0]), limit, 1 + data[0] * 3u, context);
  // With a smaller window, a distance beyond it is taken as long as the room holds what it refers to.
  if (context.window_bits == kMaxWindowBits) {
    ONRUSH_CHECK(whole.messages == pieces.messages);
    ONRUSH_CHECK(whole.error.cause == pieces.error.cause &&
                 whole.error.close_code == pieces.error.close_code);
  }
  for (const std::string& message : pieces.messages) ONRUSH_CHECK(message.size() <= limit);
  for (const std::string& message : whole.messages) ONRUSH_CHECK(message.size() <= limit);

  check_round_trip(bytes, static_cast<std::uint8_t>(9 + choice % 7));
  return 0;
}
