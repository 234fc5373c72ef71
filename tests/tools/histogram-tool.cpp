// Encodes and decodes histograms for tests/integration/test_histogram.py, which compares them with another
// library.
//
//   histogram-tool encode           numbers from stdin, one a line; prints the encoding (V2, compressed,
//   base64) histogram-tool decode QUANTILE...   an encoding from stdin; prints count, then each quantile, one
//   a line histogram-tool merge            encodings from stdin, one a line; prints the encoding of their sum
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "core/histogram.h"

namespace {

using onrush::Histogram;

int fail(std::string_view why) {
  std::cerr << "histogram-tool: " << why << '\n';
  return 1;
}

int encode() {
  Histogram histogram;
  for (std::int64_t value = 0; std::cin >> value;) histogram.record(value);
  std::cout << histogram.encode_base64() << '\n';
  return 0;
}

int decode(int quantiles, char** quantile) {
  std::string text;
  std::cin >> text;
  const auto decoded = Histogram::decode_base64(text);
  if (!decoded) return fail(decoded.error());
  std::cout << decoded->count() << '\n';
  for (int i = 0; i < quantiles; ++i)
    std::cout << decoded->quantile_us(std::strtod(quantile[i], nullptr)) << '\n';
  return 0;
}

int merge() {
  Histogram sum;
  for (std::string text; std::cin >> text;) {
    const auto decoded = Histogram::decode_base64(text);
    if (!decoded) return fail(decoded.error());
    sum.add(*decoded);
  }
  std::cout << sum.encode_base64() << '\n';
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "encode") return encode();
  if (what == "decode") return decode(argc - 2, argv + 2);
  if (what == "merge") return merge();
  return fail("encode, decode QUANTILE..., or merge");
}
