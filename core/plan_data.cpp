#include "core/plan_data.h"

#include <fmt/format.h>

#include <array>

#include "core/feed_reader.h"
#include "core/nearest.h"

namespace onrush {
namespace {

constexpr std::size_t kMostFeeds = 64;
constexpr std::array<std::string_view, 3> kTakes{"once", "cycle", "random"};
constexpr std::array<std::string_view, 2> kEnds{"fail", "stop"};

void read_rows(Reader& reader, const YamlNode& node, const std::string& what, Feed& feed,
               const FileContent& content, bool whole) {
  const auto complain = [&](const FeedError& error) {
    reader.complain(node, fmt::format("{}: {}, line {}: {}", what, quoted(std::string_view{feed.file}),
                                      error.line, error.message));
  };
  auto rows = FeedReader::open(whole ? feed.form : FeedForm::csv, *content);
  if (!rows) return complain(rows.error());
  feed.columns = rows->columns();
  const auto count = count_rows(*rows);
  if (!count) return complain(count.error());
  feed.rows = *count;
  if (whole && feed.rows == 0) complain({1, "there is a header, but no row"});
}

void read_file(Reader& reader, const Fields& fields, const YamlNode& at, Feed& feed) {
  const YamlNode* csv = fields.find("csv");
  const YamlNode* json = fields.find("json_lines");
  if (csv != nullptr && json != nullptr)
    return reader.complain(*json,
                           fmt::format("{} beside 'csv'; a feed is one file", fields.what("json_lines")));
  if (csv == nullptr && json == nullptr) {
    if (fields.intact())
      reader.complain(at, fmt::format("{} is missing; write {{csv: accounts.csv}}", fields.what("csv")));
    return;
  }
  feed.form = csv != nullptr ? FeedForm::csv : FeedForm::json_lines;
  const YamlNode& node = csv != nullptr ? *csv : *json;
  const std::string what = fields.what(csv != nullptr ? "csv" : "json_lines");
  const auto file = reader.feed_file(node, what, feed.name);
  if (!file) return;
  feed.file = file->name;
  read_rows(reader, node, what, feed, file->content, !reader.around().feeds_are_shares);
}

Feed read_feed(Reader& reader, const YamlNode& key, const YamlNode& value) {
  Feed feed;
  feed.name = reader.name(key, "the name of a feed").value_or(key.text);
  if (feed.name.find('.') != std::string::npos)
    reader.complain(key,
                    fmt::format("feed {} has a dot in its name, which ${{data.FEED.COLUMN}} could not tell "
                                "from the one before the column",
                                quoted(key.text)));
  const std::string owner = fmt::format("feed {}", quoted(key.text));
  if (!reader.is_map(value, owner, "{csv: accounts.csv, take: once}")) return feed;
  const Fields fields(reader, value, kFeedKeys, owner);
  if (const YamlNode* node = fields.find("take"))
    feed.take = static_cast<Feed::Take>(reader.word(*node, fields.what("take"), kTakes).value_or(1));
  if (const YamlNode* node = fields.find("on_end")) {
    feed.on_end = static_cast<Feed::OnEnd>(reader.word(*node, fields.what("on_end"), kEnds).value_or(0));
    if (feed.take != Feed::Take::once)
      reader.complain(
          *node, fmt::format("{} belongs to take: once; other feeds have no end", fields.what("on_end")));
  }
  read_file(reader, fields, value, feed);
  return feed;
}

}  // namespace

std::vector<Feed> read_data(Reader& reader, const YamlNode& node) {
  std::vector<Feed> feeds;
  if (!reader.is_map(node, "'data'", "{accounts: {csv: accounts.csv, take: once}}")) return feeds;
  refuse_repeated_names(reader, node, "'data'");
  if (node.children.size() / 2 > kMostFeeds) {
    reader.complain(node,
                    fmt::format("'data' has {} feeds; at most {}", node.children.size() / 2, kMostFeeds));
    return feeds;
  }
  for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
    feeds.push_back(read_feed(reader, *node.children[i], *node.children[i + 1]));
    reader.names().feeds.push_back({feeds.back().name, feeds.back().columns});
  }
  return feeds;
}

}  // namespace onrush
