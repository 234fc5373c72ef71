#include "target-servers/floor/connection.h"

namespace target {
namespace {

void empty(std::string& text) {
  constexpr std::size_t kKeptBytes = 4096;
  if (text.capacity() > kKeptBytes) std::string{}.swap(text);
  text.clear();
}

}  // namespace

std::uint32_t Buffers::borrow() {
  if (free_.empty()) {
    all_.push_back(std::make_unique<Borrowed>());
    free_.push_back(static_cast<std::uint32_t>(all_.size()));
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  return number;
}

void Buffers::give_back(std::uint32_t number) {
  if (number == 0) return;
  Borrowed& borrowed = (*this)[number];
  empty(borrowed.head);
  empty(borrowed.unsent);
  borrowed.sent = 0;
  borrowed.incoming = {};
  free_.push_back(number);
}

}  // namespace target
