#include "proto/host_facts.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <sstream>

namespace onrush {

std::int64_t monotonic_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

std::string boot_id() {
  std::ifstream file{"/proc/sys/kernel/random/boot_id"};
  std::string id;
  file >> id;
  return id;
}

std::uint64_t raise_descriptor_limit() noexcept {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

void hold_standard_descriptors() noexcept {
  int descriptor = 0;
  do {
    descriptor = open("/dev/null", O_RDWR);
  } while (descriptor >= 0 && descriptor <= STDERR_FILENO);
  if (descriptor >= 0) close(descriptor);
}

std::uint64_t memory_available_bytes() {
  std::ifstream file{"/proc/meminfo"};
  for (std::string line; std::getline(file, line);) {
    std::istringstream columns{line};
    std::string name;
    std::uint64_t kilobytes = 0;
    if (columns >> name >> kilobytes && name == "MemAvailable:") return kilobytes * 1024;
  }
  return 0;
}

}  // namespace onrush
