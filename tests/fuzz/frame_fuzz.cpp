// Any bytes as frames: no crash, the same outcome in one piece and in many, and a close payload is judged or
// refused. Input: a byte that cuts, a byte that limits messages, then what the server sent.
#include "tests/frames.h"
#include "tests/fuzz/fuzz.h"

using namespace onrush;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string bytes{reinterpret_cast<const char*>(data) + 2, size - 2};
  const std::uint32_t max_message_bytes = 16u << data[1] % 16;

  const Outcome whole = outcome_of({bytes}, max_message_bytes);
  const Outcome pieces = outcome_of(split_by(bytes, data[0]), max_message_bytes);
  ONRUSH_CHECK(whole.events == pieces.events && whole.data_bytes == pieces.data_bytes);
  ONRUSH_CHECK(whole.error.cause == pieces.error.cause && whole.error.close_code == pieces.error.close_code);

  for (const Event& event : whole.events) {
    ONRUSH_CHECK(event.payload.size() <= (static_cast<int>(event.opcode) >= 8 ? 125 : max_message_bytes));
    ONRUSH_CHECK(event.opcode != Opcode::text || is_utf8(event.payload));
    if (event.opcode != Opcode::close) continue;
    const ClosePayload close = parse_close(as_bytes(event.payload));
    ONRUSH_CHECK(close.error.cause != Cause::none || is_utf8(close.reason));
  }

  std::string out;
  encode_frame(Opcode::binary, as_bytes(bytes), 0x9E3779B9, out);
  const ClientFrame read = read_client_frame(out);
  ONRUSH_CHECK(read.payload == bytes && read.size == out.size());
  return 0;
}
