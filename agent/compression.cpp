#include "agent/compression.h"

#include <utility>

#include "core/check.h"

namespace onrush {

Compression::Compression(std::uint32_t capacity) {
  if (capacity == 0) return;
  slots_.resize(std::size_t{capacity} + 1);
  room_.resize(kRoomBytes + kJsonPadding);
  deflated_.resize(4096);
}

void Compression::begin(std::uint32_t slot, const DeflateAgreement& agreed) noexcept {
  slots_[slot] = {agreed, 0, 0};
}

void Compression::end(std::uint32_t slot) {
  Slot& ended = slots_[slot];
  if (const std::uint32_t number = std::exchange(ended.inflater, 0); number != 0) {
    free_inflaters_.push_back(number);
    --held_;
  }
  if (const std::uint32_t number = std::exchange(ended.deflater, 0); number != 0) {
    free_deflaters_[ended.agreed.client_window_bits].push_back(number);
    --held_;
  }
}

Inflater& Compression::inflater(std::uint32_t slot) {
  Slot& user = slots_[slot];
  if (user.inflater == 0) {
    if (free_inflaters_.empty()) {
      inflaters_.push_back(std::make_unique<Inflater>());
      free_inflaters_.push_back(static_cast<std::uint32_t>(inflaters_.size()));
    }
    user.inflater = free_inflaters_.back();
    free_inflaters_.pop_back();
    ++held_;
    inflaters_[user.inflater - 1]->reset(user.agreed.server_window_bits);
  }
  return *inflaters_[user.inflater - 1];
}

void Compression::message_ended(std::uint32_t slot) {
  Slot& user = slots_[slot];
  if (user.agreed.server_takeover) return;
  free_inflaters_.push_back(std::exchange(user.inflater, 0));
  --held_;
}

Deflater& Compression::deflater_of(Slot& slot) {
  const std::uint8_t bits = slot.agreed.client_window_bits;
  if (!slot.agreed.client_takeover) {
    std::unique_ptr<Deflater>& shared = shared_deflaters_[bits];
    if (shared == nullptr) shared = std::make_unique<Deflater>(bits);
    shared->reset();
    return *shared;
  }
  if (slot.deflater == 0) {
    std::vector<std::uint32_t>& free = free_deflaters_[bits];
    if (free.empty()) {
      deflaters_.push_back(std::make_unique<Deflater>(bits));
      free.push_back(static_cast<std::uint32_t>(deflaters_.size()));
    }
    slot.deflater = free.back();
    free.pop_back();
    ++held_;
    deflaters_[slot.deflater - 1]->reset();
  }
  return *deflaters_[slot.deflater - 1];
}

std::optional<std::span<const std::uint8_t>> Compression::deflate(std::uint32_t slot,
                                                                  std::span<const std::uint8_t> payload) {
  Slot& user = slots_[slot];
  if (user.agreed.client_window_bits == kMinWindowBits) return std::nullopt;
  // As long as the longest message of late: room for a long one is not kept behind it.
  if (deflated_.size() > kKeptBytes && payload.size() < kKeptBytes / 2) {
    deflated_.resize(kKeptBytes);
    deflated_.shrink_to_fit();
  }
  return deflater_of(user).compress(payload, deflated_);
}

}  // namespace onrush
