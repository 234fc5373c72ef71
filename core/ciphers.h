// The cipher suites that a plan names, as OpenSSL reads them: what is wrong with the list, said before a run.
//
// Why: OpenSSL passes over names that it does not know, and a list that the oldest version allowed rules out
// fails in each handshake, where it looks like the target's fault. Owner: any thread; pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "core/tls.h"

namespace onrush {

/// OpenSSL names the suites of TLS 1.3 in one list and all older ones in another; the plan has one for both.
struct CipherSuites {
  std::string older;
  std::string v1_3;
};
[[nodiscard]] CipherSuites split_ciphers(const std::string& ciphers);

struct CipherMistake {
  std::size_t offset = 0;  ///< in the list
  std::string message;     ///< "names NOPE, which ...": to be said after the key's name
};

/// What is wrong with a list of names with ':' between them, spoken from this version on.
[[nodiscard]] std::optional<CipherMistake> mistake_in_ciphers(const std::string& ciphers,
                                                              TlsVersion min_version);

}  // namespace onrush
