// Any text as a template, alone and as a header's value: a mistake with its place, or a text that renders
// alike each time and never breaks the line that it is put into.
#include "core/feed_table.h"
#include "core/template.h"
#include "core/upgrade_head.h"
#include "tests/fuzz/fuzz.h"

using namespace onrush;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  TemplateNames names;
  names.feeds = {{"a", {"x", "y.z"}}, {"b", {"x"}}};
  names.captures = {"room"};
  names.parameters = {"rate"};
  names.variable = [](const std::string& name) {
    return name == "HOME" ? std::optional<std::string>{"/root"} : std::nullopt;
  };
  const auto compiled = Template::compile(text, names);
  if (!compiled) {
    ONRUSH_CHECK(!compiled.error().message.empty() && compiled.error().offset < size);
    return 0;
  }
  ONRUSH_CHECK(compiled->source() == text);
  std::vector<FeedTable> feeds{FeedTable{2}, FeedTable{1}};
  for (const char* value : {"1", "a\r\nb"}) feeds[0].add(value);
  feeds[1].add("");
  const std::vector<std::uint32_t> rows{0, 0};
  const std::vector<std::string_view> captures{"lobby"};
  TemplateValues values{7, 8, 9};
  values.feeds = feeds;
  values.rows = rows.data();
  values.captures = captures;
  std::string once, again;
  compiled->render(values, once);
  compiled->render(values, again);
  ONRUSH_CHECK(once == again);
  if (compiled->is_fixed()) {
    again.clear();
    compiled->render({}, again);
    ONRUSH_CHECK(once == again);
    if (find_line_breaker(once) != std::string::npos) return 0;  // which the reader of plans refuses
  }
  UpgradeFields fields;
  fields.headers.push_back({"X-Fuzz", *compiled});
  std::string lines;
  if (UpgradeHead{fields, {}}.render(values, lines))
    ONRUSH_CHECK(lines.find('\n') == lines.size() - 1 && lines.ends_with("\r\n"));
  return 0;
}
