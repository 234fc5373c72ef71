// Any bytes as the answer to an upgrade: no crash, the same verdict in one piece and in many, a sample fit to
// print, and success only for a head that has the accept. Input: a byte that cuts, then what the server sent.
#include <algorithm>

#include "tests/fuzz/fuzz.h"
#include "tests/upgrade_answer.h"

using namespace onrush;

namespace {

constexpr std::string_view kKey = "dGhlIHNhbXBsZSBub25jZQ==";
constexpr std::string_view kAccept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

void require_printable(std::string_view sample) {
  ONRUSH_CHECK(sample.size() <= 200);
  ONRUSH_CHECK(std::all_of(sample.begin(), sample.end(), [](char c) { return c >= ' ' && c <= '~'; }));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string bytes{reinterpret_cast<const char*>(data) + 1, size - 1};
  const Arrival whole = arrive({bytes}, kKey);
  // Single bytes copy the head anew each time, which is for short inputs only.
  const Arrival pieces = arrive(split_by(bytes, bytes.size() > 2000 ? data[0] | 0x80 : data[0]), kKey);
  ONRUSH_CHECK(whole.failure == pieces.failure && whole.complete == pieces.complete &&
               whole.behind == pieces.behind);
  require_printable(whole.sample);
  if (whole.complete && whole.failure.cause == Cause::none)
    ONRUSH_CHECK(bytes.find(kAccept) != std::string::npos && bytes.starts_with("HTTP/1."));

  // Also what is no complete head.
  require_printable(check_response(bytes, kKey).sample);
  return 0;
}
