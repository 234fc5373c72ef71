// Certificates and keys in PEM (RFC 7468): what is wrong with a file, said before a run begins.
//
// Why: OpenSSL's own words ("no start line") come too late, on another machine, and name no way out. Owner:
// any thread; pure.
#pragma once

#include <string>

namespace onrush {

/// Bytes of a file, and certificates in it.
inline constexpr std::size_t kMostPemBytes = std::size_t{4} << 20;

/// Certificates, at least one. "" if they are good, else what is wrong and what to do: "holds no certificate;
/// ..."; to be said after the file's name.
[[nodiscard]] std::string mistake_in_certificates(const std::string& pem);

/// The private key of the first of these good certificates. "" if it is.
[[nodiscard]] std::string mistake_in_key(const std::string& pem, const std::string& certificates);

}  // namespace onrush
