#include "core/plan_target.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "core/nearest.h"
#include "core/plan.h"

namespace onrush {
namespace {

// The address as the kernel writes it, so that one address is one text.
std::optional<std::string> numeric(const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  std::array<char, INET6_ADDRSTRLEN> written{};
  for (const int family : {AF_INET, AF_INET6})
    if (inet_pton(family, text.c_str(), bytes.data()) == 1)
      return inet_ntop(family, bytes.data(), written.data(), written.size());
  return std::nullopt;
}

Url read_url(Reader& reader, const YamlNode& node, const std::string& what) {
  const std::string* text = reader.text(node, what);
  if (text == nullptr) return {};
  if (const auto placeholder = next_placeholder(*text, 0)) {
    reader.complain_within(
        node, placeholder->begin,
        fmt::format("a '${{...}}' per message is not yet supported in {}; name a parameter", what));
    return {};
  }
  auto url = parse_url_at(*text);
  if (!url) {
    reader.complain_within(node, url.error().offset, fmt::format("{}: {}", what, url.error().message));
    return {};
  }
  return std::move(*url);
}

std::vector<std::string> read_addresses(Reader& reader, const YamlNode& node, const Url& url) {
  std::vector<std::string> addresses;
  const std::string what = "'resolve' in 'target'";
  if (!reader.is_list(node, what, "[192.0.2.1, \"2001:db8::1\"]")) return addresses;
  if (!url.host.empty() && numeric(url.host))
    reader.complain(node, fmt::format("{} is for a name, and {} is an address", what, quoted(url.host)));
  if (node.children.empty() || node.children.size() > kMostTargetAddresses)
    reader.complain(node, fmt::format("{} has {} addresses; write 1 to {}", what, node.children.size(),
                                      kMostTargetAddresses));
  for (const YamlNode* item : node.children) {
    const std::string* text = reader.text(*item, "an item of " + what);
    if (text == nullptr) continue;
    const auto address = numeric(*text);
    if (!address)
      reader.complain(
          *item, fmt::format("{} is not an IPv4 or IPv6 address; the port stands in 'url'", quoted(*text)));
    else if (std::find(addresses.begin(), addresses.end(), *address) != addresses.end())
      reader.complain(*item, fmt::format("{} has {} already", what, quoted(*text)));
    else
      addresses.push_back(*address);
  }
  return addresses;
}

Target read_target(Reader& reader, const YamlNode& node, const std::string& what) {
  Target target;
  if (node.kind != YamlNode::Kind::map) return target.url = read_url(reader, node, what), target;
  Fields fields(reader, node, kTargetKeys, "'target'");
  if (const YamlNode* url = fields.need("url", "url: ws://127.0.0.1:8088/echo"))
    target.url = read_url(reader, *url, fields.what("url"));
  if (const YamlNode* weight = fields.find("weight")) {
    const auto count = reader.count(*weight, fields.what("weight"), Zero::refused);
    if (count && *count > kMostWeight)
      reader.complain(*weight,
                      fmt::format("{} is {}; at most {}", fields.what("weight"), *count, kMostWeight));
    target.weight = static_cast<std::uint32_t>(std::min<std::uint64_t>(count.value_or(1), kMostWeight));
  }
  if (const YamlNode* addresses = fields.find("resolve"))
    target.addresses = read_addresses(reader, *addresses, target.url);
  return target;
}

}  // namespace

std::vector<Target> dialled(const Plan& plan) {
  if (!plan.connection.proxy) return plan.targets;
  return {Target{.url = plan.connection.proxy->url}};
}

std::vector<Target> read_targets(Reader& reader, const YamlNode& node) {
  if (node.kind != YamlNode::Kind::sequence) return {read_target(reader, node, "'target'")};
  if (node.children.empty() || node.children.size() > kMostTargets) {
    reader.complain(node,
                    fmt::format("'target' has {} items; write 1 to {}", node.children.size(), kMostTargets));
    return {Target{}};
  }
  std::vector<Target> targets;
  for (const YamlNode* item : node.children) {
    targets.push_back(read_target(reader, *item, "an item of 'target'"));
    const Url& url = targets.back().url;
    const Url& first = targets.front().url;
    if (url.text.empty() || first.text.empty()) continue;  // a mistake that was told
    if (url.secure != first.secure)
      reader.complain(*item, "some targets are ws:// and some wss://; write all alike");
  }
  return targets;
}

std::vector<Target> read_given_target(Reader& reader, const std::string& text) {
  const auto refuse = [&](const std::string& why) {
    reader.add({0, 0, fmt::format("--target {}: {}", text.substr(0, 200), why)});
  };
  auto url = parse_url(text);
  if (!url) return refuse(url.error()), std::vector{Target{}};
  return {Target{.url = std::move(*url)}};
}

}  // namespace onrush
