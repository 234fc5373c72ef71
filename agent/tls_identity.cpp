#include "agent/tls_identity.h"

#include <fmt/format.h>

#include <map>

#include "core/pem_reading.h"

namespace onrush {
// The plan's reader has looked at these files already (core/pem), so it needs no words of its own.
Expected<ClientIdentity, std::string> ClientIdentity::parse(std::string name, const std::string& certificates,
                                                            const std::string& key) {
  ClientIdentity identity{std::move(name)};
  const auto refuse = [&identity] {
    return Unexpected{fmt::format("certificate '{}' cannot be used: {}", identity.name_, openssl_says())};
  };
  ERR_clear_error();
  const Bio from = reading(certificates);
  identity.certificate_.reset(next_certificate(from.get()).release());
  identity.chain_.reset(sk_X509_new_null());
  if (identity.certificate_ == nullptr || identity.chain_ == nullptr) return refuse();
  while (X509Ptr issuer = next_certificate(from.get())) sk_X509_push(identity.chain_.get(), issuer.release());
  ERR_clear_error();
  const Bio beside = reading(key);
  bool asked = false;
  identity.key_.reset(read_key(beside.get(), asked).release());
  if (identity.key_ == nullptr ||
      X509_check_private_key(identity.certificate_.get(), identity.key_.get()) != 1)
    return refuse();
  return identity;
}

bool ClientIdentity::show(SSL_CTX* context) const noexcept {
  return SSL_CTX_use_cert_and_key(context, certificate_.get(), key_.get(), chain_.get(), 1) == 1;
}

bool ClientIdentity::show(SSL* connection) const noexcept {
  return SSL_use_cert_and_key(connection, certificate_.get(), key_.get(), chain_.get(), 1) == 1;
}

Expected<ClientIdentities, std::string> ClientIdentities::load(const Plan& plan,
                                                               const std::vector<FeedTable>& feeds,
                                                               const PlanFiles& files) {
  ClientIdentities identities;
  const auto& by_feed = plan.connection.tls.by_feed;
  if (!by_feed) return identities;
  const FeedTable& table = feeds[by_feed->feed];
  const auto content = [&files](const std::string& name) -> Expected<const std::string*, std::string> {
    const auto found = files.find(name);
    if (found == files.end()) return Unexpected{fmt::format("file '{}' did not come with the plan", name)};
    return found->second.get();
  };
  std::map<IdentityFiles, std::uint32_t> known;
  std::vector<std::string_view> row(plan.data[by_feed->feed].columns.size());
  for (std::uint32_t r = 0; r < table.rows(); ++r) {
    for (std::uint32_t column = 0; column < row.size(); ++column) row[column] = table.value(r, column);
    IdentityFiles named = files_of_row(*by_feed, row);
    const auto place = static_cast<std::uint32_t>(identities.all_.size());
    const auto [entry, is_new] = known.emplace(std::move(named), place);
    identities.by_row_.push_back(entry->second);
    if (!is_new) continue;
    const auto certificate = content(entry->first.certificate);
    if (!certificate) return Unexpected{certificate.error()};
    const auto key = content(entry->first.key);
    if (!key) return Unexpected{key.error()};
    auto parsed = ClientIdentity::parse(entry->first.certificate, **certificate, **key);
    if (!parsed) return Unexpected{parsed.error()};
    identities.all_.push_back(std::move(*parsed));
  }
  identities.feed_ = by_feed->feed;
  return identities;
}

}  // namespace onrush
