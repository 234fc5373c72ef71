// `connection: {tls: ...}` with its files: what is taken, and what is said of files that are no good.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/pem.h"
#include "tests/certificates.h"
#include "tests/plan_text.h"

namespace onrush {
namespace {

using testing::HasSubstr;

PlanText text_with(const std::string& tls, PlanFiles files = {}) {
  return {"t.yaml",
          "name: t\ntarget: wss://a.test/echo\nconnection:\n  tls: " + tls +
              "\nscenarios: {a: {script: [connect]}}\nstages: [{name: s, users: 1, for: 1s}]\n",
          {},
          "",
          std::move(files)};
}

TEST(PlanTls, EverythingIsTakenAsItIsWritten) {
  const Certificate ca = make_certificate({.name = "ca", .authority = true});
  const Certificate own = make_certificate({.name = "own", .issuer = &ca});
  const PlanText text = text_with(
      "{ca: ca.pem, certificate: own.pem, key: own.key, verify: false, server_name: B.Test, min_version: "
      "1.3, "
      "ciphers: TLS_AES_128_GCM_SHA256, resume: true}",
      {{"ca.pem", content(ca.pem())},
       {"own.pem", content(own.pem() + ca.pem())},
       {"own.key", content(own.key_pem())}});
  const auto plan = read_plan(source_of(text));
  ASSERT_TRUE(plan) << said(text);
  const Tls& tls = plan->connection.tls;
  EXPECT_EQ(*tls.ca, ca.pem());
  EXPECT_EQ(*tls.certificate, own.pem() + ca.pem());
  EXPECT_EQ(*tls.key, own.key_pem());
  EXPECT_FALSE(tls.verify);
  EXPECT_TRUE(tls.resume);
  EXPECT_EQ(tls.server_name, "b.test");
  EXPECT_EQ(tls.min_version, TlsVersion::v1_3);
  EXPECT_EQ(tls.ciphers, "TLS_AES_128_GCM_SHA256");
}

TEST(PlanTls, CertificatesAreVerifiedAndSessionsNotResumedUnlessThePlanSaysSo) {
  const auto plan = read_plan(source_of(text_with("{}")));
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->connection.tls.verify);
  EXPECT_FALSE(plan->connection.tls.resume);
  EXPECT_EQ(plan->connection.tls.min_version, TlsVersion::v1_2);
}

TEST(PlanTls, CiphersThatNoHandshakeCouldUseAreAMistakeWhereTheyStand) {
  for (const char* good :
       {"ciphers: ECDHE-RSA-AES128-GCM-SHA256", "ciphers: \"ALL:!aNULL\"",
        "ciphers: \"HIGH:!MD5:!RC4:!EXPORT:!3DES\"", "ciphers: \"DEFAULT:@SECLEVEL=1\"",
        "ciphers: \"ECDHE+AESGCM:!DSS\"", "ciphers: TLS_AES_128_GCM_SHA256",
        "ciphers: \"TLS_AES_128_GCM_SHA256:ECDHE-RSA-AES128-GCM-SHA256\", min_version: 1.3",
        "ciphers: \"eNULL:@SECLEVEL=0\""})
    EXPECT_EQ(said(text_with(fmt::format("{{{}}}", good))), "a good plan") << good;
  struct Case {
    const char* tls;
    const char* column;
    const char* words;
  };
  for (const Case& c : {Case{"ciphers: NOPE", "4:18: ", "names 'NOPE', which OpenSSL does not know"},
                        {"ciphers: TLS_NOPE", "4:18: ", "names 'TLS_NOPE', which OpenSSL does not know"},
                        {"ciphers: \"AES128-SHA256:ECDHE-RSA-AES128-GCM-SHA265\"",
                         "4:33: ", "names 'ECDHE-RSA-AES128-GCM-SHA265', which"},
                        {"ciphers: \"ALL:!aNUL\"", "4:23: ", "names '!aNUL', which"},
                        {"ciphers: \":\"", "4:19: ", "names no cipher"},
                        {"ciphers: \"AES128-SHA:!AES128-SHA\"", "4:19: ", "leaves no cipher"},
                        {"ciphers: ECDHE-RSA-AES128-GCM-SHA256, min_version: 1.3",
                         "4:18: ", "'min_version' 1.3 rules out"}}) {
    const std::string mistakes = said(text_with(fmt::format("{{{}}}", c.tls)));
    EXPECT_THAT(mistakes, HasSubstr(c.words)) << c.tls;
    EXPECT_THAT(mistakes, HasSubstr(c.column)) << c.tls;
  }
}

TEST(PlanTls, AFileThatIsNoCertificateIsAMistakeWhereItIsNamed) {
  const Certificate ca = make_certificate({.name = "ca", .authority = true});
  const auto with = [](std::string bytes) {
    return said(text_with("{ca: ca.pem}", {{"ca.pem", content(std::move(bytes))}}));
  };
  EXPECT_EQ(with(ca.pem()), "a good plan");
  EXPECT_EQ(with("# of our own\n" + ca.pem() + "\n" + ca.pem()), "a good plan");
  EXPECT_THAT(with(""),
              HasSubstr("t.yaml:4:13: 'ca' in 'tls' in 'connection': 'ca.pem' holds no certificate"));
  EXPECT_THAT(with("\x30\x82"), HasSubstr("openssl x509 -in FILE -inform DER"));
  EXPECT_THAT(with(ca.key_pem()), HasSubstr("are the two files swapped?"));
  EXPECT_THAT(with(ca.pem().substr(0, 300)), HasSubstr("cannot be read, number 1; is it cut off?"));
  EXPECT_THAT(with(ca.pem() + ca.pem().substr(0, 300)), HasSubstr("cannot be read, number 2"));
  EXPECT_THAT(with(std::string(kMostPemBytes + 1, ' ')), HasSubstr("at most 4 MiB"));
}

TEST(PlanTls, AKeyMustBeTheCertificatesAndWithoutAPassphrase) {
  const Certificate own = make_certificate({.name = "own"});
  const Certificate other = make_certificate({.name = "other"});
  const auto with = [&](std::string key) {
    return said(text_with("{certificate: own.pem, key: own.key}",
                          {{"own.pem", content(own.pem())}, {"own.key", content(std::move(key))}}));
  };
  EXPECT_EQ(with(own.key_pem()), "a good plan");
  EXPECT_EQ(with(own.pem() + own.key_pem()), "a good plan");
  EXPECT_THAT(with(other.key_pem()),
              HasSubstr("t.yaml:4:36: 'key' in 'tls' in 'connection': 'own.key' is not the key"));
  EXPECT_THAT(with(own.pem()), HasSubstr("holds a certificate and no key; are the two files swapped?"));
  EXPECT_THAT(with(""), HasSubstr("holds no private key"));
  EXPECT_THAT(with(own.key_pem().substr(0, 100)), HasSubstr("cannot be read; is it cut off?"));
  EXPECT_THAT(with("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"),
              HasSubstr("cannot be read"));
  BIO* memory = BIO_new(BIO_s_mem());
  unsigned char phrase[] = "secret";
  PEM_write_bio_PrivateKey(memory, own.key.get(), EVP_aes_128_cbc(), phrase, 6, nullptr, nullptr);
  char* bytes = nullptr;
  const long length = BIO_get_mem_data(memory, &bytes);
  const std::string locked{bytes, static_cast<std::size_t>(length)};
  BIO_free(memory);
  EXPECT_THAT(with(locked), HasSubstr("is protected by a passphrase"));
}

TEST(PlanTls, ACertificateAndItsKeyGoTogether) {
  EXPECT_THAT(said(text_with("{certificate: own.pem}")), HasSubstr("has no 'key' beside it"));
  EXPECT_THAT(said(text_with("{key: own.pem}")), HasSubstr("has no 'certificate' beside it"));
}

}  // namespace
}  // namespace onrush
