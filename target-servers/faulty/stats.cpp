#include "target-servers/faulty/stats.h"

#include <unistd.h>

namespace target {
namespace {

std::string member(const char* name, std::int64_t value) {
  return "\"" + std::string{name} + "\":" + std::to_string(value);
}

std::string json_of(const PathStats& path) {
  std::string closes;
  for (const auto& [code, count] : path.closes)
    closes += (closes.empty() ? "" : ",") + member(std::to_string(code).c_str(), count);
  return "{" + member("requests", path.requests) + "," + member("opened", path.opened) + "," +
         member("messages_in", path.messages_in) + "," + member("messages_out", path.messages_out) + "," +
         member("pongs", path.pongs) + "," + member("unmasked_frames", path.unmasked_frames) +
         ",\"closes\":{" + closes + "}}";
}

}  // namespace

std::string Stats::json() const {
  const std::lock_guard lock{mutex_};
  std::int64_t messages_in = 0;
  std::int64_t messages_out = 0;
  std::string paths;
  for (const auto& [name, path] : paths_) {
    messages_in += path.messages_in;
    messages_out += path.messages_out;
    paths += (paths.empty() ? "\"" : ",\"") + name + "\":" + json_of(path);
  }
  return "{" + member("pid", getpid()) +
         ",\"runtime\":\"plain sockets\",\"version\":\"" ONRUSH_VERSION "\"," +
         member("connections", connections_) + "," + member("messages_in", messages_in) + "," +
         member("messages_out", messages_out) + ",\"paths\":{" + paths + "}}\n";
}

}  // namespace target
