#include "core/plan_connection.h"

#include <fmt/format.h>

#include "core/plan_deflate.h"
#include "core/plan_graphql.h"
#include "core/plan_tls.h"
#include "core/plan_upgrade.h"
#include "core/template.h"

namespace onrush {
namespace {

// More often is no keeping alive but a load, which `repeat` and `send` make.
constexpr std::int64_t kShortestInterval_ns = 100'000'000;

std::int64_t read_interval(Reader& reader, const YamlNode& node, const std::string& what) {
  const auto interval_ns = reader.duration_ns(node, what, Zero::refused);
  if (interval_ns && *interval_ns < kShortestInterval_ns)
    reader.complain(node, fmt::format("{} is {}; at least 100ms", what, node.text));
  return interval_ns.value_or(1);
}

KeepAlive read_keep_alive(Reader& reader, const YamlNode& node) {
  const std::string what = "'ping' in 'connection'";
  KeepAlive ping;
  if (node.kind == YamlNode::Kind::scalar) {
    ping.interval_ns = ping.timeout_ns = read_interval(reader, node, what);
    return ping;
  }
  if (!reader.is_map(node, what, "{interval: 20s, timeout: 10s}")) return ping;
  Fields fields(reader, node, kKeepAliveKeys, what);
  if (const YamlNode* interval = fields.need("interval", "interval: 20s"))
    ping.interval_ns = read_interval(reader, *interval, fields.what("interval"));
  ping.timeout_ns = ping.interval_ns;
  const YamlNode* timeout = fields.find("timeout");
  if (timeout == nullptr) return ping;
  const auto timeout_ns = reader.duration_ns(*timeout, fields.what("timeout"), Zero::refused);
  if (timeout_ns && ping.interval_ns > 1 && *timeout_ns > ping.interval_ns)
    reader.complain(*timeout, fmt::format("{} is longer than the interval; a ping has its answer before the "
                                          "next one leaves",
                                          fields.what("timeout")));
  ping.timeout_ns = timeout_ns.value_or(ping.interval_ns);
  return ping;
}

// No message may show the text: it may hold a password.
std::optional<Proxy> read_proxy(Reader& reader, const YamlNode& node, const std::string& what) {
  const std::string* text = reader.text(node, what);
  if (text == nullptr) return std::nullopt;
  if (next_placeholder(*text, 0)) {
    reader.complain(node, fmt::format("{} is the same for all users; name a parameter", what));
    return std::nullopt;
  }
  auto proxy = parse_proxy(*text);
  if (!proxy) {
    reader.complain_within(node, proxy.error().offset, fmt::format("{}: {}", what, proxy.error().message));
    return std::nullopt;
  }
  return std::move(*proxy);
}

}  // namespace

Connection read_connection(Reader& reader, const YamlNode& node, const std::vector<Feed>& feeds) {
  Connection connection;
  if (!reader.is_map(node, "'connection'", "{headers: {Authorization: ...}}")) return connection;
  const Fields fields(reader, node, kConnectionKeys, "'connection'");
  if (const YamlNode* ping = fields.find("ping")) connection.ping = read_keep_alive(reader, *ping);
  if (const YamlNode* timeout = fields.find("timeout"))
    connection.timeout_ns =
        reader.duration_ns(*timeout, fields.what("timeout"), Zero::refused).value_or(connection.timeout_ns);
  connection.upgrade = read_upgrade_fields(reader, fields);
  if (const YamlNode* tls = fields.find("tls"))
    connection.tls = read_tls(reader, *tls, fields.what("tls"), feeds);
  if (const YamlNode* proxy = fields.find("proxy"))
    connection.proxy = read_proxy(reader, *proxy, fields.what("proxy"));
  if (const YamlNode* deflate = fields.find("deflate")) connection.deflate = read_deflate(reader, *deflate);
  connection.graphql = read_graphql_connection(reader, fields);
  if (!connection.graphql) return connection;
  if (const YamlNode* node = fields.find("subprotocols"))
    reader.complain(
        *node, fmt::format("{} beside 'protocol', which is what is offered", fields.what("subprotocols")));
  connection.upgrade.subprotocols.clear();
  for (const Subprotocol protocol : connection.graphql->offered)
    connection.upgrade.subprotocols.emplace_back(name(protocol));
  return connection;
}

}  // namespace onrush
