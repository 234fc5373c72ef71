// A value, or the reason there is none: the return type of everything that may fail for a foreseeable reason.
//
// Why: std::expected is C++23, and exceptions hide which calls can fail. Only what the code here needs.
// Always: holds exactly one of the two; asking for the other is a bug and ends the program.
#pragma once

#include <utility>
#include <variant>

#include "core/check.h"

namespace onrush {

/// Wraps a reason so that it converts to any Expected with that error type.
template <class E>
struct Unexpected {
  E error;
};
template <class E>
Unexpected(E) -> Unexpected<E>;

template <class T, class E>
class [[nodiscard]] Expected {
 public:
  Expected(T value)
      : held_{std::in_place_index<0>, std::move(value)} {}  // NOLINT(google-explicit-constructor)
  template <class F>
  Expected(Unexpected<F> reason)  // NOLINT(google-explicit-constructor)
      : held_{std::in_place_index<1>, std::move(reason.error)} {}

  [[nodiscard]] bool has_value() const noexcept { return held_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  [[nodiscard]] T& value() { return require(), std::get<0>(held_); }
  [[nodiscard]] const T& value() const { return require(), std::get<0>(held_); }
  [[nodiscard]] const E& error() const { return ONRUSH_CHECK(!has_value()), std::get<1>(held_); }

  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  void require() const { ONRUSH_CHECK(has_value()); }
  std::variant<T, E> held_;
};

}  // namespace onrush
