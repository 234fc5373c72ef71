// How certificates and keys are taken out of PEM, one after the other: for who looks at a plan's files and
// who shows them to a target.
//
// Owner: the caller; only for .cpp files, so that OpenSSL stays in few. Always: nobody is asked for a
// passphrase.
#pragma once

#include <openssl/err.h>
#include <openssl/pem.h>

#include <memory>
#include <string>

namespace onrush {

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
using X509Ptr = std::unique_ptr<X509, decltype(&X509_free)>;
using KeyPtr = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

/// Reads from the text, which must outlive it.
inline Bio reading(const std::string& pem) {
  return {BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free};
}

// Without it OpenSSL asks the terminal.
inline int no_passphrase(char*, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

/// nullptr at the end, or before one that cannot be read.
inline X509Ptr next_certificate(BIO* from) {
  bool asked = false;
  return {PEM_read_bio_X509(from, nullptr, &no_passphrase, &asked), X509_free};
}

/// nullptr if it cannot be read; `asked` for a passphrase, if that is why.
inline KeyPtr read_key(BIO* from, bool& asked) {
  return {PEM_read_bio_PrivateKey(from, nullptr, &no_passphrase, &asked), EVP_PKEY_free};
}

/// OpenSSL's reason for its last error.
inline std::string openssl_says() {
  const char* words = ERR_reason_error_string(ERR_peek_last_error());
  return words == nullptr ? "no reason given" : words;
}

}  // namespace onrush
