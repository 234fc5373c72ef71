// TLS as a client, without a socket: bytes of the wire go in and plain bytes come out, and the other way
// round.
//
// Why without: the worker reads and writes the socket as it always does, so the same code runs over epoll and
// in the simulation, nothing waits unseen inside the library after a read, and an idle connection owns no
// buffer (SSL_MODE_RELEASE_BUFFERS). One context for each host of the plan and one BIO serve all connections
// of a worker, for the library is only ever busy with one of them. Owner: one worker; made only for plans
// that speak wss. Always: what the library wants to send lies in out() and nowhere else; bytes given to
// take_in() are used up by handshake() and read() before any other connection's; a session is resumed only
// with the host that gave it, and only by whom it was given to.
#pragma once

#include <openssl/ssl.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/tls_identity.h"
#include "core/expected.h"
#include "core/failure.h"
#include "core/session.h"
#include "core/target.h"
#include "core/tls.h"

namespace onrush {

class TlsLayer {
 public:
  /// For the sessions of a slab with that many slots. `targets`: of the plan. `identities`: that users may
  /// show. Errors: settings that this OpenSSL does not take.
  static Expected<std::unique_ptr<TlsLayer>, std::string> make(
      const Tls& tls, const std::vector<Target>& targets, std::uint32_t slots,
      const std::vector<ClientIdentity>& identities = {});
  ~TlsLayer();
  TlsLayer(const TlsLayer&) = delete;
  TlsLayer& operator=(const TlsLayer&) = delete;

  /// How far a call has come.
  enum class Step : std::uint8_t {
    done,    ///< handshake: secured; read: the buffer is full, so there may be more
    more,    ///< everything was used up: more bytes of the wire are needed
    ended,   ///< the peer's close_notify
    failed,  ///< trouble() says why; an alert for the peer may lie in out()
  };

  /// A new connection in this slot to a target of the plan; with its user's last session there if the plan
  /// resumes. `identity`: what he shows, nullptr what all show.
  [[nodiscard]] bool begin(SlotIndex slot, std::size_t target, const ClientIdentity* identity = nullptr);
  [[nodiscard]] bool begun(SlotIndex slot) const noexcept { return slots_[slot].ssl != nullptr; }
  /// What has come off the wire; must stay until it is used up.
  void take_in(std::span<const std::uint8_t> bytes) noexcept { input_ = bytes; }
  [[nodiscard]] Step handshake(SlotIndex slot);
  /// True if the handshake went on with an earlier session instead of a certificate.
  [[nodiscard]] bool resumed(SlotIndex slot) const noexcept {
    return SSL_session_reused(slots_[slot].ssl) == 1;
  }

  struct Plain {
    std::span<const std::uint8_t> bytes;  ///< until the next read; padded for the JSON reader
    Step step;                            ///< what comes behind them
  };
  [[nodiscard]] Plain read(SlotIndex slot);
  /// Appends to out(). False: failed.
  [[nodiscard]] bool write(SlotIndex slot, std::string_view plain);
  /// Appends a close_notify to out().
  void say_end(SlotIndex slot);
  /// The connection is over; its session is kept for the user's next one with that host.
  void release(SlotIndex slot) noexcept;
  /// The slot's next user is another.
  void forget(SlotIndex slot) noexcept;

  /// Bytes for the wire: the caller sends and clears them after each call above.
  [[nodiscard]] std::string& out() noexcept { return out_; }

  struct Trouble {
    Cause cause = Cause::none;
    std::uint32_t detail = 0;
    std::string sample;
  };
  [[nodiscard]] const Trouble& trouble() const noexcept { return trouble_; }
  /// Connections and kept sessions, for tests of the invariants.
  [[nodiscard]] std::uint32_t held() const noexcept;

 private:
  struct Slot {
    SSL* ssl = nullptr;
    const ClientIdentity* identity = nullptr;  ///< of its last connection
  };
  /// Everything by which a certificate is judged is the context's, so that no connection has to be told.
  struct Host {
    std::string name;
    std::string sni;  ///< "" = none
    SSL_CTX* context = nullptr;
  };
  static constexpr std::size_t kPlainBytes = 64 * 1024;

  explicit TlsLayer(std::uint32_t slots);
  [[nodiscard]] std::string configure(const Tls& tls, const std::vector<Target>& targets);
  [[nodiscard]] std::string add_host(const Tls& tls, const std::string& name);
  [[nodiscard]] std::string try_out(const std::vector<ClientIdentity>& identities);
  /// The newest session that the host gave the slot's user. Only of a plan that resumes.
  [[nodiscard]] SSL_SESSION*& session(SlotIndex slot, std::size_t host) noexcept {
    return sessions_[slot * hosts_.size() + host];
  }
  [[nodiscard]] bool make_bio();
  [[nodiscard]] SSL* enter(SlotIndex slot) noexcept;
  [[nodiscard]] Step step_after(SSL* ssl, int result);
  void explain(SSL* ssl);

  static TlsLayer& of(const SSL* ssl) noexcept;
  static int bio_write(BIO* bio, const char* bytes, int length) noexcept;
  static int bio_read(BIO* bio, char* into, int length) noexcept;
  static long bio_control(BIO* bio, int command, long number, void* pointer) noexcept;
  static int on_session(SSL* ssl, SSL_SESSION* session) noexcept;
  static int on_certificate(int good, X509_STORE_CTX* store) noexcept;

  std::vector<Host> hosts_;
  std::vector<std::uint16_t> host_of_target_;
  BIO_METHOD* method_ = nullptr;
  BIO* bio_ = nullptr;
  std::vector<Slot> slots_;
  std::vector<SSL_SESSION*> sessions_;  ///< by slot and host; empty unless the plan resumes
  std::span<const std::uint8_t> input_;
  std::string out_;
  std::vector<std::uint8_t> plain_;
  SlotIndex current_ = 0;  ///< whom the library is busy with
  Trouble trouble_;
  std::string certificate_;  ///< why the last certificate was refused, and whose it is
};

}  // namespace onrush
