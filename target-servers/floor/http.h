// The opening request, and the answers that are no WebSocket.
//
// Owner: the worker. Always: a head that does not end within kMaxHeadBytes is refused.
#pragma once

#include <openssl/evp.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace target {

inline constexpr std::size_t kMaxHeadBytes = 8192;

/// Points into the text that it was read from.
struct Request {
  std::string_view method;
  std::string_view path;  ///< without a query
  std::string_view key;   ///< of an upgrade; empty: not one, or not one of ours
  bool keep_alive = false;
  bool has_body = false;
};

/// `head` ends with its empty line. A head that is no HTTP has no method.
[[nodiscard]] Request read_request(std::string_view head);

[[nodiscard]] std::string answer(std::string_view status, std::string_view type, std::string_view body,
                                 bool keep_alive);

/// Answers keys. One digest context for all: to fetch the algorithm takes longer than to use it.
class Acceptor {
 public:
  Acceptor();

  /// Appends the whole 101.
  void append_answer(std::string& out, std::string_view key);

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
    void operator()(EVP_MD* digest) const { EVP_MD_free(digest); }
  };
  std::unique_ptr<EVP_MD, Free> sha1_;
  std::unique_ptr<EVP_MD_CTX, Free> context_;
};

}  // namespace target
