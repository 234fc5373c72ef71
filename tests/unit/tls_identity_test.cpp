// Client certificates by data feed: each user is who his row says, on every connection, over real sockets and
// OpenSSL's server side; and what is said of files that are no good.
#include "agent/tls_identity.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <mutex>

#include "core/feed_shares.h"
#include "tests/loopback_run.h"
#include "tests/tls_peer.h"

namespace onrush {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using testing::Not;

constexpr int kUsers = 12;

FileContent content(std::string bytes) { return std::make_shared<const std::string>(std::move(bytes)); }

struct Authority {
  Certificate root = make_certificate({.name = "root", .authority = true});
  Certificate middle = make_certificate({.name = "middle", .issuer = &root, .authority = true});
  Certificate here = make_certificate({.name = "here", .alternatives = "IP:127.0.0.1", .issuer = &root});
  std::vector<Certificate> users;  ///< user-1 to user-kUsers, below `middle`

  Authority() {
    for (int i = 1; i <= kUsers; ++i)
      users.push_back(make_certificate({.name = fmt::format("user-{}", i), .issuer = &middle}));
  }

  /// Row i of the feed names the files of user i; the certificates have their chain behind them.
  [[nodiscard]] PlanFiles files() const {
    PlanFiles all{{"ca.pem", content(root.pem())}};
    std::string rows = "name\n";
    for (int i = 1; i <= kUsers; ++i) {
      const Certificate& user = users[static_cast<std::size_t>(i) - 1];
      rows += fmt::format("user-{}\n", i);
      all[fmt::format("certs/user-{}.pem", i)] = content(user.pem() + middle.pem());
      all[fmt::format("certs/user-{}.key", i)] = content(user.key_pem());
    }
    all["users.csv"] = content(rows);
    return all;
  }
};

const Authority& authority() {
  static const Authority all;
  return all;
}

constexpr const char* kIdentity =
    R"(certificate: "certs/${data.users.name}.pem", key: "certs/${data.users.name}.key")";

struct Wish {
  std::uint16_t port = 1;
  std::string tls = fmt::format("{{ca: ca.pem, {}}}", kIdentity);
  std::string feed = "{csv: users.csv, take: once}";
  std::string script = R"(connect, {request: {text: "${data.users.name}", timeout: 3s}}, {listen: {}})";
  std::string stages = "{name: up, users: 12, rate: 500/s, for: 200ms}, {name: down, users: 0, rate: 1000/s}";
};

std::string plan_of(const Wish& wish) {
  return fmt::format(
      "name: identities\ntarget: wss://127.0.0.1:{}/echo\ndata: {{users: {}}}\nconnection:\n  tls: {}\n"
      "scenarios: {{user: {{script: [{}]}}}}\nstages: [{}]\n",
      wish.port, wish.feed, wish.tls, wish.script, wish.stages);
}

PlanText text_of(const Wish& wish, PlanFiles files = authority().files()) {
  return {"t.yaml", plan_of(wish), {}, "", std::move(files)};
}

std::string said(const PlanText& text) {
  const auto plan = read_plan(source_of(text));
  return plan ? "a good plan" : render("t.yaml", plan.error());
}

/// A server that wants to know who comes, and hears from each who he thinks he is.
class Doorman {
 public:
  explicit Doorman(int version = TLS1_3_VERSION)
      : peer_{{{authority().here},
               [this](TlsPeer::Line& line) { serve(line); },
               [version](SSL_CTX* context) {
                 SSL_CTX_set_max_proto_version(context, version);
                 X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority().root.x509.get());
                 SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
               }}} {}

  [[nodiscard]] std::uint16_t port() const { return peer_.port(); }
  [[nodiscard]] const TlsPeer& peer() const { return peer_; }
  /// Messages by "who he is by his certificate: who he says he is".
  [[nodiscard]] std::map<std::string, int> heard() const {
    const std::lock_guard lock{mutex_};
    return heard_;
  }

 private:
  void serve(TlsPeer::Line& line) {
    char name[100] = "nobody";
    if (const X509* shown = SSL_get0_peer_certificate(line.ssl()))
      X509_NAME_get_text_by_NID(X509_get_subject_name(shown), NID_commonName, name, sizeof name);
    line.upgrade();
    for (std::string frame = line.hear_frame(); !frame.empty(); frame = line.hear_frame()) {
      if (frame[0] == 1) {
        const std::lock_guard lock{mutex_};
        ++heard_[fmt::format("{}: {}", name, frame.substr(1))];
      }
      if (!line.say(TlsPeer::server_frame(frame.substr(1), frame[0])) || frame[0] == 8) break;
    }
  }

  mutable std::mutex mutex_;
  std::map<std::string, int> heard_;
  TlsPeer peer_;  // after what its threads use
};

/// What prepare_run() and the coordinator do together: the feed travels as this one agent's share.
Aggregate run(const Wish& wish, std::uint32_t workers) {
  const PlanText text = text_of(wish);
  Prepare prepare = prepare_run(text.yaml);
  const auto plan = read_plan(source_of(text));
  EXPECT_TRUE(plan) << said(text);
  prepare.plan.files = text.files;
  prepare.plan.files.merge(deal_files(*plan, text.files, 1)[0]);
  Aggregate aggregate = run_to_the_end(prepare, workers);
  EXPECT_TRUE(aggregate.broken_identities().empty());
  return aggregate;
}

std::uint64_t counted(const Aggregate& aggregate, Counter counter) {
  return at(aggregate.counters(), counter);
}

TEST(TlsIdentity, EachUserIsWhoHisRowSays) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    Doorman door{version};
    const Aggregate got = run({.port = door.port()}, 2);
    EXPECT_EQ(counted(got, Counter::opened), 12U);
    EXPECT_EQ(counted(got, Counter::failed_requests), 0U);
    std::map<std::string, int> once;
    for (int i = 1; i <= kUsers; ++i) once[fmt::format("user-{0}: user-{0}", i)] = 1;
    EXPECT_EQ(door.heard(), once);
  }
}

// Users who leave make room for others in the same places of the slab, and the server would take a session of
// the one before for the next: it knows by the session alone who he is.
TEST(TlsIdentity, NobodyResumesTheSessionOfAnother) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    Doorman door{version};
    const std::string talk = R"({request: {text: "${data.users.name}", timeout: 3s}})";
    const Aggregate got =
        run({.port = door.port(),
             .tls = fmt::format("{{ca: ca.pem, resume: true, {}}}", kIdentity),
             .feed = "{csv: users.csv, take: cycle}",
             .script = fmt::format("connect, {0}, close, connect, {0}, close", talk),
             .stages = "{name: come, arrivals: 60/s, for: 1500ms}, {name: drain, arrivals: 0/s}"},
            1);
    const std::uint64_t sessions = counted(got, Counter::arrivals);
    EXPECT_GT(sessions, 60U);
    EXPECT_EQ(counted(got, Counter::opened), 2 * sessions);
    EXPECT_EQ(got.total().samples(Time::tls_resumed), sessions) << "each second connection, and no first one";
    EXPECT_EQ(door.peer().resumed(), sessions);
    for (const auto& [who, messages] : door.heard())
      EXPECT_EQ(who.substr(0, who.find(':')), who.substr(who.find(':') + 2)) << messages;
    EXPECT_EQ(door.heard().size(), static_cast<std::size_t>(kUsers));
  }
}

TEST(TlsIdentity, OneKeyMayServeAllCertificates) {
  const Certificate first = make_certificate({.name = "first"});
  PlanFiles files{{"users.csv", content("name\nfirst\n")},
                  {"first.pem", content(first.pem())},
                  {"all.key", content(first.key_pem())}};
  EXPECT_EQ(said(text_of({.tls = R"({certificate: "${data.users.name}.pem", key: all.key})"}, files)),
            "a good plan");
}

TEST(TlsIdentity, EachPairIsParsedOnceHoweverManyRowsNameIt) {
  PlanFiles files = authority().files();
  files["users.csv"] = content("name\nuser-1\nuser-2\nuser-1\nuser-2\nuser-1\n");
  const PlanText text = text_of({}, files);
  const auto plan = read_plan(source_of(text));
  ASSERT_TRUE(plan) << said(text);
  FeedTable rows{1};
  for (const char* name : {"user-1", "user-2", "user-1", "user-2", "user-1"}) rows.add(name);
  const std::vector<FeedTable> feeds{rows};
  const auto identities = ClientIdentities::load(*plan, feeds, files);
  ASSERT_TRUE(identities) << identities.error();
  ASSERT_EQ(identities->all().size(), 2U);
  for (std::uint32_t row = 0; row < 5; ++row)
    EXPECT_EQ(identities->of(&row)->name(), row % 2 == 0 ? "certs/user-1.pem" : "certs/user-2.pem");
}

TEST(TlsIdentity, AnAgentGetsTheFilesOfItsOwnUsersOnly) {
  const PlanText text = text_of({});
  const auto plan = read_plan(source_of(text));
  ASSERT_TRUE(plan) << said(text);
  const std::vector<PlanFiles> dealt = deal_files(*plan, text.files, 3);
  std::size_t certificates = 0;
  for (const PlanFiles& files : dealt) {
    EXPECT_THAT(files, Contains(Key("ca.pem")));
    for (const auto& [name, bytes] : files)
      certificates += name.ends_with(".pem") && name != "ca.pem" ? 1 : 0;
    EXPECT_EQ(files.size(), 2U + 2 * 4U);  // the CA, a share of the feed, the files of every third user
  }
  EXPECT_EQ(certificates, 12U);
  EXPECT_THAT(dealt[0], Contains(Key("certs/user-1.key")));
  EXPECT_THAT(dealt[1], Not(Contains(Key("certs/user-1.key"))));
}

TEST(TlsIdentity, ABadFileIsOneMistakeThatNamesItsRow) {
  const auto with = [](const std::string& name, const std::string& bytes) {
    PlanFiles files = authority().files();
    files[name] = content(bytes);
    return said(text_of({}, files));
  };
  const Authority& a = authority();
  EXPECT_EQ(with("other.pem", ""), "a good plan");
  EXPECT_EQ(with("certs/user-3.pem", ""),
            "t.yaml:5:34: 'certificate' in 'tls' in 'connection': row 3 of 'users.csv', line 4: "
            "'certs/user-3.pem' holds no certificate; write one in PEM, as of: openssl x509 -in FILE -inform "
            "DER\n1 mistake in t.yaml; nothing was started\n");
  EXPECT_THAT(
      with("certs/user-2.key", a.users[0].key_pem()),
      HasSubstr("'key' in 'tls' in 'connection': row 2 of 'users.csv', line 3: 'certs/user-2.key' is not "
                "the key of the certificate"));
  PlanFiles files = a.files();
  files.erase("certs/user-7.pem");
  EXPECT_THAT(said(text_of({}, files)), HasSubstr("row 7 of 'users.csv', line 8: "));
  files = a.files();
  files["users.csv"] = content("name,certificate\nuser-1,\n");
  EXPECT_THAT(
      said(text_of({.tls = R"({certificate: "${data.users.certificate}", key: "${data.users.name}"})"},
                   files)),
      HasSubstr("row 1 of 'users.csv', line 2: it names no file"));
}

TEST(TlsIdentity, OnlyColumnsOfOneFeedNameTheFiles) {
  const auto with = [](const std::string& tls) {
    PlanFiles files = authority().files();
    return said(text_of({.tls = tls}, files));
  };
  EXPECT_THAT(
      with(R"({certificate: "${user}.pem", key: a.key})"),
      HasSubstr("t.yaml:5:23: 'certificate' in 'tls' in 'connection': '${user}' is not known before the "
                "run; columns of a data feed are, as ${data.users.name}"));
  EXPECT_THAT(with(R"({certificate: "${data.users.nam}.pem", key: a.key})"), HasSubstr("did you mean"));
  EXPECT_THAT(with(R"({certificate: "${data.users.name}.pem"})"), HasSubstr("has no 'key' beside it"));
  EXPECT_THAT(with(R"({certificate: "$${a.pem", key: "b.key"})"),
              HasSubstr("names no column of a data feed"));
}

}  // namespace
}  // namespace onrush
