// The hot paths of core: what every sample, frame, message and connection pays.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/feed_table.h"
#include "core/frame.h"
#include "core/handshake.h"
#include "core/histogram.h"
#include "core/json_field.h"
#include "core/template.h"

namespace onrush {
namespace {

/// Samples spread like real round trips: a body of some hundred microseconds, and a tail.
std::vector<std::int64_t> samples() {
  std::mt19937_64 random{1};
  std::lognormal_distribution<double> round_trip_us{6.0, 1.2};
  std::vector<std::int64_t> values(4096);
  for (std::int64_t& value : values) value = static_cast<std::int64_t>(round_trip_us(random));
  return values;
}

Histogram filled() {
  Histogram histogram;
  for (const std::int64_t value : samples()) histogram.record(value);
  return histogram;
}

void record_a_sample(benchmark::State& state) {
  const std::vector<std::int64_t> values = samples();
  Histogram histogram;
  std::size_t i = 0;
  for (auto _ : state) histogram.record(values[i++ % values.size()]);
  benchmark::DoNotOptimize(histogram.count());
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(record_a_sample);

void merge_a_histogram(benchmark::State& state) {
  const Histogram from = filled();
  Histogram into;
  for (auto _ : state) into.add(from);
  benchmark::DoNotOptimize(into.count());
}
BENCHMARK(merge_a_histogram);

void encode_a_histogram(benchmark::State& state) {
  const Histogram histogram = filled();
  std::size_t bytes = 0;
  for (auto _ : state) bytes = histogram.encode().size();
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(encode_a_histogram);

void merge_an_encoded_histogram(benchmark::State& state) {
  const Histogram from = filled();
  const std::string v2 = from.encode();
  Histogram into;
  for (auto _ : state)
    if (!into.add_encoded(v2, from.exact())) state.SkipWithError("refused");
}
BENCHMARK(merge_an_encoded_histogram);

void find_a_percentile(benchmark::State& state) {
  const Histogram histogram = filled();
  for (auto _ : state) benchmark::DoNotOptimize(histogram.quantile_us(0.99));
}
BENCHMARK(find_a_percentile);

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

void send_a_frame(benchmark::State& state) {
  const std::string payload(static_cast<std::size_t>(state.range(0)), 'x');
  std::string out;
  std::uint32_t key = 0x9E3779B9;
  for (auto _ : state) {
    out.clear();
    encode_frame(Opcode::text, bytes_of(payload), key++, out);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(send_a_frame)->Arg(16)->Arg(128)->Arg(2048)->Arg(65536);

/// A text frame as a server sends it: not masked.
std::string server_frame(std::size_t payload_bytes) {
  std::string frame{"\x81"};
  if (payload_bytes < 126) {
    frame += static_cast<char>(payload_bytes);
  } else if (payload_bytes < 65536) {
    frame += {'\x7E', static_cast<char>(payload_bytes >> 8), static_cast<char>(payload_bytes & 0xFF)};
  } else {
    frame += '\x7F';
    for (int shift = 56; shift >= 0; shift -= 8) frame += static_cast<char>(payload_bytes >> shift & 0xFF);
  }
  return frame + std::string(payload_bytes, 'x');
}

void receive_a_frame(benchmark::State& state) {
  const std::string frame = server_frame(static_cast<std::size_t>(state.range(0)));
  FrameState decoder;
  for (auto _ : state) {
    std::span<const std::uint8_t> left = bytes_of(frame);
    while (!left.empty()) {
      const Decoded decoded = decode(decoder, left, 16u << 20);
      if (decoded.error.cause != Cause::none) return state.SkipWithError("a good frame was refused");
      left = left.subspan(decoded.taken);
    }
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(receive_a_frame)->Arg(16)->Arg(128)->Arg(2048)->Arg(65536);

void check_an_upgrade(benchmark::State& state) {
  const std::string key = make_key(1, 2);
  const std::string head =
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nServer: benchmark\r\n"
      "Sec-WebSocket-Accept: " +
      accept_of(key) + "\r\n\r\n";
  for (auto _ : state) {
    if (find_head_end(head, 0) != head.size()) return state.SkipWithError("no end found");
    if (check_response(head, key).failure.cause != Cause::none) return state.SkipWithError("refused");
  }
}
BENCHMARK(check_an_upgrade);

void render_a_template(benchmark::State& state) {
  const Template text = *Template::compile(R"({"id":"${user}-${sequence}","at":${now_us}})");
  std::string out;
  std::uint64_t sequence = 0;
  for (auto _ : state) {
    out.clear();
    text.render({123'456, ++sequence, 1'796'081'234'567'890}, out);
    benchmark::DoNotOptimize(out.data());
  }
}
BENCHMARK(render_a_template);

// One of each kind of value; less than 200 ns is what is wanted.
void render_five_values(benchmark::State& state) {
  TemplateNames names;
  names.feeds = {{"accounts", {"user", "token"}}};
  const Template text = *Template::compile(
      R"({"id":"${user}-${sequence}","at":${now_us},"dice":${random(1,6)},"token":"${data.accounts.token}"})",
      names);
  FeedTable table{2};
  for (int row = 0; row < 1000; ++row)
    for (const char* value : {"somebody", "0123456789abcdef"}) table.add(value);
  const std::uint32_t row = 500;
  TemplateValues values{.user = 123'456, .sequence = 0, .now_us = 1'796'081'234'567'890, .seed = 1};
  values.feeds = {&table, 1};
  values.rows = &row;
  std::string out;
  for (auto _ : state) {
    out.clear();
    ++values.sequence;
    text.render(values, out);
    benchmark::DoNotOptimize(out.data());
  }
}
BENCHMARK(render_five_values);

void render_a_uuid(benchmark::State& state) {
  const Template text = *Template::compile("${uuid}");
  std::string out;
  std::uint64_t sequence = 0;
  for (auto _ : state) {
    out.clear();
    text.render({123'456, ++sequence, 0}, out);
    benchmark::DoNotOptimize(out.data());
  }
}
BENCHMARK(render_a_uuid);

void read_a_broadcast(benchmark::State& state) {
  const std::string message =
      R"({"seq":123456,"batch_us":1796081234567890,"sent_us":1796081234567999,"pad":")" +
      std::string(80, 'x') + R"("})";
  const std::string padded = message + std::string(kJsonPadding, '\0');
  const JsonPointer sequence = *JsonPointer::parse("/seq");
  const JsonPointer batch = *JsonPointer::parse("/batch_us");
  const JsonPointer sent = *JsonPointer::parse("/sent_us");
  JsonReader reader{1 << 20};
  for (auto _ : state) {
    reader.begin(bytes_of(std::string_view{padded}.substr(0, message.size())));
    const bool complete = reader.number(sequence) && reader.number(batch) && reader.number(sent);
    if (!complete) return state.SkipWithError("a member was not found");
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(read_a_broadcast);

}  // namespace
}  // namespace onrush
