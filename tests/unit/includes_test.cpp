// The direction of dependencies (docs/architecture.md), held against every #include of the sources.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

/// Files whose path (from the checkout) matches `files` may not include what matches `headers`, unless their
/// path matches `except`.
struct Rule {
  const char* why;
  const char* files;
  const char* headers;
  const char* except;
};

const Rule kRules[] = {
    {"core decides and depends on nothing of ours", "core/.*",
     "(agent|coordinator|proto|target-servers|tests)/.*", "-"},
    {"conversions know core alone", "proto/.*", "(agent|coordinator|target-servers|tests)/.*", "-"},
    {"agent and coordinator meet only in core and proto", "agent/.*", "(coordinator|target-servers|tests)/.*",
     "-"},
    {"agent and coordinator meet only in core and proto", "coordinator/.*", "(agent|target-servers|tests)/.*",
     "-"},
    {"a target is an independent witness", "target-servers/.*", "(core|agent|coordinator|proto|tests)/.*",
     "-"},
    {"core has no clock, thread, socket, file or log", "core/.*",
     "chrono|ctime|time\\.h|thread|mutex|shared_mutex|condition_variable|future|semaphore|iostream|fstream|"
     "unistd\\.h|"
     "(sys|netinet)/(?!types\\.h|mman\\.h|in\\.h).*|poll\\.h|signal\\.h|random|spdlog/.*|boost/asio.*",
     "-"},
    {"YAML is read in one place", ".*", "yaml-cpp/.*", "core/(plan_)?yaml.*|core/plan_.*"},
    {"prometheus-cpp is named in the exposition only", ".*", "prometheus/.*", "coordinator/exposition.*"},
    {"epoll is known to the epoll network only", ".*", "sys/epoll\\.h",
     "agent/[a-z_]*epoll.*|target-servers/.*"},
    {"Beast serves where connections are few, never the engine", "agent/.*", "boost/.*", "-"},
    {"generated messages stay in the conversions and at the edges", "(core|agent|coordinator|proto)/.*",
     "grpcpp/.*|grpc/.*|google/protobuf/.*|.*\\.pb\\.h",
     "proto/.*|agent/control_.*|coordinator/"
     "(coordinator\\.cpp|services?[a-z_]*\\..*|[a-z_]*client[a-z_]*\\..*)"},
};

/// The header names that a source includes, in order.
std::vector<std::string> includes_of(std::istream& source) {
  static const std::regex directive{R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])"};
  std::vector<std::string> found;
  std::smatch match;
  for (std::string line; std::getline(source, line);)
    if (std::regex_search(line, match, directive)) found.push_back(match[1]);
  return found;
}

bool matches(const std::string& text, const char* pattern) {
  return std::regex_match(text, std::regex{pattern});
}

/// One sentence for each rule that `file` breaks.
std::vector<std::string> broken_rules(const std::string& file, std::istream& source) {
  std::vector<std::string> broken;
  for (const std::string& header : includes_of(source))
    for (const Rule& rule : kRules)
      if (matches(file, rule.files) && matches(header, rule.headers) && !matches(file, rule.except))
        broken.push_back(fmt::format("{} includes {}, but {}", file, header, rule.why));
  return broken;
}

std::vector<std::string> broken_rules(const std::string& file, const std::string& text) {
  std::istringstream source{text};
  return broken_rules(file, source);
}

TEST(Includes, PointOneWayOnly) {
  const fs::path checkout = ONRUSH_SOURCE_DIR;
  std::size_t files = 0;
  for (const char* folder : {"core", "proto", "agent", "coordinator", "target-servers"})
    for (const auto& entry : fs::recursive_directory_iterator(checkout / folder)) {
      const fs::path& path = entry.path();
      if (path.extension() != ".h" && path.extension() != ".cpp") continue;
      ++files;
      std::ifstream source{path};
      for (const std::string& sentence : broken_rules(fs::relative(path, checkout).string(), source))
        ADD_FAILURE() << sentence;
    }
  EXPECT_GT(files, 20u);
}

TEST(Includes, EveryRuleCatchesWhatItForbids) {
  const std::pair<const char*, const char*> cases[] = {
      {"core/run.cpp", "#include <chrono>\n"},
      {"core/run.cpp", "#include \"agent/worker.h\"\n"},
      {"core/url.cpp", "#include <sys/socket.h>\n"},
      {"core/url.cpp", "  #  include  <yaml-cpp/yaml.h>\n"},
      {"proto/convert.cpp", "#include \"coordinator/fleet.h\"\n"},
      {"agent/worker.cpp", "#include \"coordinator/fleet.h\"\n"},
      {"agent/worker.cpp", "#include <sys/epoll.h>\n"},
      {"agent/worker.cpp", "#include <boost/beast.hpp>\n"},
      {"agent/worker.cpp", "#include \"control.pb.h\"\n"},
      {"coordinator/fleet.cpp", "#include \"agent/worker.h\"\n"},
      {"coordinator/fleet.cpp", "#include <prometheus/registry.h>\n"},
      {"coordinator/fleet.cpp", "#include <grpcpp/grpcpp.h>\n"},
      {"target-servers/beast/main.cpp", "#include \"core/frame.h\"\n"},
  };
  for (const auto& [file, text] : cases)
    EXPECT_EQ(broken_rules(file, text).size(), 1u) << file << ": " << text;
}

TEST(Includes, AllowedOnesAreLeftAlone) {
  EXPECT_TRUE(broken_rules("core/plan_yaml.cpp", "#include <yaml-cpp/yaml.h>\n").empty());
  EXPECT_TRUE(broken_rules("agent/control_link.cpp", "#include <grpcpp/grpcpp.h>\n").empty());
  EXPECT_TRUE(broken_rules("coordinator/exposition.cpp", "#include <prometheus/registry.h>\n").empty());
  EXPECT_TRUE(
      broken_rules("agent/worker.cpp", "// #include \"coordinator/fleet.h\" would be wrong\n").empty());
}

}  // namespace
