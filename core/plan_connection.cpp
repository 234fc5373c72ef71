#include "core/plan_connection.h"

#include "core/plan_tls.h"
#include "core/plan_upgrade.h"

namespace onrush {

Connection read_connection(Reader& reader, const YamlNode& node) {
  Connection connection;
  if (!reader.is_map(node, "'connection'", "{headers: {Authorization: ...}}")) return connection;
  const Fields fields(reader, node, kConnectionKeys, "'connection'");
  connection.upgrade = read_upgrade_fields(reader, fields);
  if (const YamlNode* tls = fields.find("tls")) connection.tls = read_tls(reader, *tls, fields.what("tls"));
  return connection;
}

}  // namespace onrush
