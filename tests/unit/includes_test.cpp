// The directions of dependency that docs/architecture.md promises, checked over the sources: linking enforces
// those between our own folders, this also those on packages and on the system.
#include <fnmatch.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace onrush {
namespace {

using testing::IsEmpty;

const std::filesystem::path kSource = ONRUSH_SOURCE_DIR;

using Globs = std::vector<const char*>;

bool matches(const std::string& name, const Globs& globs) {
  return std::any_of(globs.begin(), globs.end(),
                     [&](const char* g) { return fnmatch(g, name.c_str(), 0) == 0; });
}

/// What only some files may include; tests may include everything.
struct Reserved {
  Globs included;
  Globs by;
  const char* reason;
};

const std::vector<Reserved> kReserved = {
    {{"core/*"},
     {"core/*", "proto/*", "agent/*", "coordinator/*"},
     "target servers are independent of our code"},
    {{"agent/*"}, {"agent/*"}, "only the agent is made of the engine"},
    {{"coordinator/*"}, {"coordinator/*"}, "only the coordinator is made of its parts"},
    {{"proto/*"},
     {"proto/*", "agent/main*", "agent/control_link*", "coordinator/*"},
     "engine and core know no wire"},
    {{"tests/*"}, {}, "the product does not need its tests"},
    {{"*.pb.h", "google/protobuf/*", "grpc*"},
     {"proto/*", "agent/control_link*", "coordinator/*service*", "coordinator/*client*"},
     "generated messages stay at the edge"},
    {{"yaml-cpp/*"}, {"core/*yaml*", "core/plan_*"}, "YAML is named where it is read"},
    {{"simdjson*"}, {"core/json_*"}, "JSON from the target is read in one place"},
    {{"re2/*"}, {"core/regex*"}, "expressions are matched in one place"},
    {{"zlib.h"},
     {"core/histogram*", "core/deflate_stream*", "target-servers/*"},
     "histograms and messages are compressed in one place each"},
    {{"openssl/*"},
     {"core/handshake*", "core/pem*", "core/ciphers*", "agent/tls_*", "target-servers/*"},
     "only the handshake hashes, only PEM files and names of ciphers are looked at and only the TLS layer "
     "encrypts"},
    {{"prometheus/*"}, {"coordinator/exposition*"}, "one place speaks Prometheus"},
    {{"sys/epoll.h"},
     {"agent/epoll_network*", "target-servers/*"},
     "the simulator stands in for the network"},
    {{"boost/*"}, {"coordinator/http*", "target-servers/*"}, "Beast serves where connections are few"},
    {{"spdlog/*"}, {"agent/*", "coordinator/*"}, "core and the wire do not log, targets share nothing"},
    {{"CLI/*"},
     {"agent/main*", "coordinator/main*", "coordinator/command*", "target-servers/*"},
     "the command line is read at the edge"},
    {{"nlohmann/*"}, {"coordinator/*", "target-servers/*"}, "reports are the coordinator's"},
};

// Pure: no clock, thread, log, socket or other system call. <arpa/inet.h> is there for inet_pton, which is
// pure too, and <sys/mman.h> for memory that costs nothing until it is touched.
const Globs kImpure = {
    "chrono", "ctime",      "time.h",    "thread",   "mutex",   "shared_mutex", "condition_variable",
    "future", "stop_token", "iostream",  "unistd.h", "fcntl.h", "pthread.h",    "netdb.h",
    "poll.h", "signal.h",   "sys/[!m]*", "linux/*",  "net/*",   "netinet/*"};
const Globs kImpureWords = {"*std::chrono*", "*std::this_thread*", "*clock_gettime*", "*gettimeofday*",
                            "*random_device*"};

/// The name that a line includes, or "".
std::string included_by(const std::string& line) {
  const std::size_t hash = line.find_first_not_of(" \t");
  if (hash == std::string::npos || line[hash] != '#') return "";
  const std::size_t word = line.find_first_not_of(" \t", hash + 1);
  if (word == std::string::npos || line.compare(word, 7, "include") != 0) return "";
  const std::size_t open = line.find_first_of("<\"", word);
  const std::size_t close = open == std::string::npos ? open : line.find_first_of(">\"", open + 1);
  return close == std::string::npos ? "" : line.substr(open + 1, close - open - 1);
}

/// What is wrong with a file of ours, by its path from the top and its text.
std::vector<std::string> violations(const std::string& path, const std::string& text) {
  std::vector<std::string> found;
  const bool core = path.starts_with("core/");
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    const std::string included = included_by(line);
    for (const Reserved& r : kReserved)
      if (!included.empty() && matches(included, r.included) && !matches(path, r.by))
        found.push_back(path + " includes " + included + ": " + r.reason);
    if (core && (matches(included, kImpure) || (included.empty() && matches(line, kImpureWords))))
      found.push_back(path + ": core is pure, but: " + line);
  }
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
