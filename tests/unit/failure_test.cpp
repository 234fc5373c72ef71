#include "core/failure.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <set>

namespace onrush {
namespace {

constexpr auto kLastCause = static_cast<std::uint8_t>(Cause::other);

TEST(Failure, IsDescribedAsTheErrorTableShowsIt) {
  const struct {
    Failure failure;
    const char* text;
  } cases[] = {
      {{Phase::connect, Cause::system, ECONNREFUSED}, "refused (ECONNREFUSED)"},
      {{Phase::connect, Cause::system, EADDRNOTAVAIL}, "no port left (EADDRNOTAVAIL)"},
      {{Phase::connect, Cause::system, ELOOP}, "Too many levels of symbolic links (ELOOP)"},
      {{Phase::connect, Cause::system, 99'999}, "system error 99999"},
      {{Phase::upgrade, Cause::refused_status, 503}, "503 Service Unavailable"},
      {{Phase::upgrade, Cause::refused_status, 599}, "status 599"},
      {{Phase::upgrade, Cause::timeout, 30'000}, "no answer in 30 s"},
      {{Phase::request, Cause::timeout, 5'000}, "no reply in 5 s"},
      {{Phase::connect, Cause::timeout, 250}, "no answer in 250 ms"},
      {{Phase::open, Cause::peer_close, 1011}, "closed by peer, 1011 internal error"},
      {{Phase::open, Cause::peer_close, 1005}, "closed by peer, no code"},
      {{Phase::open, Cause::peer_close, 4405}, "closed by peer, 4405"},
      {{Phase::ack, Cause::peer_close, 4406}, "closed by peer, 4406 subprotocol not acceptable (GraphQL)"},
      {{Phase::ack, Cause::timeout, 10'000}, "no connection_ack in 10 s"},
      {{Phase::open, Cause::unknown_operation, 0}, "GraphQL message for no operation of ours"},
      {{Phase::open, Cause::unexpected_message, 5}, "GraphQL message 'ka' out of place"},
  };
  for (const auto& c : cases) EXPECT_EQ(describe(c.failure), c.text);
}

TEST(Failure, EveryCauseHasATextOfItsOwnInEveryPhase) {
  for (const Phase phase :
       {Phase::connect, Phase::upgrade, Phase::request, Phase::open, Phase::close, Phase::ack}) {
    std::set<std::string> texts;
    for (std::uint8_t cause = 0; cause <= kLastCause; ++cause)
      EXPECT_TRUE(texts.insert(describe({phase, static_cast<Cause>(cause), 0})).second) << int{cause};
    EXPECT_EQ(texts.count("unknown"), 0u);
  }
}

// P052, P055: a limit of our own machine is never mixed with the target's errors.
TEST(Failure, OwnLimitsAreOursAndHaveARemedy) {
  for (const int number : {EADDRNOTAVAIL, EADDRINUSE, EMFILE, ENFILE, ENOBUFS, ENOMEM, ENOSPC}) {
    const Failure failure{Phase::connect, Cause::system, static_cast<std::uint32_t>(number)};
    EXPECT_TRUE(is_ours(failure)) << describe(failure);
    EXPECT_TRUE(is_own_limit(failure)) << describe(failure);
    EXPECT_STRNE(remedy(failure), "") << describe(failure);
  }
  EXPECT_TRUE(is_own_limit({Phase::connect, Cause::no_port, 0}));
}

TEST(Failure, ASchemeThatIsNotThePortsIsSuspected) {
  for (const Cause cause : {Cause::end_of_stream, Cause::system}) {
    const std::uint32_t detail = cause == Cause::system ? ECONNRESET : 0;
    EXPECT_STREQ(remedy({Phase::tls, cause, detail}), "does this port speak TLS? ws:// goes without");
    EXPECT_STREQ(remedy({Phase::upgrade, cause, detail}), "does this port speak TLS? then write wss://");
    EXPECT_TRUE(may_be_of_scheme({Phase::tls, cause, detail}));
    EXPECT_FALSE(may_be_of_scheme({Phase::open, cause, detail}));
  }
  EXPECT_STREQ(remedy({Phase::upgrade, Cause::not_http, 1}), "this port speaks TLS: write wss://");
  EXPECT_FALSE(may_be_of_scheme({Phase::upgrade, Cause::not_http, 1})) << "nothing else says so";
}

TEST(Failure, WhatThePlanOrALostAgentEndedIsOursButNoLimit) {
  for (const Cause cause : {Cause::cancelled, Cause::agent_lost}) {
    EXPECT_TRUE(is_ours({Phase::connect, cause, 0}));
    EXPECT_FALSE(is_own_limit({Phase::connect, cause, 0}));
  }
}

TEST(Failure, WhatTheTargetDidIsNotOurs) {
  EXPECT_FALSE(is_ours({Phase::connect, Cause::system, ECONNREFUSED}));
  EXPECT_FALSE(is_ours({Phase::upgrade, Cause::refused_status, 503}));
  EXPECT_FALSE(is_ours({Phase::connect, Cause::self_connect, 0}));
  EXPECT_FALSE(is_ours({Phase::open, Cause::peer_close, 1011}));
  EXPECT_FALSE(is_ours({Phase::open, Cause::peer_close, EMFILE}));  // detail is a close code, not an errno
}

}  // namespace
}  // namespace onrush
