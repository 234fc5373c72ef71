// One visitor of a std::variant from several lambdas, one for each alternative.
#pragma once

namespace onrush {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace onrush
