// Certificates made while a test runs: an authority, servers and clients below it, good ones and bad ones.
//
// Why: a private key in a repository is a finding of every scanner, and a certificate in one expires. Owner:
// one test. Keys are P-256, and cost next to nothing to make.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace onrush {

struct Certificate {
  std::shared_ptr<X509> x509;
  std::shared_ptr<EVP_PKEY> key;

  [[nodiscard]] std::string pem() const {
    return text([this](BIO* to) { PEM_write_bio_X509(to, x509.get()); });
  }
  [[nodiscard]] std::string key_pem() const {
    return text(
        [this](BIO* to) { PEM_write_bio_PrivateKey(to, key.get(), nullptr, nullptr, 0, nullptr, nullptr); });
  }

 private:
  template <class Write>
  static std::string text(const Write& write) {
    BIO* memory = BIO_new(BIO_s_mem());
    write(memory);
    char* bytes = nullptr;
    const long length = BIO_get_mem_data(memory, &bytes);
    std::string out{bytes, static_cast<std::size_t>(length)};
    BIO_free(memory);
    return out;
  }
};

struct CertificateWish {
  std::string name;
  std::string alternatives = {};        ///< "DNS:a.test,IP:127.0.0.1"
  const Certificate* issuer = nullptr;  ///< none: signed by itself
  bool authority = false;
  long from_s = -3600;
  long until_s = 3600;
  std::string algorithm = "P-256";  ///< or ED25519
};

inline Certificate make_certificate(const CertificateWish& wish) {
  const bool edwards = wish.algorithm == "ED25519";
  EVP_PKEY* key =
      edwards ? EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519") : EVP_EC_gen(wish.algorithm.c_str());
  Certificate made{{X509_new(), X509_free}, {key, EVP_PKEY_free}};
  X509* x509 = made.x509.get();
  const Certificate& issuer = wish.issuer == nullptr ? made : *wish.issuer;
  static long serial = 1;
  X509_set_version(x509, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(x509), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(x509), wish.from_s);
  X509_gmtime_adj(X509_getm_notAfter(x509), wish.until_s);
  X509_set_pubkey(x509, made.key.get());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(x509), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(wish.name.c_str()), -1, -1, 0);
  X509_set_issuer_name(x509, X509_get_subject_name(issuer.x509.get()));
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer.x509.get(), x509, nullptr, nullptr, 0);
  const auto add = [&](int kind, const std::string& value) {
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
    if (extension == nullptr || X509_add_ext(x509, extension, -1) != 1)
      throw std::runtime_error{"no extension " + value};
    X509_EXTENSION_free(extension);
  };
  add(NID_basic_constraints, wish.authority ? "critical,CA:TRUE" : "CA:FALSE");
  if (!wish.alternatives.empty()) add(NID_subject_alt_name, wish.alternatives);
  const EVP_MD* digest = EVP_PKEY_is_a(issuer.key.get(), "ED25519") == 1 ? nullptr : EVP_sha256();
  if (X509_sign(x509, issuer.key.get(), digest) == 0) throw std::runtime_error{"not signed"};
  return made;
}

}  // namespace onrush
