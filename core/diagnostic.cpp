#include "core/diagnostic.h"

#include <fmt/format.h>

namespace onrush {
namespace {

std::string place(const std::string& file, const Diagnostic& d) {
  return d.line == 0 ? std::string() : fmt::format("{}:{}:{}: ", file, d.line, d.column);
}

}  // namespace

std::string render(const std::string& file, const std::vector<Diagnostic>& diagnostics) {
  std::string out;
  for (const Diagnostic& d : diagnostics) out += fmt::format("{}{}\n", place(file, d), d.message);
  return out + fmt::format("{} {} in {}; nothing was started\n", diagnostics.size(),
                           diagnostics.size() == 1 ? "mistake" : "mistakes", file);
}

}  // namespace onrush
