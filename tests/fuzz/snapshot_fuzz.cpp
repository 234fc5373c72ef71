// Any bytes as the histogram of a snapshot: refused and nothing is added, or added so that every figure
// agrees and the sum can be encoded and read again. Input: sum (a double), minimum, maximum, samples above
// the range, 8 bytes each in the machine's order, then the encoding.
#include <cstring>

#include "core/histogram.h"
#include "tests/fuzz/fuzz.h"

using namespace onrush;

namespace {

void require_consistent(const Histogram& histogram) {
  if (histogram.count() == 0) return;
  std::int64_t before = histogram.min_us();
  for (const double quantile : {0.0, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const std::int64_t value = histogram.quantile_us(quantile);
    ONRUSH_CHECK(value >= before && value <= histogram.max_us());
    before = value;
  }
  ONRUSH_CHECK(histogram.quantile_us(1.0) == histogram.max_us());
  Histogram copy;
  const auto added = copy.add_encoded(histogram.encode(), histogram.exact());
  ONRUSH_CHECK(added && *added == histogram.count() && copy.encode() == histogram.encode());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Histogram::Exact exact{};
  if (size < 32) return 0;
  std::memcpy(&exact.sum_us, data, 8);
  std::memcpy(&exact.min_us, data + 8, 8);
  std::memcpy(&exact.max_us, data + 16, 8);
  std::memcpy(&exact.above_range, data + 24, 8);
  const std::string_view encoded{reinterpret_cast<const char*>(data) + 32, size - 32};

  Histogram histogram;
  histogram.record_many(1234, 5);
  const std::string before = histogram.encode();
  const auto added = histogram.add_encoded(encoded, exact);
  ONRUSH_CHECK(Histogram::check_encoded(encoded, exact).has_value() == added.has_value());
  if (added) {
    ONRUSH_CHECK(histogram.count() == 5 + *added);
    require_consistent(histogram);
  } else {
    ONRUSH_CHECK(!added.error().empty() && histogram.count() == 5 && histogram.encode() == before);
  }

  if (const auto decoded = Histogram::decode_base64(encoded)) require_consistent(*decoded);
  return 0;
}
