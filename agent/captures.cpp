#include "agent/captures.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "core/user_tables.h"

namespace onrush {
namespace {

using Length = std::uint16_t;
static_assert(sizeof(Length) == kKeptLengthBytes);
static_assert(kLargestCapture <= 0xffff);

Length length_at(const char* memory) noexcept {
  Length length = 0;
  std::memcpy(&length, memory, sizeof length);
  return length;
}

}  // namespace

Captures::Captures(const Plan& plan, std::uint32_t capacity) {
  std::size_t most = 0;
  for (const Scenario& scenario : plan.scenarios) {
    std::size_t offset = 0;
    std::vector<Place>& places = places_.emplace_back();
    for (const CaptureName& capture : scenario.captures) {
      places.push_back({offset, capture.at_most});
      offset += sizeof(Length) + capture.at_most;
    }
    stride_ = std::max(stride_, kept_bytes(scenario));
    most = std::max(most, places.size());
  }
  values_.reserve(most);
  if (stride_ == 0) return;
  // calloc's fresh pages cost nothing until they are touched.
  memory_.reset(static_cast<char*>(std::calloc(std::size_t{capacity} + 1, stride_)));
  if (memory_ == nullptr) throw std::bad_alloc{};
}

void Captures::clear(SlotIndex slot, std::uint32_t scenario) noexcept {
  for (const Place& place : places_[scenario])
    if (length_at(at(slot, place)) != 0) std::memset(at(slot, place), 0, sizeof(Length));
}

bool Captures::put(SlotIndex slot, std::uint32_t scenario, std::uint32_t place,
                   std::string_view value) noexcept {
  const Place& there = places_[scenario][place];
  if (value.size() > there.at_most) return false;
  const auto length = static_cast<Length>(value.size());
  std::memcpy(at(slot, there), &length, sizeof length);
  std::copy(value.begin(), value.end(), at(slot, there) + sizeof length);
  return true;
}

std::string_view Captures::get(SlotIndex slot, std::uint32_t scenario, std::uint32_t place) const noexcept {
  const char* there = at(slot, places_[scenario][place]);
  return {there + sizeof(Length), length_at(there)};
}

std::span<const std::string_view> Captures::values(SlotIndex slot, std::uint32_t scenario) noexcept {
  values_.clear();
  for (std::uint32_t place = 0; place < places_[scenario].size(); ++place)
    values_.push_back(get(slot, scenario, place));
  return values_;
}

}  // namespace onrush
