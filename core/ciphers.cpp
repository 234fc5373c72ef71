#include "core/ciphers.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

namespace onrush {
namespace {

using Context = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;
using Connection = std::unique_ptr<SSL, decltype(&SSL_free)>;
using Ciphers = std::unique_ptr<STACK_OF(SSL_CIPHER), void (*)(STACK_OF(SSL_CIPHER)*)>;

// Kinds that OpenSSL has names for and may have been built without: to exclude them is always right.
constexpr std::array<std::string_view, 30> kKinds{"3DES",
                                                  "ADH",
                                                  "AECDH",
                                                  "ARIA",
                                                  "aDSS",
                                                  "aNULL",
                                                  "CAMELLIA",
                                                  "COMPLEMENTOFALL",
                                                  "COMPLEMENTOFDEFAULT",
                                                  "DES",
                                                  "DSS",
                                                  "eNULL",
                                                  "EXP",
                                                  "EXPORT",
                                                  "EXPORT40",
                                                  "EXPORT56",
                                                  "GOST89MAC",
                                                  "IDEA",
                                                  "KRB5",
                                                  "LOW",
                                                  "MD5",
                                                  "MEDIUM",
                                                  "NULL",
                                                  "PSK",
                                                  "RC2",
                                                  "RC4",
                                                  "SEED",
                                                  "SRP",
                                                  "SSLv2",
                                                  "SSLv3"};

Context make_context() { return {SSL_CTX_new(TLS_client_method()), SSL_CTX_free}; }

// Whether OpenSSL has heard of what stands between two ':'.
bool is_known(SSL_CTX* context, std::string name) {
  if (name.starts_with("TLS_")) return SSL_CTX_set_ciphersuites(context, name.c_str()) == 1;
  if (name.starts_with('@')) return SSL_CTX_set_cipher_list(context, ("ALL:" + name).c_str()) == 1;
  const bool takes_away = name.starts_with('!') || name.starts_with('-') || name.starts_with('+');
  if (takes_away) name.erase(0, 1);
  if (takes_away && std::find(kKinds.begin(), kKinds.end(), name) != kKinds.end()) return true;
  // The level of security would hide names that are good ones.
  return SSL_CTX_set_cipher_list(context, (name + ":@SECLEVEL=0").c_str()) == 1;
}

// OpenSSL names the suites of TLS 1.3 in one list and all older ones in another; the plan has one for both.
struct CipherSuites {
  std::string older;
  std::string v1_3;
};

CipherSuites split(const std::string& ciphers) {
  CipherSuites suites;
  for (std::size_t begin = 0; begin <= ciphers.size();) {
    const std::size_t end = std::min(ciphers.find(':', begin), ciphers.size());
    const std::string name = ciphers.substr(begin, end - begin);
    std::string& list = name.starts_with("TLS_") ? suites.v1_3 : suites.older;
    if (!list.empty() && !name.empty()) list += ':';
    list += name;
    begin = end + 1;
  }
  return suites;
}

bool leaves_any(SSL_CTX* context, const std::string& ciphers, TlsVersion min_version) {
  SSL_CTX_set_min_proto_version(context, min_version == TlsVersion::v1_3 ? TLS1_3_VERSION : TLS1_2_VERSION);
  if (!set_ciphers(context, ciphers)) return false;
  const Connection connection{SSL_new(context), SSL_free};
  if (connection == nullptr) return true;  // no memory: not the list's fault
  const Ciphers offered{SSL_get1_supported_ciphers(connection.get()),
                        [](STACK_OF(SSL_CIPHER) * ciphers) { sk_SSL_CIPHER_free(ciphers); }};
  return offered != nullptr && sk_SSL_CIPHER_num(offered.get()) > 0;
}

}  // namespace

bool set_ciphers(ssl_ctx_st* context, const std::string& ciphers) {
  const CipherSuites suites = split(ciphers);
  // A plan that names suites of one kind only wants no others.
  if (suites.older.empty()) SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
  if (suites.v1_3.empty()) SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
  if (!suites.older.empty() && SSL_CTX_set_cipher_list(context, suites.older.c_str()) != 1) return false;
  return suites.v1_3.empty() || SSL_CTX_set_ciphersuites(context, suites.v1_3.c_str()) == 1;
}

std::optional<CipherMistake> mistake_in_ciphers(const std::string& ciphers, TlsVersion min_version) {
  const Context names = make_context();
  const Context whole = make_context();
  if (names == nullptr || whole == nullptr) return std::nullopt;
  std::optional<CipherMistake> mistake;
  for (std::size_t begin = 0; begin < ciphers.size() && !mistake;) {
    const std::size_t end = std::min(ciphers.find(':', begin), ciphers.size());
    const std::string name = ciphers.substr(begin, end - begin);
    if (!name.empty() && !is_known(names.get(), name))
      mistake = {begin,
                 fmt::format("names '{}', which OpenSSL does not know; see: openssl ciphers -s", name)};
    begin = end + 1;
  }
  const CipherSuites suites = split(ciphers);
  if (!mistake && suites.older.empty() && suites.v1_3.empty())
    mistake = {0, "names no cipher; write names of 'openssl ciphers' with ':' between them"};
  if (!mistake && !leaves_any(whole.get(), ciphers, min_version)) {
    const bool contradicts = min_version == TlsVersion::v1_3 && suites.v1_3.empty();
    mistake = {0, contradicts
                      ? "names only suites older than TLS 1.3, which 'min_version' 1.3 rules out; name "
                        "one such as TLS_AES_128_GCM_SHA256"
                      : "leaves no cipher that OpenSSL offers; see: openssl ciphers -s -v LIST"};
  }
  ERR_clear_error();
  return mistake;
}

}  // namespace onrush
