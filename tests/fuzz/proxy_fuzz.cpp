// Any bytes as a proxy's answer and as its address: no crash, a sample fit to print, a tunnel only for a 2xx.
#include <algorithm>

#include "core/proxy.h"
#include "tests/fuzz/fuzz.h"

using namespace onrush;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  const HandshakeVerdict verdict = check_tunnel(bytes);
  ONRUSH_CHECK(verdict.sample.size() <= kSampleBytes * 2);
  ONRUSH_CHECK(
      std::all_of(verdict.sample.begin(), verdict.sample.end(), [](char c) { return c >= ' ' && c <= '~'; }));
  ONRUSH_CHECK(verdict.failure.phase == Phase::proxy);
  if (verdict.failure.cause == Cause::none)
    ONRUSH_CHECK(bytes.starts_with("HTTP/1.") && bytes[9] == '2' && bytes.size() <= kMaxHeadBytes);

  const auto proxy = parse_proxy(bytes);
  if (!proxy) {
    ONRUSH_CHECK(!proxy.error().message.empty() && proxy.error().offset <= size);
    return 0;
  }
  std::string request;
  encode_connect(*parse_url("ws://a.test:81/x"), *proxy, request);
  ONRUSH_CHECK(find_head_end(request, 0) == request.size());
  ONRUSH_CHECK(std::count(request.begin(), request.end(), '\n') == (proxy->authorization.empty() ? 3 : 4));
  return 0;
}
