// Any bytes as a file of certificates and, behind the first NUL, as the file of its key: good, or one line
// that says what is wrong; the same answer each time, whatever OpenSSL was left with before.
#include "core/pem.h"
#include "tests/fuzz/fuzz.h"

using namespace onrush;

namespace {

void look(const std::string& mistake) {
  ONRUSH_CHECK(mistake.size() < 200 && mistake.find('\n') == std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string all(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = all.find('\0');
  const std::string certificates = all.substr(0, cut);
  const std::string key = cut == std::string::npos ? all : all.substr(cut + 1);
  const std::string mistake = mistake_in_certificates(certificates);
  look(mistake);
  // Also beside certificates that are wrong, which nobody asks for: it must bear them.
  const std::string of_key = mistake_in_key(key, certificates);
  look(of_key);
  if (of_key.empty()) ONRUSH_CHECK(key.find("-----BEGIN") != std::string::npos);
  ONRUSH_CHECK(mistake_in_certificates(certificates) == mistake);
  ONRUSH_CHECK(mistake_in_key(key, certificates) == of_key);
  return 0;
}
