#include "core/tls_identities.h"

#include <vector>

#include "core/feed_table.h"

namespace onrush {

// To the templates it is a feed of one row.
IdentityFiles files_of_row(const TlsIdentities& identities, std::span<const std::string_view> row) {
  std::vector<FeedTable> feeds(identities.feed + std::size_t{1});
  feeds.back() = FeedTable{static_cast<std::uint32_t>(row.size())};
  for (const std::string_view value : row) feeds.back().add(value);
  const std::vector<std::uint32_t> rows(feeds.size(), 0);
  TemplateValues values{};
  values.feeds = feeds;
  values.rows = rows.data();
  IdentityFiles files;
  identities.certificate.render(values, files.certificate);
  identities.key.render(values, files.key);
  return files;
}

}  // namespace onrush
