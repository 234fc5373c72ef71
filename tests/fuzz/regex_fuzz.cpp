// The first line as a regular expression, the rest as a message: refused with a reason, or what it finds lies
// within the message and matches again.
#include <string_view>

#include "core/regex.h"
#include "tests/fuzz/fuzz.h"

using namespace onrush;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all{reinterpret_cast<const char*>(data), size};
  const std::size_t end = std::min(all.find('\n'), all.size());
  const std::string_view message = all.substr(std::min(end + 1, all.size()));
  const auto regex = Regex::compile(all.substr(0, end));
  if (!regex) {
    ONRUSH_CHECK(!regex.error().empty());
    return 0;
  }
  const auto found = regex->find(message);
  ONRUSH_CHECK(found.has_value() == regex->matches(message));
  if (found && !found->empty())
    ONRUSH_CHECK(found->data() >= message.data() &&
                 found->data() + found->size() <= message.data() + message.size());
  return 0;
}
