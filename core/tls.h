// What a plan says of TLS: `connection: {tls: ...}`, checked.
//
// Owner: part of a Plan; immutable. Always: certificate and key are there both or neither, and fit each
// other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/plan_files.h"
#include "core/tls_identities.h"
#include "core/url.h"

namespace onrush {

enum class TlsVersion : std::uint8_t { v1_2, v1_3 };

struct Tls {
  bool verify = true;   ///< false: any certificate passes
  bool resume = false;  ///< a user who connects again goes on with the TLS session that he had
  TlsVersion min_version = TlsVersion::v1_2;
  std::string server_name;  ///< for SNI and the check of the certificate; "" = the target's host
  std::string ciphers;      ///< suites that are offered, by OpenSSL's names, with ':' between; "" = its own
  FileContent ca = {};      ///< PEM: who may sign the target's certificate; none: whom the system trusts
  FileContent certificate = {};               ///< PEM: ours, and its chain behind it; none: we show none
  FileContent key = {};                       ///< PEM: of our certificate
  std::optional<TlsIdentities> by_feed = {};  ///< instead of the two: each user shows his own
};

/// The name that the certificate must have: the plan's own or the target's host, without the dot at the end
/// that belongs to DNS alone (RFC 6066 section 3).
[[nodiscard]] std::string certificate_name(const Tls& tls, const Url& target);

/// An IPv4 or IPv6 address in digits: such a name is never sent as SNI (RFC 6066 section 3).
[[nodiscard]] bool is_address(const std::string& name);

}  // namespace onrush
