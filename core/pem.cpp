#include "core/pem.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <memory>

namespace onrush {
namespace {

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
using X509Ptr = std::unique_ptr<X509, decltype(&X509_free)>;
using KeyPtr = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

Bio reading(const std::string& pem) {
  return {BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free};
}

// Without it OpenSSL asks the terminal.
int no_passphrase(char*, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

X509Ptr next_certificate(BIO* from) {
  bool asked = false;
  return {PEM_read_bio_X509(from, nullptr, &no_passphrase, &asked), X509_free};
}

bool was_end() {
  return ERR_GET_LIB(ERR_peek_last_error()) == ERR_LIB_PEM &&
         ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
}

std::string too_large(const std::string& pem) {
  if (pem.size() <= kMostPemBytes) return {};
  return fmt::format("has {} bytes; certificates and keys have at most 4 MiB", pem.size());
}

bool has(const std::string& pem, const char* what) { return pem.find(what) != std::string::npos; }

}  // namespace

std::string mistake_in_certificates(const std::string& pem) {
  if (std::string mistake = too_large(pem); !mistake.empty()) return mistake;
  ERR_clear_error();
  const Bio from = reading(pem);
  std::size_t count = 0;
  while (next_certificate(from.get())) ++count;
  const bool end = was_end();
  ERR_clear_error();
  if (count > 0 && end) return {};
  if (count > 0 || has(pem, "-----BEGIN CERTIFICATE"))
    return fmt::format("has a certificate that cannot be read, number {}; is it cut off?", count + 1);
  if (has(pem, "PRIVATE KEY-----"))
    return "holds a private key and no certificate; are the two files swapped?";
  return "holds no certificate; write one in PEM, as of: openssl x509 -in FILE -inform DER";
}

std::string mistake_in_key(const std::string& pem, const std::string& certificates) {
  if (std::string mistake = too_large(pem); !mistake.empty()) return mistake;
  ERR_clear_error();
  bool asked = false;
  const Bio from = reading(pem);
  const KeyPtr key{PEM_read_bio_PrivateKey(from.get(), nullptr, &no_passphrase, &asked), EVP_PKEY_free};
  ERR_clear_error();
  if (asked) return "is protected by a passphrase; write the key without, as of: openssl pkey -in FILE";
  if (key == nullptr) {
    if (has(pem, "PRIVATE KEY-----")) return "has a private key that cannot be read; is it cut off?";
    if (has(pem, "-----BEGIN CERTIFICATE"))
      return "holds a certificate and no key; are the two files swapped?";
    return "holds no private key; write one in PEM, as of: openssl pkey -in FILE -inform DER";
  }
  const Bio beside = reading(certificates);
  const X509Ptr certificate = next_certificate(beside.get());
  const bool fits = certificate != nullptr && X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  return fits ? "" : "is not the key of the certificate; name the pair that was made together";
}

}  // namespace onrush
