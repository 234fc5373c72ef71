#include "core/graphql.h"

#include <algorithm>
#include <charconv>

namespace onrush {
namespace {

// A message shorter than this cannot be nested too deep to matter, and is not looked through for it.
constexpr std::size_t kShort = 2 * GraphqlReader::kDeepest;

// Looks at brackets outside strings alone: all else is the JSON reader's to judge.
bool is_too_deep(std::string_view json) noexcept {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > GraphqlReader::kDeepest) return true;
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    }
  }
  return false;
}

// In the order of GraphqlType.
constexpr std::array<std::string_view, kGraphqlTypes> kTypes{"",
                                                             "connection_init",
                                                             "connection_ack",
                                                             "connection_error",
                                                             "connection_terminate",
                                                             "ka",
                                                             "ping",
                                                             "pong",
                                                             "subscribe",
                                                             "start",
                                                             "next",
                                                             "data",
                                                             "error",
                                                             "complete",
                                                             "stop"};
static_assert(static_cast<std::size_t>(GraphqlType::stop) + 1 == kGraphqlTypes);

GraphqlType type_named(std::string_view name) noexcept {
  const auto found = std::find(kTypes.begin() + 1, kTypes.end(), name);
  return found == kTypes.end() ? GraphqlType::none : static_cast<GraphqlType>(found - kTypes.begin());
}

std::uint32_t id_of(std::string_view text) noexcept {
  std::uint32_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  const bool ours = error == std::errc{} && end == text.data() + text.size() && text.front() != '0';
  return ours ? id : 0;
}

}  // namespace

std::string_view name(GraphqlType type) noexcept { return kTypes[static_cast<std::size_t>(type)]; }

bool server_may_send(Subprotocol protocol, GraphqlType type) noexcept {
  const bool modern = protocol == Subprotocol::graphql_transport_ws;
  switch (type) {
    case GraphqlType::connection_ack:
    case GraphqlType::error:
    case GraphqlType::complete: return true;
    case GraphqlType::ping:
    case GraphqlType::pong:
    case GraphqlType::next: return modern;
    case GraphqlType::ka:
    case GraphqlType::connection_error:
    case GraphqlType::data: return !modern;
    default: return false;
  }
}

const char* graphql_close_words(std::uint32_t code) noexcept {
  switch (code) {
    case 4400: return "bad request";
    case 4401: return "unauthorized";
    case 4403: return "forbidden";
    case 4406: return "subprotocol not acceptable";
    case 4408: return "connection initialisation timeout";
    case 4409: return "subscriber already exists";
    case 4429: return "too many initialisation requests";
    case 4500: return "internal server error";
    default: return nullptr;
  }
}

void begin_graphql_operation(GraphqlType type, std::uint32_t id, std::string& out) {
  std::array<char, 10> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), id).ptr;
  out += "{\"id\":\"";
  out.append(digits.data(), end);
  out += "\",\"type\":\"";
  out += name(type);
  out += "\",\"payload\":";
}

void append_graphql_message(GraphqlType type, std::uint32_t id, std::string& out) {
  std::array<char, 10> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), id).ptr;
  out += '{';
  if (id != 0) {
    out += "\"id\":\"";
    out.append(digits.data(), end);
    out += "\",";
  }
  out += "\"type\":\"";
  out += name(type);
  out += "\"}";
}

GraphqlMessage GraphqlReader::read(JsonReader& json, std::span<const std::uint8_t> message) const {
  GraphqlMessage read;
  if (message.size() > kShort && is_too_deep({reinterpret_cast<const char*>(message.data()), message.size()}))
    return read;
  if (!json.begin(message)) return read;
  if (const auto type = json.string(type_)) read.type = type_named(*type);
  if (read.type == GraphqlType::none) return read;
  switch (read.type) {
    case GraphqlType::next:
    case GraphqlType::data:
    case GraphqlType::error:
    case GraphqlType::complete:
      if (const auto id = json.string(id_); id && !id->empty()) read.id = id_of(*id);
      break;
    default: break;
  }
  if (read.type == GraphqlType::next || read.type == GraphqlType::data) {
    read.has_payload = json.is_object(payload_);
    const auto errors = json.raw(errors_);
    read.has_errors = errors && *errors != "null";
  } else if (read.type == GraphqlType::ping || read.type == GraphqlType::complete) {
    const auto payload = json.raw(payload_);
    read.has_payload = payload && *payload != "null";
    if (read.has_payload) read.payload = *payload;
  }
  return read;
}

}  // namespace onrush
