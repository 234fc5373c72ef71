// Any bytes as an address: a mistake that is named, or what makes a request that a server reads as it was
// meant.
#include <algorithm>

#include "core/handshake.h"
#include "core/url.h"
#include "tests/fuzz/fuzz.h"

using namespace onrush;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Expected<Url, std::string> url = parse_url({reinterpret_cast<const char*>(data), size});
  if (!url) {
    ONRUSH_CHECK(!url.error().empty());
    return 0;
  }
  ONRUSH_CHECK(!url->host.empty() && !url->host_header.empty() && url->path.starts_with('/') &&
               url->port != 0);
  std::string request;
  encode_request(*url, "dGhlIHNhbXBsZSBub25jZQ==", request);  // refuses whatever would break its lines
  ONRUSH_CHECK(find_head_end(request, 0) == request.size());
  ONRUSH_CHECK(std::count(request.begin(), request.end(), '\n') == 7);
  return 0;
}
