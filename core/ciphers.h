// The cipher suites that a plan names, as OpenSSL reads them: what is wrong with the list, said before a run.
//
// Why: OpenSSL passes over names that it does not know, and a list that the oldest version allowed rules out
// fails in each handshake, where it looks like the target's fault. Owner: any thread; pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "core/tls.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX

namespace onrush {

struct CipherMistake {
  std::size_t offset = 0;  ///< in the list
  std::string message;     ///< "names NOPE, which ...": to be said after the key's name
};

/// What is wrong with a list of names with ':' between them, spoken from this version on.
[[nodiscard]] std::optional<CipherMistake> mistake_in_ciphers(const std::string& ciphers,
                                                              TlsVersion min_version);

/// Gives the list to OpenSSL's context; a list of one kind only, TLS 1.3 or older, rules the other versions
/// out. False: OpenSSL takes none of it.
[[nodiscard]] bool set_ciphers(ssl_ctx_st* context, const std::string& ciphers);

}  // namespace onrush
