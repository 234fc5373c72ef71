#include "target-servers/floor/fan_out.h"

#include <cstdio>

#include "target-servers/floor/frames.h"

namespace target {
namespace {

constexpr std::size_t kStampDigits = 16;  // microseconds since 1970 have 16 digits from 2001 to 2286
constexpr std::string_view kTail = "\"}";

}  // namespace

void BroadcastFrame::render(const Broadcast& broadcast) {
  char head[128];  // three numbers of at most 20 digits in 42 characters
  constexpr std::string_view kAfterStamp = ",\"pad\":\"";
  const int before_stamp = std::snprintf(head, sizeof head, R"({"seq":%u,"batch_us":%lld,"sent_us":)",
                                         broadcast.seq, static_cast<long long>(broadcast.batch_us));
  const auto head_bytes = static_cast<std::size_t>(before_stamp);
  const std::size_t least = head_bytes + kStampDigits + kAfterStamp.size() + kTail.size();
  const std::size_t pad = broadcast.bytes > least ? broadcast.bytes - least : 0;
  frame_.clear();
  if (frame_.capacity() > least + pad + (std::size_t{1} << 20)) frame_.shrink_to_fit();
  append_header(frame_, Opcode::text, least + pad);
  frame_.append(head, head_bytes);
  stamp_at_ = frame_.size();
  frame_.append(kStampDigits, '0').append(kAfterStamp).append(pad, 'x').append(kTail);
}

std::string_view BroadcastFrame::stamped() noexcept {
  std::int64_t left = wall_clock_us();
  for (std::size_t i = kStampDigits; i > 0; --i, left /= 10)
    frame_[stamp_at_ + i - 1] = static_cast<char>('0' + left % 10);
  return frame_;
}

}  // namespace target
