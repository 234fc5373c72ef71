// Compares a text with the expected one under tests/golden; ONRUSH_UPDATE_GOLDEN=1 writes it anew.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace onrush {

inline void expect_golden(const std::string& file, const std::string& text) {
  const std::string path = std::string{ONRUSH_SOURCE_DIR} + "/tests/golden/" + file;
  if (std::getenv("ONRUSH_UPDATE_GOLDEN") != nullptr) {
    std::ofstream{path, std::ios::binary} << text;
    return;
  }
  std::ifstream stream{path, std::ios::binary};
  ASSERT_TRUE(stream) << path << " is missing; ONRUSH_UPDATE_GOLDEN=1 writes it";
  const std::string expected{std::istreambuf_iterator<char>{stream}, {}};
  EXPECT_EQ(text, expected) << "differs from " << path;
}

}  // namespace onrush
