#include "target-servers/beast/broadcast.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <charconv>
#include <chrono>
#include <cstring>

#include "target-servers/beast/worker.h"

namespace target {

std::int64_t wall_clock_us() {
  using namespace std::chrono;
  return duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
}

std::optional<std::size_t> parse_broadcast(std::string_view text) {
  constexpr std::string_view kWord = "broadcast";
  if (text.substr(0, kWord.size()) != kWord) return std::nullopt;
  text.remove_prefix(kWord.size());
  if (text.empty()) return 0;
  if (text.front() != ' ') return std::nullopt;
  text.remove_prefix(1);
  std::size_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return std::min(bytes, kMaxMessageBytes);
}

void BroadcastLog::add(const Broadcast& broadcast) {
  last_ = broadcast.seq;
  ring_[last_ % kCapacity] = broadcast;
}

const Broadcast* BroadcastLog::after(std::uint64_t given, std::uint64_t& skipped) const {
  skipped = 0;
  if (given == last_) return nullptr;
  const std::uint64_t oldest = last_ < kCapacity ? 1 : last_ - kCapacity + 1;
  const std::uint64_t next = std::max(given + 1, oldest);
  skipped = next - given - 1;
  return &ring_[next % kCapacity];
}

void Recipients::join(Recipient& recipient) {
  recipient.place_ = all_.size();
  all_.push_back(&recipient);
}

void Recipients::leave(Recipient& recipient) {
  all_.back()->place_ = recipient.place_;
  all_[recipient.place_] = all_.back();
  all_.pop_back();
}

void Recipients::tell_all() {
  // Nobody joins or leaves meanwhile: a write that fails says so later, from the loop.
  for (Recipient* recipient : all_) recipient->broadcast_added();
}

const char* Pad::letters(std::size_t count) {
  // Pages that were never written cost nothing, so the whole range is reserved at once and filled as needed.
  if (letters_ == nullptr) letters_.reset(new char[kMaxMessageBytes]);
  if (count > filled_) {
    std::memset(letters_.get() + filled_, 'x', count - filled_);
    filled_ = count;
  }
  return letters_.get();
}

void Broadcaster::begin(std::size_t bytes, const std::vector<std::unique_ptr<Worker>>& workers) {
  const std::lock_guard lock{mutex_};
  const Broadcast broadcast{++last_, wall_clock_us(), bytes};
  for (const auto& worker : workers) {
    worker->begun.push_back(broadcast);
    net::post(worker->context, [this, &w = *worker] { hand_to(w); });
  }
}

void Broadcaster::hand_to(Worker& worker) {
  std::vector<Broadcast> begun;
  {
    const std::lock_guard lock{mutex_};
    begun.swap(worker.begun);
  }
  for (const Broadcast& broadcast : begun) worker.broadcasts.add(broadcast);
  if (!begun.empty()) worker.recipients.tell_all();
}

}  // namespace target
