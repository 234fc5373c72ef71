// The target's end of a TLS connection in the simulation: OpenSSL's server side over memory.
//
// OpenSSL draws its own randomness, so bytes differ from run to run; their number and order do not: the
// certificate is Ed25519, whose signatures have one length. Owner: the simulation's one thread.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "core/check.h"
#include "tests/certificates.h"

namespace onrush::simulation {

class SecureContext {
 public:
  SecureContext() : context_{SSL_CTX_new(TLS_server_method()), SSL_CTX_free} {
    const Certificate own =
        make_certificate({.name = "simulated", .alternatives = "IP:127.0.0.1", .algorithm = "ED25519"});
    ONRUSH_CHECK(SSL_CTX_use_certificate(context_.get(), own.x509.get()) == 1 &&
                 SSL_CTX_use_PrivateKey(context_.get(), own.key.get()) == 1);
  }
  [[nodiscard]] SSL_CTX* get() const { return context_.get(); }

 private:
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
};

class SecureEnd {
 public:
  explicit SecureEnd(const SecureContext& context) : ssl_{SSL_new(context.get()), SSL_free} {
    SSL_set_bio(ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_accept_state(ssl_.get());
  }

  /// The plain bytes in what has come off the wire.
  std::string open(const std::string& wire) {
    BIO_write(SSL_get_rbio(ssl_.get()), wire.data(), static_cast<int>(wire.size()));
    std::string plain;
    char piece[4096];
    for (int got = 0; (got = SSL_read(ssl_.get(), piece, sizeof piece)) > 0;)
      plain.append(piece, static_cast<std::size_t>(got));
    return plain;
  }
  /// What must go onto the wire for these bytes, behind whatever TLS has to say by itself.
  std::string seal(const std::string& plain) {
    if (!plain.empty()) ONRUSH_CHECK(SSL_write(ssl_.get(), plain.data(), static_cast<int>(plain.size())) > 0);
    return said();
  }
  /// What TLS has to say by itself.
  std::string said() {
    BIO* out = SSL_get_wbio(ssl_.get());
    char* bytes = nullptr;
    const long length = BIO_get_mem_data(out, &bytes);
    std::string wire{bytes, static_cast<std::size_t>(length)};
    [[maybe_unused]] const int reset = BIO_reset(out);
    return wire;
  }

 private:
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
};

}  // namespace onrush::simulation
