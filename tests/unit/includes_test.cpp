// The directions of dependency that docs/architecture.md promises, checked over the sources: linking enforces
// those between our own folders, this also those on packages and on the system.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace onrush {
namespace {

using testing::IsEmpty;

const std::filesystem::path kSource = ONRUSH_SOURCE_DIR;

/// What only some files may include.
struct Reserved {
  const char* included;  ///< expression over the included name
  const char* by;        ///< expression over the path of the file that may
  const char* reason;
};

constexpr Reserved kReserved[] = {
    {"(core/).*", "(core|proto|agent|coordinator|tests)/.*", "target servers are independent of our code"},
    {"(agent/).*", "(agent|tests)/.*", "only the agent is made of the engine"},
    {"(coordinator/).*", "(coordinator|tests)/.*", "only the coordinator is made of its parts"},
    {"(proto/).*", "(proto/.*|agent/(main|control_link).*|coordinator/.*|tests/.*)",
     "the engine and core know no wire"},
    {"(tests/).*", "tests/.*", "the product does not need its tests"},
    {".*\\.pb\\.h|google/protobuf/.*|grpc.*",
     "(proto/.*|agent/control_link.*|coordinator/[a-z_]*(service|client)[a-z_]*\\..*|tests/.*)",
     "generated messages stay at the edge"},
    {"yaml-cpp/.*", "(core/[a-z_]*(yaml|plan)[a-z_]*\\..*|tests/.*)", "YAML is named where it is read"},
    {"simdjson.*", "(core/json_[a-z_]*\\..*|tests/.*)", "JSON from the target is read in one place"},
    {"zlib.h", "(core/histogram[a-z_]*\\..*|target-servers/.*|tests/.*)",
     "only the histogram's encoding is compressed"},
    {"openssl/.*", "(core/handshake\\..*|target-servers/.*|tests/.*)", "only the handshake hashes"},
    {"prometheus/.*", "(coordinator/exposition[a-z_]*\\..*|tests/.*)", "one place speaks Prometheus"},
    {"sys/epoll.h", "(agent/epoll_network.*|target-servers/.*|tests/.*)",
     "the simulator stands in for the network"},
    {"boost/.*", "(coordinator/http[a-z_]*\\..*|target-servers/.*|tests/.*)",
     "Beast serves where connections are few"},
    {"spdlog/.*", "(agent|coordinator|tests)/.*", "core and the wire do not log"},
    {"CLI/.*", "(agent/main.cpp|coordinator/(main|command)[a-z_]*\\..*|target-servers/.*|tests/.*)",
     "the command line is read at the edge"},
    {"nlohmann/.*", "(coordinator|target-servers|tests)/.*", "reports are the coordinator's"},
};

// Pure: no clock, thread, log, socket or other system call. <arpa/inet.h> is there for inet_pton, which is
// pure too, and <sys/mman.h> for memory that costs nothing until it is touched.
const std::regex kImpure{
    "chrono|ctime|time.h|thread|mutex|shared_mutex|condition_variable|future|stop_token|iostream|unistd.h|"
    "fcntl.h|pthread.h|netdb.h|poll.h|signal.h|sys/(?!mman.h).*|linux/.*|net/.*|netinet/.*"};
const std::regex kImpureWord{
    R"(std::chrono|std::this_thread|clock_gettime|gettimeofday|random_device|\brand\(\))"};

/// What is wrong with a file of ours, by its path from the top and its text.
std::vector<std::string> violations(const std::string& path, const std::string& text) {
  static const std::regex kInclude{R"(#\s*include\s*["<]([^">]+)[">])"};
  std::vector<std::string> found;
  for (auto at = std::sregex_iterator{text.begin(), text.end(), kInclude}; at != std::sregex_iterator{};
       ++at) {
    const std::string included = (*at)[1];
    for (const Reserved& r : kReserved)
      if (std::regex_match(included, std::regex{r.included}) && !std::regex_match(path, std::regex{r.by}))
        found.push_back(path + " includes " + included + ": " + r.reason);
    if (path.starts_with("core/") && std::regex_match(included, kImpure))
      found.push_back(path + " includes " + included + ": core is pure");
  }
  std::smatch word;
  if (path.starts_with("core/") && std::regex_search(text, word, kImpureWord))
    found.push_back(path + " names " + word.str() + ": core is pure");
  return found;
}

std::string read(const std::filesystem::path& path) {
  std::ifstream stream{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

TEST(Includes, EverySourceKeepsTheDirectionsOfDependency) {
  std::vector<std::string> found;
  std::size_t files = 0;
  for (const char* folder : {"core", "proto", "agent", "coordinator", "target-servers"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator{kSource / folder}) {
      const std::string extension = entry.path().extension();
      if (extension != ".h" && extension != ".cpp") continue;
      ++files;
      const auto more = violations(std::filesystem::relative(entry.path(), kSource), read(entry.path()));
      found.insert(found.end(), more.begin(), more.end());
    }
  EXPECT_THAT(found, IsEmpty());
  EXPECT_GT(files, 30u) << "the sources were not found";
}

TEST(Includes, EachForbiddenDirectionIsNoticed) {
  struct Case {
    const char* path;
    const char* text;
  };
  for (const Case& c : {Case{"core/run.cpp", "#include \"agent/worker.h\""},
                        {"core/run.cpp", "#include \"proto/convert.h\""},
                        {"core/run.cpp", "#include <chrono>"},
                        {"core/run.cpp", "#include <sys/socket.h>"},
                        {"core/run.cpp", "#include <thread>"},
                        {"core/run.cpp", "auto now = std::chrono::steady_clock::now();"},
                        {"core/run.cpp", "#include <spdlog/spdlog.h>"},
                        {"core/run.cpp", "#include <yaml-cpp/yaml.h>"},
                        {"agent/worker.cpp", "#include \"coordinator/fleet.h\""},
                        {"agent/worker.cpp", "#include \"proto/convert.h\""},
                        {"agent/worker.cpp", "#  include  <sys/epoll.h>"},
                        {"agent/main.cpp", "#include \"control.pb.h\""},
                        {"coordinator/fleet.cpp", "#include \"agent/worker.h\""},
                        {"coordinator/fleet.cpp", "#include \"control.grpc.pb.h\""},
                        {"coordinator/fleet.cpp", "#include <grpcpp/grpcpp.h>"},
                        {"coordinator/report.cpp", "#include <prometheus/registry.h>"},
                        {"proto/convert.cpp", "#include \"agent/worker.h\""},
                        {"target-servers/beast/main.cpp", "#include \"core/frame.h\""}})
    EXPECT_EQ(violations(c.path, c.text).size(), 1u) << c.path << ": " << c.text;
  EXPECT_THAT(
      violations("agent/control_link.cpp", "#include \"control.grpc.pb.h\"\n#include \"proto/convert.h\""),
      IsEmpty());
  EXPECT_THAT(violations("coordinator/services.h", "#include \"control.grpc.pb.h\"\n#include <thread>"),
              IsEmpty());
}

TEST(Tree, EachTopFolderSaysWhatLivesThere) {
  for (const char* folder : {"core", "agent", "coordinator", "target-servers", "proto", "deploy", "tests",
                             "docs", "plans", "studies"}) {
    const std::string text = read(kSource / folder / "README.md");
    const auto lines = std::count(text.begin(), text.end(), '\n');
    EXPECT_TRUE(text.starts_with("# ")) << folder << "/README.md is missing or has no title";
    EXPECT_TRUE(lines >= 5 && lines <= 40) << folder << "/README.md has " << lines << " lines";
  }
}

}  // namespace
}  // namespace onrush
