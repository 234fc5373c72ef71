// wss targets with hosts of their own in one plan: each is asked for by its own name, must show a certificate
// for it, and is resumed with sessions that it has given itself.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <set>

#include "tests/loopback_run.h"
#include "tests/tls_peer.h"

namespace onrush {
namespace {

using testing::UnorderedElementsAre;

const Certificate& root() {
  static const Certificate made = make_certificate({.name = "root", .authority = true});
  return made;
}

/// A server for one name, which notes what it was asked for.
class Host {
 public:
  Host(const std::string& name, const std::string& certificate)
      : peer_{{{make_certificate(
                   {.name = certificate, .alternatives = "DNS:" + certificate, .issuer = &root()})},
               [this](TlsPeer::Line& line) { serve(line); }}},
        name_{name} {}

  [[nodiscard]] std::string target() const {
    return fmt::format("{{url: \"wss://{}:{}/echo\", resolve: [127.0.0.1]}}", name_, peer_.port());
  }
  [[nodiscard]] const TlsPeer& peer() const { return peer_; }
  [[nodiscard]] std::set<std::string> asked() const {
    const std::lock_guard lock{mutex_};
    return asked_;
  }
  [[nodiscard]] std::uint16_t port() const { return peer_.port(); }

 private:
  void serve(TlsPeer::Line& line) {
    const char* sni = SSL_get_servername(line.ssl(), TLSEXT_NAMETYPE_host_name);
    const std::string head = line.upgrade();
    {
      const std::lock_guard lock{mutex_};
      const std::size_t host = head.find("Host: ") + 6;
      asked_.insert(fmt::format("{} {}", sni == nullptr ? "none" : sni,
                                head.substr(host, head.find('\r', host) - host)));
    }
    line.echo();
  }

  mutable std::mutex mutex_;
  std::set<std::string> asked_;
  TlsPeer peer_;  // after what its threads use
  std::string name_;
};

Aggregate run(const std::string& targets, const std::string& tls, const std::string& script, int users = 1) {
  const std::string plan = fmt::format(R"(
name: hosts
target: {}
connection: {{tls: {}}}
scenarios:
  user: {{script: [{}]}}
stages:
  - {{name: up, users: {}, rate: 200/s, for: 800ms}}
  - {{name: down, users: 0, rate: 1000/s}}
)",
                                       targets, tls, script, users);
  Aggregate aggregate =
      run_to_the_end(plan, 1, {{"ca.pem", std::make_shared<const std::string>(root().pem())}});
  EXPECT_TRUE(aggregate.broken_identities().empty());
  return aggregate;
}

std::uint64_t counted(const Aggregate& aggregate, Counter counter) {
  return at(aggregate.counters(), counter);
}

constexpr const char* kTalk =
    "connect, {request: {text: hello, reply: {text: hello}, timeout: 3s}}, {listen: {}}";

TEST(TlsHosts, P028EachHostIsAskedForByItsOwnNameAndShowsItsOwnCertificate) {
  Host a{"a.test", "a.test"};
  Host b{"b.test", "b.test"};
  const Aggregate got = run(fmt::format("[{}, {}]", a.target(), b.target()), "{ca: ca.pem}", kTalk, 10);
  EXPECT_EQ(counted(got, Counter::opened), 10U);
  EXPECT_EQ(a.peer().secured(), 5U);
  EXPECT_EQ(b.peer().secured(), 5U);
  EXPECT_THAT(a.asked(), UnorderedElementsAre(fmt::format("a.test a.test:{}", a.port())));
  EXPECT_THAT(b.asked(), UnorderedElementsAre(fmt::format("b.test b.test:{}", b.port())));
}

TEST(TlsHosts, ACertificateOfTheOtherHostIsNoneOfThisOne) {
  Host a{"a.test", "a.test"};
  Host b{"b.test", "a.test"};
  const Aggregate got = run(fmt::format("[{}, {}]", a.target(), b.target()), "{ca: ca.pem}", kTalk, 10);
  EXPECT_EQ(counted(got, Counter::opened), 5U);
  ASSERT_EQ(got.failures().size(), 1U);
  EXPECT_EQ(got.failures()[0].failure.cause, Cause::wrong_host);
  EXPECT_EQ(got.failures()[0].count, 5U);
}

TEST(TlsHosts, OneServerNameForAllIsAskedOfAll) {
  Host a{"a.test", "shop.test"};
  Host b{"b.test", "shop.test"};
  const Aggregate got =
      run(fmt::format("[{}, {}]", a.target(), b.target()), "{ca: ca.pem, server_name: shop.test}", kTalk, 4);
  EXPECT_EQ(counted(got, Counter::opened), 4U);
  EXPECT_THAT(a.asked(), UnorderedElementsAre(fmt::format("shop.test a.test:{}", a.port())));
  EXPECT_THAT(b.asked(), UnorderedElementsAre(fmt::format("shop.test b.test:{}", b.port())));
}

// One user goes from one to the other and back; each knows him the second time, and the third.
TEST(TlsHosts, AUserResumesWithEachHostWhatHeHadWithIt) {
  Host a{"a.test", "a.test"};
  Host b{"b.test", "b.test"};
  const std::string visit = "connect, {request: {text: hi, reply: {text: hi}, timeout: 3s}}, close, ";
  const Aggregate got =
      run(fmt::format("[{}, {}]", a.target(), b.target()), "{ca: ca.pem, resume: true}",
          visit + visit + visit + visit + visit +
              "connect, {request: {text: hi, reply: {text: hi}, timeout: 3s}}, {listen: {}}");
  EXPECT_EQ(counted(got, Counter::opened), 6U);
  EXPECT_EQ(got.total().samples(Time::tls_resumed), 4U);
  for (const Host* host : {&a, &b}) {
    EXPECT_EQ(host->peer().secured(), 3U);
    EXPECT_EQ(host->peer().resumed(), 2U);
  }
  EXPECT_THAT(a.asked(), UnorderedElementsAre(fmt::format("a.test a.test:{}", a.port())));
}

}  // namespace
}  // namespace onrush
