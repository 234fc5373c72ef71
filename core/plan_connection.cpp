#include "core/plan_connection.h"

namespace onrush {

Connection read_connection(Reader& reader, const YamlNode& node) {
  Connection connection;
  if (!reader.is_map(node, "'connection'", "{headers: {Authorization: ...}}")) return connection;
  const Fields fields(reader, node, kConnectionKeys, "'connection'");
  return connection;
}

}  // namespace onrush
