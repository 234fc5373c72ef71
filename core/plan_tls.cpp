#include "core/plan_tls.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

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

std::string read_ciphers(Reader& reader, const YamlNode& node, const std::string& what) {
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

// Our own identity: a certificate and its key, both or neither.
void read_identity(Reader& reader, const Fields& fields, Tls& tls) {
  const YamlNode* certificate = fields.find("certificate");
  const YamlNode* key = fields.find("key");
  if (certificate == nullptr && key == nullptr) return;
  if (key == nullptr)
    return reader.complain(*certificate,
                           fmt::format("{} has no 'key' beside it; name the file of its private "
                                       "key, which may be the same",
                                       fields.what("certificate")));
  if (certificate == nullptr)
    return reader.complain(
        *key, fmt::format("{} has no 'certificate' beside it; name its file", fields.what("key")));
  tls.certificate = read_certificates(reader, *certificate, fields.what("certificate"));
  const auto file = reader.file(*key, fields.what("key"));
  if (!file || tls.certificate == nullptr) return;
  const std::string mistake = mistake_in_key(*file->content, *tls.certificate);
  if (!mistake.empty())
    reader.complain(*key, fmt::format("{}: {} {}", fields.what("key"), quoted(file->name), mistake));
  tls.key = file->content;
}

}  // namespace

Tls read_tls(Reader& reader, const YamlNode& node, const std::string& what) {
  Tls tls;
  if (!reader.is_map(node, what, "{ca: ca.pem}")) return tls;
  const Fields fields(reader, node, kTlsKeys, what);
  if (const YamlNode* ca = fields.find("ca")) tls.ca = read_certificates(reader, *ca, fields.what("ca"));
  read_identity(reader, fields, tls);
  tls.verify = fields.answer("verify", tls.verify);
  tls.resume = fields.answer("resume", tls.resume);
  if (const YamlNode* version = fields.find("min_version"))
    tls.min_version = read_version(reader, *version, fields.what("min_version"));
  if (const YamlNode* name = fields.find("server_name"))
    tls.server_name = read_server_name(reader, *name, fields.what("server_name"));
  if (const YamlNode* ciphers = fields.find("ciphers"))
    tls.ciphers = read_ciphers(reader, *ciphers, fields.what("ciphers"));
  return tls;
}

}  // namespace onrush
