// Client certificates, parsed: whom a user shows himself as when the target asks.
//
// Why: parsing a certificate and its key costs as much as half a handshake, so each is parsed once, before
// the run, however many users and workers show it; a connection takes references only. Owner: the agent's
// program; immutable once made, read by all workers (OpenSSL counts references atomically).
#pragma once

#include <openssl/ssl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/expected.h"
#include "core/feed_table.h"
#include "core/plan.h"

namespace onrush {

class ClientIdentity {
 public:
  /// Errors: no certificate, no key, one that is not the other's. `name` tells it from others in messages.
  static Expected<ClientIdentity, std::string> parse(std::string name, const std::string& certificates,
                                                     const std::string& key);

  /// For all connections of the context, or for one. False: this OpenSSL takes it for too weak.
  [[nodiscard]] bool show(SSL_CTX* context) const noexcept;
  [[nodiscard]] bool show(SSL* connection) const noexcept;
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  struct Free {
    void operator()(X509* certificate) const noexcept { X509_free(certificate); }
    void operator()(EVP_PKEY* key) const noexcept { EVP_PKEY_free(key); }
    void operator()(STACK_OF(X509) * chain) const noexcept { sk_X509_pop_free(chain, X509_free); }
  };
  explicit ClientIdentity(std::string name) : name_{std::move(name)} {}

  std::string name_;
  std::unique_ptr<X509, Free> certificate_;
  std::unique_ptr<EVP_PKEY, Free> key_;
  std::unique_ptr<STACK_OF(X509), Free> chain_;  ///< issuers, sent behind it
};

/// Those of a plan whose feed gives each user its own; none if it has no such feed.
class ClientIdentities {
 public:
  /// `feeds`: this agent's rows. `files`: that came with the plan.
  static Expected<ClientIdentities, std::string> load(const Plan& plan, const std::vector<FeedTable>& feeds,
                                                      const PlanFiles& files);

  /// What the user shows who has these rows, one a feed; nullptr: nothing of his own.
  [[nodiscard]] const ClientIdentity* of(const std::uint32_t* rows) const noexcept {
    return by_row_.empty() ? nullptr : &all_[by_row_[rows[feed_]]];
  }
  [[nodiscard]] const std::vector<ClientIdentity>& all() const noexcept { return all_; }

 private:
  std::uint32_t feed_ = 0;
  std::vector<ClientIdentity> all_;    ///< each once
  std::vector<std::uint32_t> by_row_;  ///< of the feed: places in all_
};

}  // namespace onrush
