#include "net/lifeline/lifeline.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "net/lifeline/lifeline_protocol.hpp"
#include "net/local_interface.hpp"
#include "net/tcp.hpp"

namespace px::net {
namespace {

using namespace std::chrono_literals;

const EngineUuid ann{"ann"};
const EngineUuid bob{"bob"};

Signer signer(std::string_view key = "secret") {
  return *Signer::create("hmac-sha256", key);
}

Instant at(Duration age) {
  return Instant{} + age;
}

LifelineServer new_server(const LifelineLimits& limits = {}) {
  return std::move(LifelineServer::listen("127.0.0.1", 0, signer(), limits).value());
}

/// "opened ann", "closed bob".
std::string say(const LifelineEvent& event) {
  if (const auto* opened = std::get_if<LifelineOpened>(&event))
    return "opened " + opened->uuid.text;
  return "closed " + std::get<LifelineClosed>(event).uuid.text;
}

/// Waits until a descriptor is readable; false after a minute.
bool await(int descriptor) {
  pollfd item{descriptor, POLLIN, 0};
  return ::poll(&item, 1, 60'000) == 1;
}

/// What the server tells next; turns it until it tells something.
std::vector<std::string> next_events(LifelineServer& server) {
  std::vector<std::string> said;
  while (said.empty() && await(server.descriptor()))
    for (const LifelineEvent& event : server.receive(at(0s))) said.push_back(say(event));
  return said;
}

/// Turns both until the client holds its lifeline, and returns what the server told.
std::vector<std::string> open(LifelineServer& server, LifelineClient& client,
                              const std::string& interface = "tcp://127.0.0.1") {
  EXPECT_TRUE(client.dial(interface, server.port()));
  while (client.state() == LifelineState::dialing && await(server.descriptor())) {
    EXPECT_TRUE(server.receive(at(0s)).empty());
    if (!await(client.descriptor())) break;
    client.receive();
  }
  EXPECT_EQ(client.state(), LifelineState::held);
  return next_events(server);
}

using Events = std::vector<std::string>;

TEST(Lifeline, TellsThatAnEngineOpenedAndClosedIt) {
  LifelineServer server = new_server();
  LifelineClient client{ann, signer()};
  EXPECT_EQ(open(server, client), Events{"opened ann"});
  EXPECT_EQ(server.open_count(), 1u);
  client.close();
  EXPECT_EQ(next_events(server), Events{"closed ann"});
  EXPECT_EQ(server.open_count(), 0u);
  EXPECT_EQ(server.rejected(), 0u);
}

TEST(Lifeline, TellsWhichOfManyEnginesIsGone) {
  LifelineServer server = new_server();
  LifelineClient first{ann, signer()};
  EXPECT_EQ(open(server, first), Events{"opened ann"});
  {
    LifelineClient second{bob, signer()};
    EXPECT_EQ(open(server, second), Events{"opened bob"});
  }
  EXPECT_EQ(next_events(server), Events{"closed bob"});
  EXPECT_EQ(server.open_count(), 1u);
}

TEST(Lifeline, AnEngineThatDialsAnewIsNotTakenForDead) {
  LifelineServer server = new_server();
  LifelineClient again{ann, signer()};
  {
    LifelineClient client{ann, signer()};
    EXPECT_EQ(open(server, client), Events{"opened ann"});
    EXPECT_TRUE(again.dial("127.0.0.1", server.port()));
    while (again.receive() != LifelineState::held && await(server.descriptor())) {
      server.receive(at(0s));
      await(again.descriptor());
    }
  }
  while (server.open_count() != 1 && await(server.descriptor()))
    EXPECT_TRUE(server.receive(at(0s)).empty());
  again.close();
  EXPECT_EQ(next_events(server), Events{"closed ann"});
}

TEST(Lifeline, AnEngineWithAnotherKeyIsCutOffAndCounted) {
  LifelineServer server = new_server();
  LifelineClient stranger{ann, signer("another key")};
  ASSERT_TRUE(stranger.dial("127.0.0.1", server.port()));
  while (server.rejected() == 0 && await(server.descriptor())) {
    EXPECT_TRUE(server.receive(at(0s)).empty());
    if (server.rejected() == 0 && await(stranger.descriptor())) stranger.receive();
  }
  EXPECT_EQ(server.rejected(), 1u);
  while (stranger.receive() != LifelineState::closed && await(stranger.descriptor())) {
  }
  EXPECT_EQ(stranger.why_closed(), "the controller closed the lifeline");
}

TEST(Lifeline, WhoSaysTooMuchIsCutOff) {
  LifelineServer server = new_server();
  const os::Descriptor talker = std::move(start_connect_tcp("127.0.0.1", server.port()).value());
  ASSERT_TRUE(await(server.descriptor()));
  server.receive(at(0s));
  ASSERT_TRUE(await(talker.value()));
  const std::string flood(2 * max_lifeline_line, 'x');
  ASSERT_GT(::send(talker.value(), flood.data(), flood.size(), MSG_NOSIGNAL), 0);
  while (server.rejected() == 0 && await(server.descriptor())) server.receive(at(0s));
  EXPECT_EQ(server.rejected(), 1u);
}

/// As another thread's system call does that began just before the connection was closed.
TEST(Lifeline, AConnectionThatIsHeldElsewhereWhenItIsClosedIsNotReadAgain) {
  LifelineServer server = new_server();
  const os::Descriptor talker = std::move(start_connect_tcp("127.0.0.1", server.port()).value());
  ASSERT_TRUE(await(server.descriptor()));
  const int next = os::Descriptor{::dup(talker.value())}.value();  // the number that is free
  server.receive(at(0s));
  const os::Descriptor held{::dup(next)};
  ASSERT_TRUE(held.is_open());
  const std::string flood(2 * max_lifeline_line, 'x');
  ASSERT_GT(::send(talker.value(), flood.data(), flood.size(), MSG_NOSIGNAL), 0);
  while (server.rejected() == 0 && await(server.descriptor())) server.receive(at(0s));
  ASSERT_GT(::send(talker.value(), flood.data(), flood.size(), MSG_NOSIGNAL), 0);
  ASSERT_TRUE(await(server.descriptor()));
  EXPECT_TRUE(server.receive(at(0s)).empty());
}

TEST(Lifeline, WhoSaysNothingIsCutOffAfterTenSeconds) {
  LifelineServer server = new_server();
  const os::Descriptor silent = std::move(start_connect_tcp("127.0.0.1", server.port()).value());
  ASSERT_TRUE(await(server.descriptor()));
  EXPECT_FALSE(server.next_deadline());
  server.receive(at(5s));
  EXPECT_EQ(server.next_deadline(), at(15s));
  server.receive(at(14s));
  EXPECT_EQ(server.rejected(), 0u);
  server.receive(at(15s));
  EXPECT_EQ(server.rejected(), 1u);
  EXPECT_FALSE(server.next_deadline());
}

TEST(Lifeline, AnEngineThatSaidItsNameMayStaySilentForEver) {
  LifelineServer server = new_server();
  LifelineClient client{ann, signer()};
  EXPECT_EQ(open(server, client), Events{"opened ann"});
  EXPECT_TRUE(server.receive(at(24h)).empty());
  EXPECT_EQ(server.open_count(), 1u);
}

TEST(Lifeline, OfThoseThatHaveNotSaidTheirNamesTheOldestMakeRoomForAnEngine) {
  LifelineServer server = new_server({.max_unidentified = 2});
  std::vector<os::Descriptor> strangers;
  for (int i = 0; i < 8; ++i)
    strangers.push_back(std::move(start_connect_tcp("127.0.0.1", server.port()).value()));
  while (server.rejected() < 6 && await(server.descriptor())) server.receive(at(0s));
  EXPECT_EQ(server.rejected(), 6u);
  LifelineClient client{ann, signer()};
  EXPECT_EQ(open(server, client), Events{"opened ann"});
}

TEST(Lifeline, ARefusedDialIsToldAndMayBeTriedAgain) {
  int port = 0;
  LifelineClient client{ann, signer()};
  {
    LifelineServer gone = new_server();
    port = gone.port();
  }
  ASSERT_TRUE(client.dial("127.0.0.1", port).has_value() || !client.why_closed().empty());
  while (client.receive() == LifelineState::dialing && await(client.descriptor())) {
  }
  EXPECT_EQ(client.state(), LifelineState::closed);
  EXPECT_NE(client.why_closed().find("refused"), std::string::npos) << client.why_closed();
  LifelineServer server = new_server();
  EXPECT_EQ(open(server, client), Events{"opened ann"});
}

TEST(Lifeline, TheEndOfTheControllerIsToldToTheEngine) {
  LifelineClient client{ann, signer()};
  {
    LifelineServer server = new_server();
    EXPECT_EQ(open(server, client), Events{"opened ann"});
  }
  while (client.receive() != LifelineState::closed && await(client.descriptor())) {
  }
  EXPECT_EQ(client.state(), LifelineState::closed);
}

TEST(Lifeline, AServerThatDoesNotGreetAsAControllerIsLeft) {
  const os::Descriptor listener = std::move(listen_tcp("127.0.0.1", 0).value());
  LifelineClient client{ann, signer()};
  ASSERT_TRUE(client.dial("127.0.0.1", local_port(listener)));
  ASSERT_TRUE(await(listener.value()));
  const os::Descriptor other = accept_tcp(listener);
  constexpr std::string_view text = "HTTP/1.1 400 Bad Request\r\n\r\n";
  ASSERT_GT(::send(other.value(), text.data(), text.size(), 0), 0);
  ASSERT_TRUE(await(client.descriptor()));
  EXPECT_EQ(client.receive(), LifelineState::closed);
  EXPECT_EQ(client.why_closed(), "the program at the lifeline's port is not a polyxeus controller");
}

TEST(Lifeline, AForkedChildThatLivesOnDoesNotHideTheDeathOfTheEngine) {
  LifelineServer server = new_server();
  int until_test_ends[2];
  ASSERT_EQ(::pipe2(until_test_ends, O_CLOEXEC), 0);
  LifelineClient client{ann, signer()};
  EXPECT_EQ(open(server, client), Events{"opened ann"});
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(until_test_ends[1]);
    char byte = 0;
    [[maybe_unused]] const auto got = ::read(until_test_ends[0], &byte, 1);
    ::_exit(0);
  }
  client.close();
  EXPECT_EQ(next_events(server), Events{"closed ann"});
  ::close(until_test_ends[1]);
  ::close(until_test_ends[0]);
  ::waitpid(child, nullptr, 0);
}

TEST(Lifeline, DescriptorsAreClosedOnExec) {
  LifelineServer server = new_server();
  LifelineClient client{ann, signer()};
  EXPECT_EQ(open(server, client), Events{"opened ann"});
  for (int descriptor = 3; descriptor < 64; ++descriptor) {
    int type = 0;
    socklen_t length = sizeof type;
    if (::getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) != 0) continue;
    EXPECT_TRUE(::fcntl(descriptor, F_GETFD) & FD_CLOEXEC) << descriptor;
  }
  EXPECT_TRUE(::fcntl(server.descriptor(), F_GETFD) & FD_CLOEXEC);
  EXPECT_TRUE(::fcntl(client.descriptor(), F_GETFD) & FD_CLOEXEC);
}

TEST(Lifeline, APortInUseIsNamed) {
  LifelineServer server = new_server();
  const auto second = LifelineServer::listen("127.0.0.1", server.port(), signer());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::system);
  EXPECT_EQ(second.error().what, "cannot listen at 127.0.0.1:" + std::to_string(server.port()) +
                                     ": Address already in use");
}

TEST(Lifeline, ListensAtEveryAddressForAStar) {
  for (const std::string_view ip : {"*", "0.0.0.0", "tcp://*"}) {
    LifelineServer server = std::move(LifelineServer::listen(ip, 0, signer()).value());
    LifelineClient client{ann, signer()};
    EXPECT_EQ(open(server, client), Events{"opened ann"});
  }
}

TEST(Lifeline, WhatIsNoAddressIsRefused) {
  const auto server = LifelineServer::listen("300.1.2.3.4", 0, signer());
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().kind, ErrorKind::bad_input);
}

TEST(Lifeline, FourHundredEnginesShareOneDescriptor) {
  LifelineServer server = new_server();
  std::vector<LifelineClient> clients;
  for (int i = 0; i < 400; ++i)
    clients.emplace_back(EngineUuid{"engine " + std::to_string(i)}, signer());
  for (LifelineClient& client : clients) ASSERT_TRUE(client.dial("127.0.0.1", server.port()));
  std::size_t opened = 0;
  while (opened < clients.size()) {
    opened += server.receive(at(0s)).size();
    for (LifelineClient& client : clients) client.receive();
    ASSERT_TRUE(opened == clients.size() || await(server.descriptor()));
  }
  clients.clear();
  std::size_t closed = 0;
  while (closed < opened && await(server.descriptor())) closed += server.receive(at(0s)).size();
  EXPECT_EQ(closed, opened);
}

TEST(Lifeline, IsHeldAtAUnixSocketAsWell) {
  const auto folder = SocketFolder::create();
  ASSERT_TRUE(folder);
  LifelineServer server = new_server();
  ASSERT_TRUE(server.listen_also(folder->interface()));
  LifelineClient client{ann, signer()};
  EXPECT_EQ(open(server, client, folder->interface()), std::vector<std::string>{"opened ann"});
  server.probe(ann);
  EXPECT_TRUE(server.is_reachable(ann));
  client.close();
  EXPECT_EQ(next_events(server), std::vector<std::string>{"closed ann"});
}

}  // namespace
}  // namespace px::net
