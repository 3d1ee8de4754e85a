#include "net/socket.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "net/local_interface.hpp"
#include "net/loop.hpp"
#include "tests/net/messages.hpp"

namespace px::net {
namespace {

using namespace std::chrono_literals;

class SocketTest : public ::testing::Test {
 protected:
  Context context;

  std::string bind(Socket& socket) {
    const Result<int> port = socket.bind("tcp://127.0.0.1", 0);
    EXPECT_TRUE(port);
    return "tcp://127.0.0.1:" + std::to_string(*port);
  }
};

TEST_F(SocketTest, CarriesWholeMessagesBothWays) {
  Socket router{context, SocketKind::router};
  Socket dealer{context, SocketKind::dealer, {.identity = "ann"}};
  ASSERT_TRUE(dealer.connect(bind(router)));
  EXPECT_TRUE(dealer.send({"a", "", std::string(100000, 'x')}));
  EXPECT_EQ(texts(await(router)), (Texts{"ann", "a", "", std::string(100000, 'x')}));
  EXPECT_TRUE(router.send({"ann", "reply"}));
  EXPECT_EQ(texts(await(dealer)), Texts{"reply"});
  EXPECT_EQ(dealer.receive(), nullptr);
}

TEST(SocketOfAGonePeer, WaitsForNothingOnceWhatIsUnsentIsDropped) {
  Context own;
  Socket dealer{own, SocketKind::dealer, {.linger = 24h}};
  ASSERT_TRUE(dealer.connect("tcp://127.0.0.1:1"));
  ASSERT_TRUE(dealer.send({"a"}));
  dealer.drop_unsent();
}  // the context ends

TEST_F(SocketTest, TellsWhereItListens) {
  Socket router{context, SocketKind::router};
  const std::string where = bind(router);
  EXPECT_EQ(router.bound_endpoint(), where);
}

TEST_F(SocketTest, APortInUseIsNamed) {
  Socket first{context, SocketKind::router};
  Socket second{context, SocketKind::router};
  bind(first);
  const int port = std::stoi(first.bound_endpoint().substr(first.bound_endpoint().rfind(':') + 1));
  const auto refused = second.bind("tcp://127.0.0.1", port);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::system);
  EXPECT_EQ(refused.error().what,
            "cannot listen at " + first.bound_endpoint() + ": Address already in use");
}

TEST_F(SocketTest, AnAddressOfAnotherHostIsNamed) {
  Socket router{context, SocketKind::router};
  const auto refused = router.bind("tcp://203.0.113.1", 0);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().what.find("tcp://203.0.113.1"), std::string::npos);
}

TEST_F(SocketTest, WhatIsNoEndpointIsRefused) {
  Socket dealer{context, SocketKind::dealer};
  for (const std::string where : {"", "127.0.0.1:5", "tcp://127.0.0.1", "smoke://1:2"}) {
    const auto refused = dealer.connect(where);
    ASSERT_FALSE(refused) << where;
    EXPECT_EQ(refused.error().kind, ErrorKind::bad_input);
    EXPECT_NE(refused.error().what.find("'" + where + "'"), std::string::npos);
  }
}

TEST_F(SocketTest, ForwardsWithOtherIdentsAndSharesTheBytes) {
  Socket front{context, SocketKind::router}, back{context, SocketKind::router};
  Socket client{context, SocketKind::dealer, {.identity = "client"}};
  Socket engine{context, SocketKind::dealer, {.identity = "engine"}};
  ASSERT_TRUE(client.connect(bind(front)));
  ASSERT_TRUE(engine.connect(bind(back)));
  engine.send({"here I am"});
  await(back);
  const std::string payload(1 << 20, 'p');
  client.send({"engine", "small", payload});
  const SharedFrames request = await(front);
  const std::string_view idents[] = {request->at(1), request->at(0)};
  EXPECT_TRUE(back.forward(idents, *request, 2));
  EXPECT_EQ(texts(await(engine)), (Texts{"client", "small", payload}));
  // What was forwarded can still be read and forwarded again.
  EXPECT_EQ(request->at(3), payload);
  EXPECT_TRUE(back.forward(idents, *request, 3));
  EXPECT_EQ(texts(await(engine)), (Texts{"client", payload}));
}

TEST_F(SocketTest, ForwardsFramesOfOurOwn) {
  Socket router{context, SocketKind::router};
  Socket dealer{context, SocketKind::dealer, {.identity = "ann"}};
  ASSERT_TRUE(dealer.connect(bind(router)));
  const TextFrames frames{"left out", "a", "b"};
  EXPECT_TRUE(dealer.forward({}, frames, 1));
  EXPECT_EQ(texts(await(router)), (Texts{"ann", "a", "b"}));
}

TEST_F(SocketTest, ForwardsIdentsAlone) {
  Socket router{context, SocketKind::router};
  Socket dealer{context, SocketKind::dealer, {.identity = "ann"}};
  ASSERT_TRUE(dealer.connect(bind(router)));
  const std::string_view idents[] = {"a", "b"};
  EXPECT_TRUE(dealer.forward(idents, TextFrames{"x"}, 1));
  EXPECT_EQ(texts(await(router)), (Texts{"ann", "a", "b"}));
}

TEST_F(SocketTest, AMandatoryRouterTellsThatAPeerIsUnknown) {
  Socket router{context, SocketKind::router, {.is_mandatory = true}};
  bind(router);
  EXPECT_FALSE(router.send({"nobody", "text"}));
  Socket lax{context, SocketKind::router};
  bind(lax);
  EXPECT_TRUE(lax.send({"nobody", "text"}));
}

TEST_F(SocketTest, ADealerWhoseQueueIsFullSendsNothing) {
  Socket dealer{context, SocketKind::dealer, {.send_limit = 2}};
  ASSERT_TRUE(dealer.connect("tcp://127.0.0.1:9"));
  EXPECT_TRUE(dealer.send({"1", "x"}));
  EXPECT_TRUE(dealer.send({"2", "x"}));
  EXPECT_FALSE(dealer.send({"3", "x"}));
}

TEST_F(SocketTest, AMessageOfTooManyFramesIsDroppedAndCounted) {
  Socket router{context, SocketKind::router};
  Socket dealer{context, SocketKind::dealer, {.identity = "ann"}};
  ASSERT_TRUE(dealer.connect(bind(router)));
  dealer.send(Texts(Socket::max_frames - 1, "x"));  // and the identity
  dealer.send(Texts(Socket::max_frames, "x"));
  dealer.send(Texts(3 * Socket::max_frames, "x"));
  dealer.send({"good"});
  EXPECT_EQ(await(router)->size(), Socket::max_frames);
  EXPECT_EQ(router.dropped(), 0u);
  EXPECT_EQ(texts(await(router)), (Texts{"ann", "good"}));
  EXPECT_EQ(router.dropped(), 2u);
}

TEST_F(SocketTest, APeerThatSendsTooLongAFrameIsCutOffAndOthersAreNot) {
  Socket router{context, SocketKind::router, {.max_frame_bytes = 1000}};
  const std::string where = bind(router);
  Socket good{context, SocketKind::dealer, {.identity = "good"}};
  Socket bad{context, SocketKind::dealer, {.identity = "bad"}};
  ASSERT_TRUE(good.connect(where));
  ASSERT_TRUE(bad.connect(where));
  good.send({"1"});
  bad.send({std::string(1001, 'x')});
  EXPECT_EQ(texts(await(router)), (Texts{"good", "1"}));
  good.send({std::string(1000, 'x')});
  EXPECT_EQ(texts(await(router)), (Texts{"good", std::string(1000, 'x')}));
}

TEST_F(SocketTest, ANewConnectionTakesOverItsIdentity) {
  Socket router{context, SocketKind::router, {.hand_over = true}};
  const std::string where = bind(router);
  Socket old{context, SocketKind::dealer, {.identity = "ann"}};
  ASSERT_TRUE(old.connect(where));
  old.send({"old"});
  await(router);
  Socket fresh{context, SocketKind::dealer, {.identity = "ann"}};
  ASSERT_TRUE(fresh.connect(where));
  fresh.send({"fresh"});
  EXPECT_EQ(texts(await(router)), (Texts{"ann", "fresh"}));
  router.send({"ann", "to whom?"});
  EXPECT_EQ(texts(await(fresh)), Texts{"to whom?"});
}

TEST_F(SocketTest, APublisherHearsOfEverySubscriber) {
  Socket publisher{context, SocketKind::xpub};
  const std::string where = bind(publisher);
  for (int i = 0; i < 2; ++i) {
    Socket subscriber{context, SocketKind::sub};
    subscriber.subscribe("topic");
    ASSERT_TRUE(subscriber.connect(where));
    Texts heard = texts(await(publisher));
    if (heard == Texts{std::string("\0topic", 6)})
      heard = texts(await(publisher));  // the last left
    EXPECT_EQ(heard, Texts{"\1topic"});
    publisher.send({"topic.1", "text"});
    publisher.send({"other", "text"});
    EXPECT_EQ(texts(await(subscriber)), (Texts{"topic.1", "text"}));
    EXPECT_EQ(subscriber.receive(), nullptr);
  }
}

TEST_F(SocketTest, PayloadsAreReleasedOnceTheyAreSent) {
  std::atomic<int> released = 0;
  const std::string payload(1 << 20, 'p');
  const Socket::Payload borrowed{payload.data(), payload.size(),
                                 [](void* hint) { ++*static_cast<std::atomic<int>*>(hint); },
                                 &released};
  const std::vector<Socket::Payload> payloads(3, borrowed);
  {
    Socket router{context, SocketKind::router};
    Socket dealer{context, SocketKind::dealer, {.identity = "ann"}};
    ASSERT_TRUE(dealer.connect(bind(router)));
    EXPECT_TRUE(dealer.send_with_payloads({"head"}, payloads));
    const SharedFrames got = await(router);
    EXPECT_EQ(got->size(), 5u);
    EXPECT_EQ(got->at(4), payload);
    EXPECT_TRUE(dealer.send_with_payloads({}, payloads));
    EXPECT_EQ(await(router)->size(), 4u);
  }
  Socket full{context, SocketKind::router, {.is_mandatory = true}};
  bind(full);
  const int before = released;
  EXPECT_FALSE(full.send_with_payloads({"nobody"}, payloads));
  EXPECT_GE(released, before + 3);
}

TEST_F(SocketTest, CurveLetsInWhoHasTheServersKey) {
  const CurveKeys keys = *new_curve_keys();
  Socket router{context, SocketKind::router, {.curve_server = keys}};
  const std::string where = bind(router);
  Socket plain{context, SocketKind::dealer, {.identity = "plain"}};
  ASSERT_TRUE(plain.connect(where));
  plain.send({"let me in"});
  Socket dealer{
      context, SocketKind::dealer, {.identity = "ann", .curve_server_key = keys.public_key}};
  ASSERT_TRUE(dealer.connect(where));
  dealer.send({"secret"});
  EXPECT_EQ(texts(await(router)), (Texts{"ann", "secret"}));
}

TEST(Curve, ThePublicKeyBelongsToTheSecretOne) {
  const CurveKeys keys = *new_curve_keys();
  EXPECT_EQ(keys.public_key.size(), 40u);
  EXPECT_EQ(*curve_public_key(keys.secret_key), keys.public_key);
  EXPECT_NE(new_curve_keys()->secret_key, keys.secret_key);
  for (const std::string& bad : {std::string(), std::string(40, '\x7f'), std::string(41, 'a')})
    EXPECT_FALSE(curve_public_key(bad)) << bad;
}

TEST_F(SocketTest, EncryptsUnixSocketsWhereThePeerDoes) {
  const Result<CurveKeys> keys = new_curve_keys();
  const auto folder = SocketFolder::create();
  ASSERT_TRUE(keys && folder);
  SocketOptions server_options, with_key;
  server_options.curve_server = *keys;
  with_key.curve_server_key = keys->public_key;
  server_options.encrypts_unix_sockets = with_key.encrypts_unix_sockets = true;
  Socket server{context, SocketKind::router, server_options};
  const std::string endpoint = folder->interface() + "/1";
  ASSERT_TRUE(server.listen(endpoint));
  Socket stranger{context, SocketKind::dealer}, friendly{context, SocketKind::dealer, with_key};
  ASSERT_TRUE(stranger.connect(endpoint));
  ASSERT_TRUE(friendly.connect(endpoint));
  stranger.send({"stranger"});
  friendly.send({"friendly"});
  const SharedFrames frames = await(server);
  ASSERT_TRUE(frames);
  EXPECT_EQ(frames->at(1), "friendly");
}

TEST_F(SocketTest, EncryptsTcpButNotUnixSockets) {
  const Result<CurveKeys> keys = new_curve_keys();
  ASSERT_TRUE(keys);
  const auto folder = SocketFolder::create();
  ASSERT_TRUE(folder);
  SocketOptions server_options;
  server_options.curve_server = *keys;
  Socket server{context, SocketKind::router, server_options};
  const std::string at_tcp = bind(server), at_file = folder->interface() + "/1";
  ASSERT_TRUE(server.listen(at_file));
  const std::string at_tcp_again = bind(server);
  SocketOptions with_key;
  with_key.curve_server_key = keys->public_key;
  const auto arrives = [&](const SocketOptions& options, const std::string& endpoint) {
    Socket client{context, SocketKind::dealer, options};
    EXPECT_TRUE(client.connect(endpoint));
    client.send({endpoint});
    Loop loop;
    SharedFrames frames;
    const Instant deadline = Clock::now() + (options.curve_server_key ? 60'000ms : 300ms);
    loop.watch(server, [&] { frames = server.receive(); });
    while (!frames && Clock::now() < deadline) loop.wait_until(deadline);
    return frames != nullptr && frames->at(1) == endpoint;
  };
  for (const std::string& endpoint : {at_tcp, at_file, at_tcp_again})
    EXPECT_TRUE(arrives(with_key, endpoint)) << endpoint;
  EXPECT_FALSE(arrives({}, at_tcp)) << "who has no key speaks to nobody";
  EXPECT_FALSE(arrives({}, at_tcp_again)) << "encrypted after a Unix socket, too";
}

/// The timers of all TCP connections to or from this port: field 6 of /proc/net/tcp.
Texts timers_at(const std::string& endpoint) {
  char port[8];
  std::snprintf(port, sizeof port, ":%04X", std::stoi(endpoint.substr(endpoint.rfind(':') + 1)));
  std::ifstream table{"/proc/net/tcp"};
  Texts timers;
  for (std::string line; std::getline(table, line);) {
    std::istringstream fields{line};
    std::string number, here, there, state, queues, timer;
    fields >> number >> here >> there >> state >> queues >> timer;
    if (state == "01" && (here.ends_with(port) || there.ends_with(port)))
      timers.push_back(timer.substr(0, 2));
  }
  return timers;
}

TEST_F(SocketTest, SilentConnectionsAreKeptAliveAtBothEnds) {
  Socket router{context, SocketKind::router};
  const std::string where = bind(router);
  Socket dealer{context, SocketKind::dealer, {.identity = "ann"}};
  ASSERT_TRUE(dealer.connect(where));
  EXPECT_TRUE(dealer.send({"a"}));
  ASSERT_TRUE(await(router));
  EXPECT_TRUE(router.send({"ann", "b"}));
  ASSERT_TRUE(await(dealer));
  // The timer of what was sent last gives way to that of the keepalive (02) when it is confirmed.
  const Instant deadline = Clock::now() + 60s;
  while (timers_at(where) != Texts{"02", "02"} && Clock::now() < deadline) {
  }
  EXPECT_EQ(timers_at(where), (Texts{"02", "02"}));
}

TEST_F(SocketTest, CountsWhatAPeerDoesNotRead) {
  Socket router{context, SocketKind::router};
  const std::string where = bind(router);
  Socket dealer{context, SocketKind::dealer, {.identity = "ann", .receive_limit = 1}};
  ASSERT_TRUE(dealer.connect(where));
  EXPECT_TRUE(dealer.send({"hello"}));
  ASSERT_TRUE(await(router));
  const auto unsent = std::make_shared<UnsentBytes>();
  const TextFrames message{{std::string(1 << 20, 'x')}};
  const Socket::Run run{&message, 0, 1};
  const std::string_view ann = "ann", bob = "bob", empty;
  for (int i = 0; i < 64; ++i)
    EXPECT_TRUE(router.forward(std::array{ann, empty}, std::span(&run, 1), unsent));
  EXPECT_GT(unsent->value(), std::size_t{16} << 20);
  for (int i = 0; i < 64; ++i) ASSERT_TRUE(await(dealer));
  const Instant deadline = Clock::now() + 60s;
  while (unsent->value() > 0 && Clock::now() < deadline) {
  }
  EXPECT_EQ(unsent->value(), 0u);
  EXPECT_FALSE(router.forward(std::array{bob, empty}, std::span(&run, 1), unsent));
  EXPECT_EQ(unsent->value(), 0u);
}

}  // namespace
}  // namespace px::net
