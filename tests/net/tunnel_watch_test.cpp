#include "net/ssh/tunnel_watch.hpp"

#include <gtest/gtest.h>

#include "net/ssh/ssh_complaint.hpp"

namespace px::net {
namespace {

using namespace std::chrono_literals;
using Next = TunnelWatch::Next;

Instant at(Duration time) {
  return Instant{} + 1h + time;
}

TEST(TunnelWatch, AServerThatLetsNobodyInIsAskedOnce) {
  TunnelWatch watch;
  EXPECT_EQ(watch.ended("ann@gate: Permission denied (publickey).", at(1s)), Next::give_up);
}

TEST(TunnelWatch, AServerThatManyDialAtOnceIsAskedAgain) {
  TunnelWatch watch;
  EXPECT_EQ(watch.ended("kex_exchange_identification: Connection closed by remote host", at(1s)),
            Next::start_later);
  EXPECT_GT(watch.next_start(), at(1s));
  EXPECT_LT(watch.next_start(), at(2s));
}

TEST(TunnelWatch, PortsThatAreTakenAreChosenAnew) {
  TunnelWatch watch;
  const char* taken =
      "bind [127.0.0.1]:20001: Address already in use\r\n"
      "channel_setup_fwd_listener_tcpip: cannot listen to port: 20001\r\n"
      "Could not request local forwarding.";
  EXPECT_EQ(watch.ended(taken, at(0s)), Next::take_other_ports);
}

TEST(TunnelWatch, NothingIsTriedForEverBeforeItWorkedOnce) {
  TunnelWatch watch;
  int attempts = 1;
  while (watch.ended("Connection reset by 10.0.0.1 port 22", at(0s)) != Next::give_up) ++attempts;
  EXPECT_LT(attempts, 10);
}

TEST(TunnelWatch, ATunnelThatWasThereIsMadeAgainAtOnceThenMoreAndMoreSlowly) {
  TunnelWatch watch;
  watch.is_up(at(0s));
  EXPECT_EQ(watch.ended("Connection refused", at(60s)), Next::start_later);
  EXPECT_LE(watch.next_start(), at(61s));
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(watch.ended("Connection refused", at(60s)), Next::start_later);
  EXPECT_EQ(watch.next_start(), at(75s));
  watch.is_up(at(80s));
  watch.ended("", at(100s));
  EXPECT_LE(watch.next_start(), at(101s));
}

TEST(TunnelWatch, ItIsDueUntilItIsStarted) {
  TunnelWatch watch;
  EXPECT_FALSE(watch.next_start());
  watch.is_up(at(0s));
  watch.ended("", at(1s));
  EXPECT_TRUE(watch.next_start());
  watch.started();
  EXPECT_FALSE(watch.next_start());
}

TEST(SshComplaint, TheLastLineSaysWhy) {
  EXPECT_EQ(last_line_of("Warning: Permanently added\r\nPermission denied.\r\n\n"),
            "Permission denied.");
  EXPECT_EQ(last_line_of("\n"), "");
}

TEST(SshComplaint, TheFixIsSaid) {
  EXPECT_NE(ssh_advice("Permission denied", "ann@gate").find("ssh-copy-id ann@gate"),
            std::string::npos);
  EXPECT_NE(ssh_advice("Could not resolve hostname gate", "ann@gate").find("getent hosts gate"),
            std::string::npos);
  EXPECT_NE(
      ssh_advice("open failed: administratively prohibited", "gate").find("AllowTcpForwarding"),
      std::string::npos);
  EXPECT_NE(ssh_advice("Could not request local forwarding.", "gate").find("~/.ssh/config"),
            std::string::npos);
  EXPECT_EQ(ssh_advice("something else", "gate"), "");
}

}  // namespace
}  // namespace px::net
