#include "core/plan_tls.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>

#include "core/ciphers.h"
#include "core/feed_reader.h"
#include "core/nearest.h"
#include "core/pem.h"
#include "core/url.h"

namespace onrush {
namespace {

constexpr std::size_t kLongestCiphers = 1000;
constexpr std::array<std::string_view, 2> kVersions{"1.2", "1.3"};
constexpr std::array<std::string_view, 4> kOutlived{"1.0", "1.1", "2", "3"};

TlsVersion read_version(Reader& reader, const YamlNode& node, const std::string& what) {
  const std::string* text = reader.text(node, what);
  if (text == nullptr) return TlsVersion::v1_2;
  if (*text == kVersions[0]) return TlsVersion::v1_2;
  if (*text == kVersions[1]) return TlsVersion::v1_3;
  const bool old = std::find(kOutlived.begin(), kOutlived.end(), *text) != kOutlived.end();
  reader.complain(node, fmt::format("{} is {}{}; write 1.2 or 1.3", what, quoted(*text),
                                    old ? ", which is forbidden by now (RFC 8996)" : ""));
  return TlsVersion::v1_2;
}

// What the URL parser takes for a host and is no address is a name that may be sent.
std::string read_server_name(Reader& reader, const YamlNode& node, const std::string& what) {
  const std::string* text = reader.text(node, what);
  if (text == nullptr) return {};
  if (next_placeholder(*text, 0)) {
    reader.complain(node, fmt::format("{} is the same for all users; name a parameter", what));
    return {};
  }
  const auto url = parse_url("wss://" + *text);
  if (!url || url->path != "/" || text->find_first_of("/:?") != std::string::npos) {
    reader.complain(node,
                    fmt::format("{} is {}, which is no host name; write shop.example", what, quoted(*text)));
    return {};
  }
  if (is_address(url->host)) {
    reader.complain(node, fmt::format("{} is {}; an address is no server name (RFC 6066 section 3), write a "
                                      "host name or leave it out",
                                      what, quoted(*text)));
    return {};
  }
  return url->host;
}

std::string read_ciphers(Reader& reader, const YamlNode& node, const std::string& what,
                         TlsVersion min_version) {
  const std::string* text = reader.text(node, what);
  if (text == nullptr) return {};
  if (text->empty() || text->size() > kLongestCiphers) {
    reader.complain(
        node, fmt::format("{} has {} characters, from 1 to {:L} fit", what, text->size(), kLongestCiphers));
    return {};
  }
  // OpenSSL's own language of lists ('!', '+', '@') needs no more letters than these.
  const std::size_t odd =
      text->find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_:+!@=");
  if (odd != std::string::npos) {
    reader.complain_within(node, odd,
                           fmt::format("{} has the character {}; write names of 'openssl ciphers' with ':' "
                                       "between them",
                                       what, quoted(text->substr(odd, 1))));
    return {};
  }
  if (const auto mistake = mistake_in_ciphers(*text, min_version)) {
    reader.complain_within(node, mistake->offset, fmt::format("{} {}", what, mistake->message));
    return {};
  }
  return *text;
}

FileContent read_certificates(Reader& reader, const YamlNode& node, const std::string& what) {
  auto file = reader.file(node, what);
  if (!file) return nullptr;
  const std::string mistake = mistake_in_certificates(*file->content);
  if (mistake.empty()) return file->content;
  reader.complain(node, fmt::format("{}: {} {}", what, quoted(file->name), mistake));
  return nullptr;
}

// What is wrong with the files of one row: which of the two names it, and what to say.
struct BadRow {
  bool of_key = false;
  std::string mistake;
};

BadRow mistake_in_row(const Surroundings& around, const IdentityFiles& named) {
  const auto read = [&around](const std::string& name, std::string& mistake) -> FileContent {
    if (name.empty() || name.find('\0') != std::string::npos) return mistake = "it names no file", nullptr;
    auto content = around.file(name);
    if (!content) return mistake = content.error(), nullptr;
    return *content;
  };
  const auto about = [](const std::string& name, const std::string& mistake) {
    return mistake.empty() ? "" : fmt::format("{} {}", quoted(name), mistake);
  };
  BadRow bad;
  const FileContent certificate = read(named.certificate, bad.mistake);
  if (certificate == nullptr) return bad;
  bad.mistake = about(named.certificate, mistake_in_certificates(*certificate));
  if (!bad.mistake.empty()) return bad;
  bad.of_key = true;
  const FileContent key = read(named.key, bad.mistake);
  if (key != nullptr) bad.mistake = about(named.key, mistake_in_key(*key, *certificate));
  return bad;
}

/// Reads `certificate` and `key` of a plan.
class IdentityReader {
 public:
  IdentityReader(Reader& reader, const Fields& fields, const std::vector<Feed>& feeds)
      : reader_{reader}, fields_{fields}, feeds_{feeds} {}

  // Both or neither.
  void read(Tls& tls) {
    const YamlNode* certificate = fields_.find("certificate");
    const YamlNode* key = fields_.find("key");
    if (certificate == nullptr && key == nullptr) return;
    if (key == nullptr)
      return reader_.complain(*certificate,
                              fmt::format("{} has no 'key' beside it; name the file of its private "
                                          "key, which may be the same",
                                          fields_.what("certificate")));
    if (certificate == nullptr)
      return reader_.complain(
          *key, fmt::format("{} has no 'certificate' beside it; name its file", fields_.what("key")));
    if (next_placeholder(certificate->text, 0) || next_placeholder(key->text, 0))
      read_of_feed(*certificate, *key, tls);
    else
      read_fixed(*certificate, *key, tls);
  }

 private:
  void read_fixed(const YamlNode& certificate, const YamlNode& key, Tls& tls) {
    tls.certificate = read_certificates(reader_, certificate, fields_.what("certificate"));
    const auto file = reader_.file(key, fields_.what("key"));
    if (!file || tls.certificate == nullptr) return;
    const std::string mistake = mistake_in_key(*file->content, *tls.certificate);
    if (!mistake.empty())
      reader_.complain(key, fmt::format("{}: {} {}", fields_.what("key"), quoted(file->name), mistake));
    tls.key = file->content;
  }

  void read_of_feed(const YamlNode& certificate, const YamlNode& key, Tls& tls) {
    auto names = file_template(certificate, "certificate");
    auto keys = file_template(key, "key");
    if (!names || !keys) return;
    std::set<std::uint32_t> named(names->feeds().begin(), names->feeds().end());
    named.insert(keys->feeds().begin(), keys->feeds().end());
    if (named.empty())
      return reader_.complain(certificate,
                              fmt::format("{} names no column of a data feed; write it without '${{'",
                                          fields_.what("certificate")));
    if (named.size() > 1)
      return reader_.complain(key,
                              fmt::format("{} and 'certificate' name columns of different feeds; a user's "
                                          "two files stand in one row",
                                          fields_.what("key")));
    tls.by_feed = TlsIdentities{*named.begin(), std::move(*names), std::move(*keys)};
    // An agent has its share of the rows, after all of them were looked at.
    if (!reader_.around().feeds_are_shares) look_at_rows(certificate, key, *tls.by_feed);
  }

  std::optional<Template> file_template(const YamlNode& node, std::string_view key) {
    auto text = reader_.template_text(node, fields_.what(key));
    for (auto at = next_placeholder(node.text, 0); text && at; at = next_placeholder(node.text, at->end)) {
      if (at->escaped || at->name.starts_with("data.")) continue;
      reader_.complain_within(
          node, at->begin,
          fmt::format("{}: '${{{}}}' is not known before the run; columns of a data feed are, as {}",
                      fields_.what(key), at->name, example_column()));
      return std::nullopt;
    }
    return text;
  }

  [[nodiscard]] std::string example_column() const {
    for (const Feed& feed : feeds_)
      if (!feed.columns.empty()) return fmt::format("${{data.{}.{}}}", feed.name, feed.columns.front());
    return "${data.users.certificate}";
  }

  // The first mistake is told; a feed whose files lie elsewhere would have one in each row.
  void look_at_rows(const YamlNode& certificate, const YamlNode& key, const TlsIdentities& identities) {
    const Feed& feed = feeds_[identities.feed];
    if (feed.rows == 0) return;  // its own mistake was told
    const auto content = reader_.around().file(feed.file);
    if (!content) return;
    auto rows = FeedReader::open(feed.form, **content);
    std::set<IdentityFiles> seen;
    for (std::uint64_t row = 1; row <= feed.rows && *rows->next(); ++row) {
      const auto [named, is_new] = seen.insert(files_of_row(identities, rows->values()));
      if (!is_new) continue;
      const auto complain = [&](bool of_key, const std::string& mistake) {
        reader_.complain(
            of_key ? key : certificate,
            fmt::format("{}: row {} of {}, line {}: {}", fields_.what(of_key ? "key" : "certificate"), row,
                        quoted(feed.file), rows->line(), mistake));
      };
      if (seen.size() > kMostIdentities)
        return complain(false, fmt::format("more than {:L} different certificates", kMostIdentities));
      const BadRow bad = mistake_in_row(reader_.around(), *named);
      if (!bad.mistake.empty()) return complain(bad.of_key, bad.mistake);
    }
  }

  Reader& reader_;
  const Fields& fields_;
  const std::vector<Feed>& feeds_;
};

}  // namespace

Tls read_tls(Reader& reader, const YamlNode& node, const std::string& what, const std::vector<Feed>& feeds) {
  Tls tls;
  if (!reader.is_map(node, what, "{ca: ca.pem}")) return tls;
  const Fields fields(reader, node, kTlsKeys, what);
  if (const YamlNode* ca = fields.find("ca")) tls.ca = read_certificates(reader, *ca, fields.what("ca"));
  IdentityReader(reader, fields, feeds).read(tls);
  tls.verify = fields.answer("verify", tls.verify);
  tls.resume = fields.answer("resume", tls.resume);
  if (const YamlNode* version = fields.find("min_version"))
    tls.min_version = read_version(reader, *version, fields.what("min_version"));
  if (const YamlNode* name = fields.find("server_name"))
    tls.server_name = read_server_name(reader, *name, fields.what("server_name"));
  if (const YamlNode* ciphers = fields.find("ciphers"))
    tls.ciphers = read_ciphers(reader, *ciphers, fields.what("ciphers"), tls.min_version);
  return tls;
}

}  // namespace onrush
