// wss over real sockets: the engine against OpenSSL's server side, with certificates made here.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "agent/worker.h"
#include "tests/loopback_run.h"
#include "tests/tls_peer.h"

namespace onrush {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using namespace std::chrono_literals;

/// An authority, one below it, and what they have signed.
struct Authority {
  Certificate root = make_certificate({.name = "root", .authority = true});
  Certificate middle = make_certificate({.name = "middle", .issuer = &root, .authority = true});
  Certificate here =
      make_certificate({.name = "here", .alternatives = "IP:127.0.0.1,DNS:localhost", .issuer = &middle});
  Certificate a_test = make_certificate({.name = "a.test", .alternatives = "DNS:a.test", .issuer = &middle});
  Certificate expired = make_certificate({.name = "expired",
                                          .alternatives = "IP:127.0.0.1",
                                          .issuer = &middle,
                                          .from_s = -7200,
                                          .until_s = -3600});
  Certificate early = make_certificate(
      {.name = "early", .alternatives = "IP:127.0.0.1", .issuer = &middle, .from_s = 3600, .until_s = 7200});
  Certificate alone = make_certificate({.name = "alone", .alternatives = "IP:127.0.0.1"});
  Certificate client = make_certificate({.name = "client", .issuer = &root});

  [[nodiscard]] PlanFiles files() const {
    const auto content = [](std::string text) {
      return std::make_shared<const std::string>(std::move(text));
    };
    return {{"ca.pem", content(root.pem())},
            {"client.pem", content(client.pem())},
            {"client.key", content(client.key_pem())}};
  }
};

const Authority& authority() {
  static const Authority all;
  return all;
}

std::vector<Certificate> good_chain() { return {authority().here, authority().middle}; }

struct PlanWish {
  std::uint16_t port = 0;
  std::string tls = "{ca: ca.pem}";
  std::string steps = "{request: {text: hello, reply: {text: hello}, timeout: 3s}}, {listen: {}}";
  std::string host = "127.0.0.1";
  std::uint32_t users = 1;
  std::string hold = "300ms";
  std::string connect = "connect: {timeout: 4s}";
};

Aggregate run(const PlanWish& wish, std::uint32_t workers = 1) {
  const std::string plan = fmt::format(
      R"(
name: secure
target: wss://{}:{}/echo
connection: {{tls: {}}}
scenarios:
  user: {{script: [{{{}}}, {}]}}
stages:
  - {{name: up, users: {}, rate: 500/s, for: {}}}
  - {{name: down, users: 0, rate: 1000/s}}
)",
      wish.host, wish.port, wish.tls, wish.connect, wish.steps, wish.users, wish.hold);
  Aggregate aggregate = run_to_the_end(plan, workers, authority().files());
  EXPECT_TRUE(aggregate.broken_identities().empty());
  return aggregate;
}

std::uint64_t counted(const Aggregate& aggregate, Counter counter) {
  return at(aggregate.counters(), counter);
}

std::string failures(const Aggregate& aggregate) {
  std::string all;
  for (const FailureTotal& f : aggregate.failures())
    all += fmt::format("{} {} {} x{}\n", name(f.failure.phase), name(f.failure.cause), f.failure.detail,
                       f.count);
  return all;
}

void echo(TlsPeer::Line& line) {
  line.upgrade();
  line.echo();
}

TEST(Tls, EveryUserConnectsTalksAndCloses) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsPeer peer{{good_chain(), echo, [&](SSL_CTX* context) {
                    SSL_CTX_set_min_proto_version(context, version);
                    SSL_CTX_set_max_proto_version(context, version);
                  }}};
    const Aggregate got = run(
        {.port = peer.port(),
         .steps =
             "{repeat: {times: 10, do: [{request: {text: \"${user} ${sequence}\", reply: {text: \"${user} "
             "${sequence}\"}}}]}}, {listen: {}}",
         .users = 40},
        2);
    EXPECT_EQ(counted(got, Counter::opened), 40U) << failures(got);
    EXPECT_EQ(counted(got, Counter::closed), 40U);
    EXPECT_EQ(counted(got, Counter::lost), 0U) << failures(got);
    EXPECT_EQ(counted(got, Counter::requests), 400U);
    EXPECT_EQ(counted(got, Counter::failed_requests), 0U);
    EXPECT_EQ(got.total().samples(Time::tls), 40U);
    EXPECT_EQ(got.total().samples(Time::tls_resumed), 0U);
    EXPECT_EQ(got.total().samples(Time::upgrade), 40U);
    EXPECT_EQ(peer.secured(), 40U);
  }
}

TEST(Tls, ALongMessageGoesThereAndBack) {
  TlsPeer peer{{good_chain(), echo}};
  const Aggregate got =
      run({.port = peer.port(),
           .steps = "{repeat: {times: 3, do: [{request: {bytes: 400_000, timeout: 10s}}]}}, close",
           .users = 3,
           .hold = "2s"});
  EXPECT_GE(counted(got, Counter::requests), 3U);
  EXPECT_EQ(counted(got, Counter::failed_requests), 0U) << failures(got);
  EXPECT_EQ(counted(got, Counter::lost), 0U) << failures(got);
}

TEST(Tls, P029EachFaultOfACertificateIsAClassOfItsOwn) {
  struct Case {
    std::vector<Certificate> chain;
    std::string tls;
    std::string host = "127.0.0.1";
    std::string failure;
  };
  const Authority& a = authority();
  const std::vector<Case> cases{
      {{a.alone}, "{ca: ca.pem}", "127.0.0.1", "tls self_signed 18 x1\n"},
      {{a.expired, a.middle}, "{ca: ca.pem}", "127.0.0.1", "tls expired_certificate 10 x1\n"},
      {{a.early, a.middle}, "{ca: ca.pem}", "127.0.0.1", "tls expired_certificate 9 x1\n"},
      {{a.a_test, a.middle}, "{ca: ca.pem}", "127.0.0.1", "tls wrong_host 64 x1\n"},
      {{a.a_test, a.middle}, "{ca: ca.pem}", "localhost", "tls wrong_host 62 x1\n"},
      {{a.here, a.middle}, "{ca: ca.pem, server_name: a.test}", "127.0.0.1", "tls wrong_host 62 x1\n"},
      {{a.here}, "{ca: ca.pem}", "127.0.0.1", "tls incomplete_chain 20 x1\n"},
      {{a.here, a.middle}, "{}", "127.0.0.1", "tls incomplete_chain 20 x1\n"},
      {{a.here, a.middle, a.root}, "{}", "127.0.0.1", "tls self_signed 19 x1\n"},
      {{a.here, a.middle}, "{ca: ca.pem}", "127.0.0.1", ""},
      {{a.here, a.middle}, "{ca: ca.pem}", "localhost", ""},
      {{a.a_test, a.middle}, "{ca: ca.pem, server_name: a.test.}", "127.0.0.1", ""},
      {{a.alone}, "{verify: false}", "127.0.0.1", ""},
      {{a.expired}, "{verify: false}", "localhost", ""},
  };
  for (const Case& c : cases) {
    TlsPeer peer{{c.chain, echo}};
    const Aggregate got = run({.port = peer.port(), .tls = c.tls, .host = c.host, .hold = "10ms"});
    EXPECT_EQ(failures(got), c.failure) << c.chain[0].pem() << c.tls << c.host;
    EXPECT_EQ(counted(got, Counter::opened), c.failure.empty() ? 1U : 0U) << c.tls << c.host;
  }
}

TEST(Tls, AFaultyCertificateIsShownWithItsName) {
  TlsPeer peer{{{authority().alone}, echo}};
  const Aggregate got = run({.port = peer.port(), .hold = "10ms"});
  ASSERT_EQ(got.failures().size(), 1U);
  EXPECT_THAT(got.failures()[0].sample, HasSubstr("/CN=alone"));
}

// Two certificates behind one port, chosen by the name that is asked for.
TEST(Tls, P028TheServerNameIsThePlansOrTheUrlsAndNeverAnAddress) {
  struct Case {
    std::string host, tls, sni;
  };
  for (const Case& c :
       {Case{"127.0.0.1", "{ca: ca.pem}", "none"}, Case{"localhost", "{ca: ca.pem}", "localhost"},
        Case{"127.0.0.1", "{ca: ca.pem, server_name: a.test}", "a.test"},
        Case{"localhost", "{ca: ca.pem, server_name: a.test}", "a.test"},
        Case{"127.0.0.1", "{ca: ca.pem, server_name: A.Test.}", "a.test"}}) {
    static std::string asked;
    std::string head;
    TlsPeer peer{{good_chain(),
                  [&](TlsPeer::Line& line) {
                    head = line.upgrade();
                    line.echo();
                  },
                  [](SSL_CTX* context) {
                    SSL_CTX_set_tlsext_servername_callback(
                        context, +[](SSL* ssl, int*, void*) {
                          const char* name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
                          asked = name == nullptr ? "none" : name;
                          if (asked == "a.test") {
                            SSL_use_certificate(ssl, authority().a_test.x509.get());
                            SSL_use_PrivateKey(ssl, authority().a_test.key.get());
                            SSL_add1_chain_cert(ssl, authority().middle.x509.get());
                          }
                          return SSL_TLSEXT_ERR_OK;
                        });
                  }}};
    const Aggregate got = run({.port = peer.port(), .tls = c.tls, .host = c.host, .hold = "50ms"});
    EXPECT_EQ(counted(got, Counter::opened), 1U) << c.host << c.tls << failures(got);
    EXPECT_EQ(asked, c.sni) << c.host << c.tls;
    EXPECT_THAT(head, HasSubstr(fmt::format("\r\nHost: {}:{}\r\n", c.host, peer.port())));
  }
}

TEST(Tls, P087ADotAtTheEndOfTheHostIsDnssAlone) {
  Url url = *parse_url("wss://a.test./ws");
  EXPECT_EQ(url.host, "a.test.");
  EXPECT_EQ(certificate_name({}, url), "a.test");
  EXPECT_FALSE(is_address("a.test"));
  EXPECT_TRUE(is_address("127.0.0.1"));
  EXPECT_TRUE(is_address("2001:db8::5"));
}

TEST(Tls, OnlyHttp11IsOffered) {
  std::string offered;
  TlsPeer peer{{good_chain(), echo, [&](SSL_CTX* context) {
                  SSL_CTX_set_alpn_select_cb(
                      context,
                      +[](SSL*, const unsigned char** out, unsigned char* length, const unsigned char* in,
                          unsigned int in_length, void* into) {
                        static_cast<std::string*>(into)->assign(reinterpret_cast<const char*>(in), in_length);
                        *out = in + 1;
                        *length = in[0];
                        return SSL_TLSEXT_ERR_OK;
                      },
                      &offered);
                }}};
  const Aggregate got = run({.port = peer.port(), .hold = "10ms"});
  EXPECT_EQ(counted(got, Counter::opened), 1U) << failures(got);
  EXPECT_EQ(offered, "\x08http/1.1");
}

double cpu_s() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

// Everything that the peer says between these lines leaves in one segment.
void say_together(TlsPeer::Line& line, const std::vector<std::string>& records) {
  BIO* wire = SSL_get_wbio(line.ssl());
  BIO_up_ref(wire);
  BIO* memory = BIO_new(BIO_s_mem());
  SSL_set0_wbio(line.ssl(), memory);
  for (const std::string& record : records) line.say(record);
  char* bytes = nullptr;
  const long length = BIO_get_mem_data(memory, &bytes);
  const std::string all{bytes, static_cast<std::size_t>(length)};
  SSL_set0_wbio(line.ssl(), wire);
  ASSERT_EQ(send(line.descriptor(), all.data(), all.size(), MSG_NOSIGNAL), length);
}

TEST(Tls, P031RecordsThatComeTogetherAreAllDeliveredAtOnce) {
  TlsPeer peer{{good_chain(), [](TlsPeer::Line& line) {
                  line.upgrade();
                  line.hear_frame();
                  say_together(
                      line, {TlsPeer::server_frame("one"), TlsPeer::server_frame("two"),
                             TlsPeer::server_frame(std::string(16'000, 'x')), TlsPeer::server_frame("last")});
                  line.echo();
                }}};
  const Aggregate got =
      run({.port = peer.port(),
           .steps = "{request: {text: go, reply: {text: last}, timeout: 2s}}, {listen: {}}"});
  EXPECT_EQ(counted(got, Counter::requests), 1U);
  EXPECT_EQ(counted(got, Counter::failed_requests), 0U) << failures(got);
  EXPECT_EQ(counted(got, Counter::messages_received), 4U);
}

TEST(Tls, P031HalfARecordMakesNoBusyLoop) {
  TlsPeer peer{{good_chain(), [](TlsPeer::Line& line) {
                  line.upgrade();
                  line.hear_frame();
                  BIO* wire = SSL_get_wbio(line.ssl());
                  BIO_up_ref(wire);
                  BIO* memory = BIO_new(BIO_s_mem());
                  SSL_set0_wbio(line.ssl(), memory);
                  line.say(TlsPeer::server_frame(std::string(10'000, 'x') + "last"));
                  char* bytes = nullptr;
                  const long length = BIO_get_mem_data(memory, &bytes);
                  const std::string all{bytes, static_cast<std::size_t>(length)};
                  SSL_set0_wbio(line.ssl(), wire);
                  send(line.descriptor(), all.data(), 5000, MSG_NOSIGNAL);
                  std::this_thread::sleep_for(800ms);
                  send(line.descriptor(), all.data() + 5000, all.size() - 5000, MSG_NOSIGNAL);
                  line.echo();
                }}};
  const double before_s = cpu_s();
  const Aggregate got =
      run({.port = peer.port(), .steps = "{request: {text: go, timeout: 3s}}, {listen: {}}", .hold = "1s"});
  EXPECT_EQ(counted(got, Counter::requests), 1U) << failures(got);
  EXPECT_EQ(counted(got, Counter::failed_requests), 0U) << failures(got);
  EXPECT_LT(cpu_s() - before_s, 0.5) << "of the 800 ms in which nothing came";
}

TEST(Tls, P022AnEndWithoutCloseNotifyIsToldFromOneWith) {
  struct Case {
    bool notify;
    std::string failure;
  };
  for (const Case& c : {Case{false, "open truncated 0 x1\n"}, Case{true, "open end_of_stream 0 x1\n"}}) {
    TlsPeer peer{{good_chain(), [&](TlsPeer::Line& line) {
                    line.upgrade();
                    line.hear_frame();
                    line.say(TlsPeer::server_frame("hello"));
                    if (c.notify) SSL_shutdown(line.ssl());
                    shutdown(line.descriptor(), SHUT_WR);
                    line.hear();
                  }}};
    const Aggregate got = run({.port = peer.port()});
    EXPECT_EQ(failures(got), c.failure);
    EXPECT_EQ(counted(got, Counter::lost), 1U);
    EXPECT_EQ(counted(got, Counter::requests), 1U);
    EXPECT_EQ(counted(got, Counter::failed_requests), 0U);
  }
}

TEST(Tls, P011OneDeadlineCoversTheHandshakeToo) {
  struct Case {
    std::string first;
    std::string failure;
  };
  // Silence, and the header of a ServerHello's record of which nothing follows.
  for (const std::string& first : {std::string{}, std::string{"\x16\x03\x03\x00\x7a\x02\x00", 7}}) {
    TlsPeer peer{{{}, [&](TlsPeer::Line& line) {
                    send(line.descriptor(), first.data(), first.size(), MSG_NOSIGNAL);
                    char byte = 0;
                    while (recv(line.descriptor(), &byte, 1, 0) > 0) {
                    }
                  }}};
    const std::int64_t begin_ns = now_ns();
    const Aggregate got = run({.port = peer.port(), .hold = "10ms", .connect = "connect: {timeout: 300ms}"});
    EXPECT_EQ(failures(got), "tls timeout 300 x1\n");
    EXPECT_LT(now_ns() - begin_ns, 3'000'000'000);
    EXPECT_EQ(counted(got, Counter::failed), 1U);
  }
}

TEST(Tls, WhatAnswersInPlainHttpIsNoTls) {
  TlsPeer peer{{{}, [](TlsPeer::Line& line) {
                  const std::string answer = "HTTP/1.1 400 Bad Request\r\n\r\n";
                  send(line.descriptor(), answer.data(), answer.size(), MSG_NOSIGNAL);
                  char bytes[1000];
                  while (recv(line.descriptor(), bytes, sizeof bytes, 0) > 0) {
                  }
                }}};
  EXPECT_EQ(failures(run({.port = peer.port(), .hold = "10ms"})), "tls not_tls 0 x1\n");
}

TEST(Tls, APeerThatEndsInTheMiddleOfTheHandshakeIsNamedSo) {
  TlsPeer peer{{{}, [](TlsPeer::Line& line) {
                  char byte = 0;
                  [[maybe_unused]] const ssize_t got = recv(line.descriptor(), &byte, 1, 0);
                  shutdown(line.descriptor(), SHUT_WR);
                  while (recv(line.descriptor(), &byte, 1, 0) > 0) {
                  }
                }}};
  EXPECT_EQ(failures(run({.port = peer.port(), .hold = "10ms"})), "tls end_of_stream 0 x1\n");
}

void want_client(SSL_CTX* context) {
  X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority().root.x509.get());
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
}

TEST(Tls, AServerThatWantsACertificateGetsThePlans) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    std::string client;
    TlsPeer peer{{good_chain(),
                  [&](TlsPeer::Line& line) {
                    char subject[100];
                    const X509* shown = SSL_get0_peer_certificate(line.ssl());
                    client = X509_NAME_oneline(X509_get_subject_name(shown), subject, sizeof subject);
                    echo(line);
                  },
                  [&](SSL_CTX* context) {
                    SSL_CTX_set_max_proto_version(context, version);
                    want_client(context);
                  }}};
    const Aggregate got = run({.port = peer.port(),
                               .tls = "{ca: ca.pem, certificate: client.pem, key: client.key}",
                               .hold = "100ms"});
    EXPECT_EQ(counted(got, Counter::opened), 1U) << failures(got);
    EXPECT_EQ(client, "/CN=client");
    // Without one it says so with an alert: in TLS 1.3 only after the handshake, as far as the client sees.
    const Aggregate without = run({.port = peer.port(), .hold = "10ms"});
    EXPECT_EQ(failures(without),
              version == TLS1_3_VERSION ? "upgrade tls_alert 116 x1\n" : "tls tls_alert 40 x1\n");
  }
}

TEST(Tls, VersionsAndCiphersAreThePlans) {
  std::string used;
  TlsPeer peer{{good_chain(), [&](TlsPeer::Line& line) {
                  used = std::string{SSL_get_version(line.ssl())} + " " + SSL_get_cipher(line.ssl());
                  echo(line);
                }}};
  const auto used_with = [&](const std::string& tls) {
    const Aggregate got = run({.port = peer.port(), .tls = tls, .hold = "10ms"});
    EXPECT_EQ(counted(got, Counter::opened), 1U) << tls << failures(got);
    return used;
  };
  EXPECT_EQ(used_with("{ca: ca.pem, ciphers: ECDHE-ECDSA-AES128-GCM-SHA256}"),
            "TLSv1.2 ECDHE-ECDSA-AES128-GCM-SHA256");
  EXPECT_EQ(used_with("{ca: ca.pem, ciphers: TLS_CHACHA20_POLY1305_SHA256}"),
            "TLSv1.3 TLS_CHACHA20_POLY1305_SHA256");
  EXPECT_EQ(used_with("{ca: ca.pem, ciphers: 'TLS_AES_128_GCM_SHA256:ECDHE-ECDSA-AES128-GCM-SHA256'}"),
            "TLSv1.3 TLS_AES_128_GCM_SHA256");
  TlsPeer old{
      {good_chain(), echo, [](SSL_CTX* context) { SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION); }}};
  EXPECT_EQ(failures(run({.port = old.port(), .tls = "{ca: ca.pem, min_version: 1.3}", .hold = "10ms"})),
            "tls tls_alert 70 x1\n");
}

TEST(Tls, AUserWhoConnectsAgainResumesHisSessionIfThePlanSaysSo) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION})
    for (const bool resume : {true, false}) {
      TlsPeer peer{
          {good_chain(), echo, [&](SSL_CTX* context) { SSL_CTX_set_max_proto_version(context, version); }}};
      const Aggregate got = run(
          {.port = peer.port(),
           .tls = fmt::format("{{ca: ca.pem, resume: {}}}", resume),
           .steps =
               "{request: {text: a}}, close, {connect: {timeout: 4s}}, {request: {text: b}}, {listen: {}}",
           .users = 5,
           .hold = "1500ms"});
      EXPECT_EQ(counted(got, Counter::opened), 10U) << failures(got);
      EXPECT_EQ(counted(got, Counter::lost), 0U) << failures(got);
      EXPECT_EQ(got.total().samples(Time::tls), 10U);
      EXPECT_EQ(got.total().samples(Time::tls_resumed), resume ? 5U : 0U) << version;
      EXPECT_EQ(peer.resumed(), resume ? 5U : 0U);
    }
}

TEST(Tls, AConnectionThatEndsInOrderSaysSo) {
  std::atomic<int> notified{0};
  TlsPeer peer{{good_chain(), [&](TlsPeer::Line& line) {
                  echo(line);
                  line.hear();
                  if ((SSL_get_shutdown(line.ssl()) & SSL_RECEIVED_SHUTDOWN) != 0) ++notified;
                }}};
  (void)run({.port = peer.port(), .users = 5});
  EXPECT_EQ(notified, 5);
}

}  // namespace
}  // namespace onrush
