// GraphQL over WebSocket, the client's side of both protocols: their names, their messages out and in.
//
// `graphql-transport-ws` is the protocol of the npm library graphql-ws (its PROTOCOL.md); `graphql-ws` is the
// older one of subscriptions-transport-ws, which is why the names are crossed so often. Owner: pure; a reader
// belongs to one worker. Always: whatever a server sends is a message of a known type or GraphqlType::none;
// ids are ours only if they are written as we write them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/json_field.h"

namespace onrush {

enum class Subprotocol : std::uint8_t { graphql_transport_ws, graphql_ws };
inline constexpr std::array<std::string_view, 2> kSubprotocolNames{"graphql-transport-ws", "graphql-ws"};
[[nodiscard]] constexpr std::string_view name(Subprotocol protocol) noexcept {
  return kSubprotocolNames[static_cast<std::size_t>(protocol)];
}

/// Types of messages of both protocols, by the name that they have on the wire.
enum class GraphqlType : std::uint8_t {
  none,  ///< not a message of either protocol
  connection_init,
  connection_ack,
  connection_error,
  connection_terminate,
  ka,
  ping,
  pong,
  subscribe,
  start,
  next,
  data,
  error,
  complete,
  stop,
};
inline constexpr std::size_t kGraphqlTypes = 15;
[[nodiscard]] std::string_view name(GraphqlType type) noexcept;

/// The words in which one of the protocols says the same.
struct GraphqlWords {
  GraphqlType subscribe;
  GraphqlType result;
  GraphqlType complete;  ///< as we say it
};
[[nodiscard]] constexpr GraphqlWords words_of(Subprotocol protocol) noexcept {
  return protocol == Subprotocol::graphql_transport_ws
             ? GraphqlWords{GraphqlType::subscribe, GraphqlType::next, GraphqlType::complete}
             : GraphqlWords{GraphqlType::start, GraphqlType::data, GraphqlType::stop};
}

/// A server's message may be of this type under the protocol.
[[nodiscard]] bool server_may_send(Subprotocol protocol, GraphqlType type) noexcept;

/// A close code of graphql-transport-ws in words ("subscriber already exists"), or nullptr.
[[nodiscard]] const char* graphql_close_words(std::uint32_t code) noexcept;

/// Begins a message: {"id":"7","type":"subscribe","payload":  The caller appends the payload and a '}'.
void begin_graphql_operation(GraphqlType type, std::uint32_t id, std::string& out);
/// A whole message without payload; `id` 0: without an id too.
void append_graphql_message(GraphqlType type, std::uint32_t id, std::string& out);

struct GraphqlMessage {
  GraphqlType type = GraphqlType::none;
  std::uint32_t id = 0;           ///< 0: none, or one that we cannot have given
  bool has_payload = false;       ///< of a next or data: an object
  bool has_errors = false;        ///< of a next or data: its payload has a list of errors
  std::string_view payload = {};  ///< as it is written, of a ping; valid until the reader's next call
};

class GraphqlReader {
 public:
  /// JSON nested deeper is no message.
  static constexpr std::size_t kDeepest = 256;

  /// Reads a message; `json` then holds it, so that more members can be asked for. At least kJsonPadding
  /// readable bytes must follow.
  [[nodiscard]] GraphqlMessage read(JsonReader& json, std::span<const std::uint8_t> message) const;

 private:
  JsonPointer type_ = JsonPointer::parse("/type").value();
  JsonPointer id_ = JsonPointer::parse("/id").value();
  JsonPointer payload_ = JsonPointer::parse("/payload").value();
  JsonPointer errors_ = JsonPointer::parse("/payload/errors").value();
};

}  // namespace onrush
