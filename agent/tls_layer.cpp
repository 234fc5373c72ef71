#include "agent/tls_layer.h"

#include <openssl/err.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/check.h"
#include "core/json_field.h"

namespace onrush {
namespace {

// Alerts that the peer sent are reasons from here on (SSL_AD_REASON_OFFSET of OpenSSL's own headers).
constexpr int kAlerts = SSL_AD_REASON_OFFSET;

Cause cause_of_certificate(long code) {
  switch (code) {
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN: return Cause::self_signed;
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID: return Cause::expired_certificate;
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH: return Cause::wrong_host;
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE: return Cause::incomplete_chain;
    default: return Cause::bad_certificate;
  }
}

// What OpenSSL says of bytes that are no TLS record: an answer in plain HTTP, or anything else.
bool is_not_tls(int reason) {
  return reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST ||
         reason == SSL_R_HTTPS_PROXY_REQUEST || reason == SSL_R_PACKET_LENGTH_TOO_LONG ||
         reason == SSL_R_BAD_RECORD_TYPE;
}

}  // namespace

TlsLayer::TlsLayer(std::uint32_t slots) : slots_(slots + std::size_t{1}), plain_(kPlainBytes + kJsonPadding) {
  out_.reserve(std::size_t{16} * 1024);
}

Expected<std::unique_ptr<TlsLayer>, std::string> TlsLayer::make(
    const Tls& tls, const std::vector<Target>& targets, std::uint32_t slots,
    const std::vector<ClientIdentity>& identities) {
  std::unique_ptr<TlsLayer> layer{new TlsLayer{slots}};
  std::string mistake = layer->configure(tls, targets);
  if (mistake.empty()) mistake = layer->try_out(identities);
  if (!mistake.empty()) return Unexpected{"cannot speak TLS as 'connection.tls' asks: " + mistake};
  return layer;
}

TlsLayer::~TlsLayer() {
  for (SlotIndex slot = 0; slot < slots_.size(); ++slot) {
    release(slot);
    forget(slot);
  }
  BIO_free(bio_);
  BIO_meth_free(method_);
  for (const Host& host : hosts_) SSL_CTX_free(host.context);
}

// Each connection holds a reference to the one BIO; it knows nothing of whom it works for.
bool TlsLayer::make_bio() {
  method_ = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "worker");
  if (method_ == nullptr || BIO_meth_set_write(method_, &TlsLayer::bio_write) != 1 ||
      BIO_meth_set_read(method_, &TlsLayer::bio_read) != 1 ||
      BIO_meth_set_ctrl(method_, &TlsLayer::bio_control) != 1)
    return false;
  bio_ = BIO_new(method_);
  if (bio_ == nullptr) return false;
  BIO_set_data(bio_, this);
  BIO_set_init(bio_, 1);
  return true;
}

int TlsLayer::bio_write(BIO* bio, const char* bytes, int length) noexcept {
  auto& layer = *static_cast<TlsLayer*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  layer.out_.append(bytes, static_cast<std::size_t>(length));
  return length;
}

int TlsLayer::bio_read(BIO* bio, char* into, int length) noexcept {
  auto& layer = *static_cast<TlsLayer*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  if (layer.input_.empty()) {
    BIO_set_retry_read(bio);
    return -1;
  }
  const std::size_t taken = std::min(layer.input_.size(), static_cast<std::size_t>(length));
  std::memcpy(into, layer.input_.data(), taken);
  layer.input_ = layer.input_.subspan(taken);
  return static_cast<int>(taken);
}

long TlsLayer::bio_control(BIO*, int command, long, void*) noexcept {
  return command == BIO_CTRL_FLUSH ? 1 : 0;  // written is written
}

TlsLayer& TlsLayer::of(const SSL* ssl) noexcept {
  return *static_cast<TlsLayer*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
}

// Returning 1 keeps the reference.
int TlsLayer::on_session(SSL* ssl, SSL_SESSION* session) noexcept {
  TlsLayer& layer = of(ssl);
  const auto host = std::find_if(layer.hosts_.begin(), layer.hosts_.end(),
                                 [&](const Host& h) { return h.context == SSL_get_SSL_CTX(ssl); });
  SSL_SESSION*& kept = layer.session(layer.current_, static_cast<std::size_t>(host - layer.hosts_.begin()));
  SSL_SESSION_free(kept);
  kept = session;
  return 1;
}

SSL* TlsLayer::enter(SlotIndex slot) noexcept {
  current_ = slot;
  ERR_clear_error();  // what lies in the thread's queue would be taken for this call's
  return slots_[slot].ssl;
}

bool TlsLayer::begin(SlotIndex slot, std::size_t target, const ClientIdentity* identity) {
  Slot& place = slots_[slot];
  ONRUSH_CHECK(place.ssl == nullptr);
  (void)enter(slot);
  input_ = {};
  const std::size_t host_index = host_of_target_[target];
  const Host& host = hosts_[host_index];
  // By a session a target knows whom it was given to, so nobody else may show it.
  if (place.identity != identity) forget(slot);
  place.identity = identity;
  place.ssl = SSL_new(host.context);
  if (place.ssl == nullptr || BIO_up_ref(bio_) != 1) {
    trouble_ = {Cause::system, ENOMEM, {}};
    return false;
  }
  SSL_set_bio(place.ssl, bio_, bio_);
  SSL_set_connect_state(place.ssl);
  // A session that does not fit any more only means a full handshake.
  if (!sessions_.empty())
    if (SSL_SESSION* kept = session(slot, host_index)) SSL_set_session(place.ssl, kept);
  const bool named = host.sni.empty() || SSL_set_tlsext_host_name(place.ssl, host.sni.c_str()) == 1;
  if (!named || (identity != nullptr && !identity->show(place.ssl))) {
    trouble_ = {Cause::system, ENOMEM, {}};
    return false;
  }
  return true;
}

TlsLayer::Step TlsLayer::handshake(SlotIndex slot) {
  SSL* ssl = enter(slot);
  const int result = SSL_do_handshake(ssl);
  return result == 1 ? Step::done : step_after(ssl, result);
}

TlsLayer::Plain TlsLayer::read(SlotIndex slot) {
  SSL* ssl = enter(slot);
  std::size_t filled = 0;
  while (filled < kPlainBytes) {
    std::size_t got = 0;
    const int result = SSL_read_ex(ssl, plain_.data() + filled, kPlainBytes - filled, &got);
    if (result != 1) return {{plain_.data(), filled}, step_after(ssl, result)};
    filled += got;
  }
  return {{plain_.data(), filled}, Step::done};
}

bool TlsLayer::write(SlotIndex slot, std::string_view plain) {
  if (plain.empty()) return true;
  SSL* ssl = enter(slot);
  std::size_t written = 0;
  const int result = SSL_write_ex(ssl, plain.data(), plain.size(), &written);
  if (result == 1) return true;  // out() takes everything, so there is no part of it
  (void)step_after(ssl, result);
  return false;
}

void TlsLayer::say_end(SlotIndex slot) {
  SSL* ssl = enter(slot);
  if (ssl != nullptr && SSL_is_init_finished(ssl) == 1) SSL_shutdown(ssl);
}

// OpenSSL forbids a session to be resumed whose connection was not shut down; ours end by WebSocket's rules.
void TlsLayer::release(SlotIndex slot) noexcept {
  SSL*& ssl = slots_[slot].ssl;
  if (ssl == nullptr) return;
  (void)enter(slot);
  SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
  SSL_free(ssl);
  ssl = nullptr;
}

void TlsLayer::forget(SlotIndex slot) noexcept {
  if (sessions_.empty()) return;
  for (std::size_t host = 0; host < hosts_.size(); ++host)
    SSL_SESSION_free(std::exchange(session(slot, host), nullptr));
}

std::uint32_t TlsLayer::held() const noexcept {
  const auto connected = [](const Slot& slot) { return slot.ssl != nullptr; };
  const auto kept = [](const SSL_SESSION* session) { return session != nullptr; };
  return static_cast<std::uint32_t>(std::count_if(slots_.begin(), slots_.end(), connected) +
                                    std::count_if(sessions_.begin(), sessions_.end(), kept));
}

TlsLayer::Step TlsLayer::step_after(SSL* ssl, int result) {
  switch (SSL_get_error(ssl, result)) {
    case SSL_ERROR_WANT_READ: return Step::more;
    case SSL_ERROR_ZERO_RETURN: return Step::ended;
    default: explain(ssl); return Step::failed;
  }
}

void TlsLayer::explain(SSL* ssl) {
  const unsigned long error = ERR_peek_error();
  const int reason = ERR_GET_REASON(error);
  const char* words = ERR_reason_error_string(error);
  trouble_ = {Cause::tls_error, static_cast<std::uint32_t>(reason), words == nullptr ? "" : words};
  if (ERR_GET_LIB(error) != ERR_LIB_SSL) return;
  if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED) {
    const long code = SSL_get_verify_result(ssl);
    trouble_ = {cause_of_certificate(code), static_cast<std::uint32_t>(code), certificate_};
  } else if (reason >= kAlerts) {
    trouble_.cause = Cause::tls_alert;
    trouble_.detail = static_cast<std::uint32_t>(reason - kAlerts);
  } else if (is_not_tls(reason)) {
    trouble_.cause = Cause::not_tls;
    trouble_.detail = 0;
  }
}

}  // namespace onrush
