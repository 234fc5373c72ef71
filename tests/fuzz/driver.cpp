// Runs a fuzz target without libFuzzer, for compilers that have none: every seed of a folder, then seeded
// mutations of them, the same each time. After a crash the input that did it is in ./crash-input.
//   <parser>_fuzz FOLDER MUTATIONS    or    <parser>_fuzz FILE...
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz.h"

namespace {

namespace fs = std::filesystem;
using Random = std::mt19937_64;

std::string input_under_way;

// Only calls that a signal handler may make.
void keep_input(int signal_number) {
  const int file = ::open("crash-input", O_CREAT | O_TRUNC | O_WRONLY, 0644);
  if (file >= 0) {
    const char* at = input_under_way.data();
    for (std::size_t left = input_under_way.size(); left > 0;) {
      const ssize_t written = ::write(file, at, left);
      if (written <= 0) break;
      at += written;
      left -= static_cast<std::size_t>(written);
    }
  }
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

std::string contents(const fs::path& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file) {
    std::fprintf(stderr, "cannot read %s\n", path.c_str());
    std::exit(2);
  }
  return {std::istreambuf_iterator<char>{file}, {}};
}

void run(std::string input) {
  input_under_way = std::move(input);
  // Exactly sized, so that the address sanitizer sees a read beyond the end.
  const std::vector<std::uint8_t> bytes(input_under_way.begin(), input_under_way.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

void mutate(std::string& input, const std::vector<std::string>& seeds, Random& random) {
  const auto below = [&](std::size_t end) { return end == 0 ? 0 : static_cast<std::size_t>(random() % end); };
  constexpr unsigned char kEdges[] = {0x00, 0x01, 0x7D, 0x7E, 0x7F, 0x80, 0xFF, '\n', '\r', ':', '{', '"'};
  const std::size_t at = below(input.size() + 1);
  switch (random() % 7) {
    case 0:
      if (at < input.size()) input[at] = static_cast<char>(random());
      break;
    case 1:
      if (at < input.size()) input[at] = static_cast<char>(input[at] ^ (1 << random() % 8));
      break;
    case 2: input.insert(at, 1, static_cast<char>(kEdges[below(std::size(kEdges))])); break;
    case 3: input.erase(at, 1 + below(8)); break;
    case 4: input.resize(at); break;
    case 5: input.insert(at, input.substr(below(input.size()), 1 + below(32))); break;
    default: {
      const std::string& other = seeds[below(seeds.size())];
      input = input.substr(0, at) + other.substr(below(other.size() + 1));
    }
  }
  if (input.size() > 65536) input.resize(65536);
}

}  // namespace

int main(int argc, char** argv) {
  for (const int signal_number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL})
    std::signal(signal_number, keep_input);
  if (argc < 2 || (fs::is_directory(argv[1]) && argc != 3)) {
    std::fprintf(stderr, "usage: %s FOLDER MUTATIONS | FILE...\n", argv[0]);
    return 2;
  }
  if (!fs::is_directory(argv[1])) {
    for (int i = 1; i < argc; ++i) run(contents(argv[i]));
    return 0;
  }
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator{argv[1]}) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> seeds;
  for (const fs::path& path : paths) seeds.push_back(contents(path));
  if (seeds.empty()) {
    std::fprintf(stderr, "%s holds no seeds\n", argv[1]);
    return 2;
  }
  for (const std::string& seed : seeds) run(seed);

  const unsigned long mutations = std::strtoul(argv[2], nullptr, 10);
  Random random{1};
  for (unsigned long i = 0; i < mutations; ++i) {
    std::string input = seeds[random() % seeds.size()];
    for (std::uint64_t changes = 1 + random() % 4; changes > 0; --changes) mutate(input, seeds, random);
    run(std::move(input));
  }
  std::printf("%zu seeds and %lu mutations\n", seeds.size(), mutations);
  return 0;
}
