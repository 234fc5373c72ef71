#include "core/tls.h"

#include <algorithm>

namespace onrush {

// A host of the URL parser: names whose last label is a number are addresses there already, and only IPv6
// has colons.
bool is_address(const std::string& name) {
  if (name.find(':') != std::string::npos) return true;
  return !name.empty() &&
         std::all_of(name.begin(), name.end(), [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
}

std::string certificate_name(const Tls& tls, const Url& target) {
  std::string name = tls.server_name.empty() ? target.host : tls.server_name;
  if (!name.empty() && name.back() == '.') name.pop_back();
  return name;
}

}  // namespace onrush
