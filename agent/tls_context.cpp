// What a plan says of TLS, told to OpenSSL.
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <array>
#include <memory>
#include <string>

#include "agent/tls_layer.h"
#include "core/ciphers.h"
#include "core/pem_reading.h"

namespace onrush {
namespace {

// On the context, so that no connection has to be told.
bool set_name(SSL_CTX* context, const std::string& name) {
  X509_VERIFY_PARAM* param = SSL_CTX_get0_param(context);
  if (is_address(name)) return X509_VERIFY_PARAM_set1_ip_asc(param, name.c_str()) == 1;
  X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return X509_VERIFY_PARAM_set1_host(param, name.data(), name.size()) == 1;
}

// The plan's reader has looked at these files already (core/pem).
bool trust(SSL_CTX* context, const std::string& authorities) {
  const Bio from = reading(authorities);
  while (const X509Ptr authority = next_certificate(from.get()))
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get()) != 1) return false;
  ERR_clear_error();
  return true;
}

}  // namespace

std::string TlsLayer::configure(const Tls& tls, const std::vector<Target>& targets) {
  if (!make_bio()) return "no memory left";
  for (const Target& target : targets) {
    const std::string name = certificate_name(tls, target.url);
    const auto known =
        std::find_if(hosts_.begin(), hosts_.end(), [&](const Host& host) { return host.name == name; });
    host_of_target_.push_back(static_cast<std::uint16_t>(known - hosts_.begin()));
    if (known != hosts_.end()) continue;
    if (std::string mistake = add_host(tls, name); !mistake.empty()) return mistake;
  }
  if (tls.resume) sessions_.resize(slots_.size() * hosts_.size());
  return {};
}

std::string TlsLayer::add_host(const Tls& tls, const std::string& name) {
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  if (context == nullptr) return "no memory left";
  hosts_.push_back({name, is_address(name) ? "" : name, context});
  SSL_CTX_set_app_data(context, this);
  SSL_CTX_set_min_proto_version(context,
                                tls.min_version == TlsVersion::v1_3 ? TLS1_3_VERSION : TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  // The chain of a client certificate is sent as the plan gives it, not searched for at each handshake.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_NO_AUTO_CHAIN);
  if (!tls.ciphers.empty() && !set_ciphers(context, tls.ciphers))
    return fmt::format("'ciphers' cannot be used: {}", openssl_says());
  constexpr std::array<unsigned char, 9> kHttp{8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  if (SSL_CTX_set_alpn_protos(context, kHttp.data(), kHttp.size()) != 0) return "no memory left";
  if (tls.verify) {
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, &TlsLayer::on_certificate);
    if (!set_name(context, name)) return "no memory left";
    // Hosts trust the same; to read the system's CAs takes milliseconds and a megabyte.
    bool trusting = true;
    if (hosts_.size() > 1)
      SSL_CTX_set1_cert_store(context, SSL_CTX_get_cert_store(hosts_.front().context));
    else
      trusting = tls.ca ? trust(context, *tls.ca) : SSL_CTX_set_default_verify_paths(context) == 1;
    if (!trusting)
      return fmt::format("{} cannot be used: {}", tls.ca ? "'ca'" : "the system's own CAs", openssl_says());
  } else {
    // Without this the chain would be looked at all the same, and the result thrown away.
    SSL_CTX_set_cert_verify_callback(
        context, [](X509_STORE_CTX*, void*) { return 1; }, nullptr);
  }
  if (tls.certificate) {
    const auto own = ClientIdentity::parse("of the plan", *tls.certificate, *tls.key);
    if (!own) return own.error();
    if (!own->show(context)) return fmt::format("'certificate' cannot be used: {}", openssl_says());
  }
  SSL_CTX_set_session_cache_mode(
      context, tls.resume ? SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL : SSL_SESS_CACHE_OFF);
  if (tls.resume) SSL_CTX_sess_set_new_cb(context, &TlsLayer::on_session);
  return {};
}

// A key that OpenSSL takes for too weak would fail its user at each handshake.
std::string TlsLayer::try_out(const std::vector<ClientIdentity>& identities) {
  if (identities.empty()) return {};
  ERR_clear_error();
  const std::unique_ptr<SSL, decltype(&SSL_free)> ssl{SSL_new(hosts_.front().context), SSL_free};
  if (ssl == nullptr) return "no memory left";
  for (const ClientIdentity& identity : identities)
    if (!identity.show(ssl.get()))
      return fmt::format("certificate '{}' cannot be used: {}", identity.name(), openssl_says());
  return {};
}

// Called for each certificate of the chain and each fault; says nothing about what it has found, but keeps
// the words for the error table.
int TlsLayer::on_certificate(int good, X509_STORE_CTX* store) noexcept {
  if (good == 1) return 1;
  const auto* ssl =
      static_cast<const SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  std::string& text = of(ssl).certificate_;
  text = X509_verify_cert_error_string(X509_STORE_CTX_get_error(store));
  if (const X509* certificate = X509_STORE_CTX_get_current_cert(store)) {
    std::array<char, 120> subject{};
    X509_NAME_oneline(X509_get_subject_name(certificate), subject.data(), subject.size());
    text += fmt::format(": {}", subject.data());
  }
  return 0;
}

}  // namespace onrush
