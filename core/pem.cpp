#include "core/pem.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>

#include "core/pem_reading.h"

namespace onrush {
namespace {

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
  const KeyPtr key = read_key(from.get(), asked);
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
