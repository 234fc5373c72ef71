#include "core/plan_deflate.h"

#include <fmt/format.h>

#include "core/nearest.h"
#include "core/units.h"

namespace onrush {
namespace {

std::optional<bool> yes_or_no(const YamlNode& node) {
  if (node.kind != YamlNode::Kind::scalar) return std::nullopt;
  if (node.text == "true") return true;
  if (node.text == "false") return false;
  return std::nullopt;
}

std::string shown(const YamlNode& node) {
  return node.kind == YamlNode::Kind::scalar ? quoted(node.text) : "no word";
}

std::optional<std::uint8_t> read_bits(Reader& reader, const YamlNode& node, const std::string& what,
                                      std::string_view instead) {
  const auto bits = parse_count(node.kind == YamlNode::Kind::scalar ? std::string_view{node.text} : "");
  if (bits && *bits >= kMinWindowBits && *bits <= kMaxWindowBits) return static_cast<std::uint8_t>(*bits);
  reader.complain(node,
                  fmt::format("{} is {}; write {} (a window of 2^bits bytes)", what, shown(node), instead));
  return std::nullopt;
}

}  // namespace

std::optional<DeflateOffer> read_deflate(Reader& reader, const YamlNode& node) {
  if (const std::optional<bool> said = yes_or_no(node))
    return *said ? std::optional{DeflateOffer{}} : std::nullopt;
  DeflateOffer offer;
  if (node.kind != YamlNode::Kind::map) {
    reader.complain(node, fmt::format("'deflate' in 'connection' is {}; write true, false or a map, as "
                                      "{{server_no_context_takeover: true}}",
                                      shown(node)));
    return offer;
  }
  const Fields fields(reader, node, kDeflateKeys, "'deflate'");
  offer.client_no_context_takeover = fields.answer("client_no_context_takeover", false);
  offer.server_no_context_takeover = fields.answer("server_no_context_takeover", false);
  if (const YamlNode* bits = fields.find("server_max_window_bits"))
    offer.server_max_window_bits = read_bits(reader, *bits, fields.what("server_max_window_bits"), "8 to 15");
  if (const YamlNode* bits = fields.find("client_max_window_bits")) {
    const std::optional<bool> said = yes_or_no(*bits);
    offer.client_window = said.value_or(true);
    if (!said)
      offer.client_max_window_bits =
          read_bits(reader, *bits, fields.what("client_max_window_bits"), "8 to 15, true or false");
  }
  return offer;
}

}  // namespace onrush
