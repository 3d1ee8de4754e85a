// Sockets that speak ZMTP at Unix sockets themselves, with each other and with libzmq's.

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/connection_monitor.hpp"
#include "net/discovery/local_interface.hpp"
#include "net/loop.hpp"
#include "net/socket.hpp"

namespace px::net {
namespace {

using namespace std::chrono_literals;
using Texts = std::vector<std::string>;

Texts texts(const SharedFrames& frames) {
  Texts all;
  for (std::size_t i = 0; frames && i < frames->size(); ++i) all.emplace_back(frames->at(i));
  return all;
}

/// A socket, and a loop that watches it.
class End {
 public:
  End(Loop& loop, Socket& socket) : loop_(loop), socket_(socket) {
    loop_.watch(socket_, [this] {
      while (SharedFrames frames = socket_.receive()) arrived_.push_back(std::move(frames));
    });
  }
  ~End() { loop_.forget(socket_); }
  End(const End&) = delete;
  End& operator=(const End&) = delete;

  bool has_one() const { return !arrived_.empty(); }
  /// The next message; null after ten seconds.
  SharedFrames next() {
    const Instant deadline = Clock::now() + 10s;
    while (arrived_.empty() && Clock::now() < deadline) loop_.wait_until(deadline);
    if (arrived_.empty()) return nullptr;
    SharedFrames frames = std::move(arrived_.front());
    arrived_.erase(arrived_.begin());
    return frames;
  }

 private:
  Loop& loop_;
  Socket& socket_;
  std::vector<SharedFrames> arrived_;
};

/// Which ends are ours; the others are libzmq's.
struct Ends {
  bool is_router_ours, is_dealer_ours;
};

class LocalSocket : public ::testing::TestWithParam<Ends> {
 protected:
  SocketFolder folder = *SocketFolder::create();
  std::string where = folder.interface() + "/5555";
  Context context;
  Loop loop;

  Socket router(SocketOptions options = {}) {
    options.speaks_locally = GetParam().is_router_ours;
    options.hand_over = true;
    Socket made{context, SocketKind::router, options};
    EXPECT_TRUE(made.listen(where));
    return made;
  }
  Socket dealer(const std::string& identity, SocketOptions options = {}) {
    options.speaks_locally = GetParam().is_dealer_ours;
    options.identity = identity;
    options.linger = 5s;
    Socket made{context, SocketKind::dealer, options};
    EXPECT_TRUE(made.connect(where));
    return made;
  }
  /// Until `is_met`, ten seconds at most: libzmq's threads do not wake the loop.
  bool wait_for(const std::function<bool()>& is_met) {
    const Instant deadline = Clock::now() + 10s;
    while (!is_met() && Clock::now() < deadline) loop.wait_until(Clock::now() + 10ms);
    return is_met();
  }
};

INSTANTIATE_TEST_SUITE_P(Ends, LocalSocket,
                         ::testing::Values(Ends{true, true}, Ends{true, false}, Ends{false, true}),
                         [](const auto& info) {
                           if (!info.param.is_router_ours) return "DealerAlone";
                           return info.param.is_dealer_ours ? "Both" : "RouterAlone";
                         });

TEST_P(LocalSocket, CarriesWholeMessagesBothWays) {
  Socket server = router(), client = dealer("ann");
  End at_server{loop, server}, at_client{loop, client};
  const Texts message{"a", "", std::string(300, 'b'), std::string(3 << 20, 'x')};
  EXPECT_TRUE(client.send(message));
  Texts expected = message;
  expected.insert(expected.begin(), "ann");
  EXPECT_EQ(texts(at_server.next()), expected);
  EXPECT_TRUE(server.send(expected));
  EXPECT_EQ(texts(at_client.next()), message);
}

TEST_P(LocalSocket, WorksWithoutALoop) {
  Socket server = router(), client = dealer("ann");
  const auto receive = [](Socket& socket) {
    SharedFrames frames;
    for (const Instant deadline = Clock::now() + 10s; !frames && Clock::now() < deadline;)
      frames = socket.receive();
    return texts(frames);
  };
  client.send({"request"});
  // What waits for the other end's part of the handshake is sent when that has been read.
  std::optional<Texts> request;
  for (const Instant deadline = Clock::now() + 10s; !request && Clock::now() < deadline;) {
    client.receive();
    if (const SharedFrames frames = server.receive()) request = texts(frames);
  }
  EXPECT_EQ(request, (Texts{"ann", "request"}));
  EXPECT_TRUE(server.send({"ann", "reply"}));
  EXPECT_EQ(receive(client), Texts{"reply"});
}

TEST_P(LocalSocket, SendsAtOnceWhenTheLoopThatWatchedItHasEnded) {
  Socket server = router(), client = dealer("ann");
  End at_server{loop, server};
  {
    Loop short_lived;
    bool is_open = false;
    short_lived.watch(client, [] {});
    client.send({"first"});
    for (const Instant end = Clock::now() + 10s; !is_open && Clock::now() < end;) {
      short_lived.wait_until(Clock::now() + 1ms);
      loop.wait_until(Clock::now() + 1ms);
      is_open = at_server.has_one();
    }
  }
  EXPECT_EQ(texts(at_server.next()), (Texts{"ann", "first"}));
  client.send({"second"});
  EXPECT_EQ(texts(at_server.next()), (Texts{"ann", "second"}));
}

TEST_P(LocalSocket, KeepsTheOrderOfManyMessages) {
  Socket server = router(), client = dealer("ann");
  End at_server{loop, server}, at_client{loop, client};
  constexpr int count = 2000;
  for (int i = 0; i < count; ++i)
    client.send({std::to_string(i), std::string(static_cast<std::size_t>(i % 97) * 211, 'x')});
  for (int i = 0; i < count; ++i) {
    const SharedFrames frames = at_server.next();
    ASSERT_TRUE(frames) << i;
    ASSERT_EQ(frames->at(1), std::to_string(i));
    server.forward(std::array{frames->at(0)}, *frames, 1);
  }
  for (int i = 0; i < count; ++i) {
    const SharedFrames frames = at_client.next();
    ASSERT_TRUE(frames) << i;
    ASSERT_EQ(texts(frames), (Texts{std::to_string(i),
                                    std::string(static_cast<std::size_t>(i % 97) * 211, 'x')}));
  }
}

TEST_P(LocalSocket, SendsBeforeAnybodyListens) {
  Socket client = dealer("ann");
  client.send({"early", std::string(100000, 'x')});
  End at_client{loop, client};
  Socket server = router();
  End at_server{loop, server};
  EXPECT_EQ(texts(at_server.next()), (Texts{"ann", "early", std::string(100000, 'x')}));
}

TEST_P(LocalSocket, ComesBackToANewListener) {
  Socket client = dealer("ann");
  ConnectionMonitor monitor{context, client};
  int connected = 0, disconnected = 0;
  loop.watch(monitor.socket(), [&] {
    while (const auto event = monitor.receive()) {
      connected += *event == ConnectionEvent::connected;
      disconnected += *event == ConnectionEvent::disconnected;
    }
  });
  End at_client{loop, client};
  {
    Socket server = router();
    End at_server{loop, server};
    client.send({"one"});
    EXPECT_EQ(texts(at_server.next()), (Texts{"ann", "one"}));
  }
  EXPECT_TRUE(wait_for([&] { return disconnected == 1; }));
  client.send({"two"});
  Socket server = router();
  End at_server{loop, server};
  EXPECT_EQ(texts(at_server.next()), (Texts{"ann", "two"}));
  EXPECT_TRUE(wait_for([&] { return connected == 2; }));
  EXPECT_EQ(disconnected, 1);
  loop.forget(monitor.socket());
}

TEST_P(LocalSocket, SendsWhatIsLeftWhenItIsDestroyed) {
  Socket server = router();
  End at_server{loop, server};
  std::optional<Socket> client = dealer("ann");
  std::optional<End> at_client{std::in_place, loop, *client};
  client->send({"first"});
  EXPECT_EQ(texts(at_server.next()), (Texts{"ann", "first"}));
  client->send({"last"});
  at_client.reset();
  client.reset();
  EXPECT_EQ(texts(at_server.next()), (Texts{"ann", "last"}));
}

TEST_P(LocalSocket, AMandatoryRouterTellsThatAPeerIsUnknown) {
  Socket server = router({.is_mandatory = true});
  std::optional<Socket> client = dealer("ann");
  std::optional<End> at_client{std::in_place, loop, *client};
  End at_server{loop, server};
  EXPECT_FALSE(server.send({"ann", "too early"}));
  client->send({"hello"});
  EXPECT_TRUE(at_server.next());
  EXPECT_TRUE(server.send({"ann", "hello"}));
  EXPECT_FALSE(server.send({"bob", "who?"}));
  at_client.reset();
  client.reset();
  EXPECT_TRUE(wait_for([&] { return !server.send({"ann", "gone"}); }));
}

TEST_P(LocalSocket, ANewConnectionTakesOverItsIdentity) {
  Socket server = router();
  End at_server{loop, server};
  Socket old = dealer("ann");
  End at_old{loop, old};
  old.send({"old"});
  EXPECT_TRUE(at_server.next());
  Socket fresh = dealer("ann");
  End at_fresh{loop, fresh};
  fresh.send({"fresh"});
  EXPECT_EQ(texts(at_server.next()), (Texts{"ann", "fresh"}));
  server.send({"ann", "to whom?"});
  EXPECT_EQ(texts(at_fresh.next()), Texts{"to whom?"});
}

TEST_P(LocalSocket, NamesThoseWithoutAnIdentity) {
  Socket server = router(), one = dealer(""), two = dealer("");
  End at_server{loop, server}, at_one{loop, one}, at_two{loop, two};
  one.send({"one"});
  const SharedFrames from_one = at_server.next();
  two.send({"two"});
  const SharedFrames from_two = at_server.next();
  ASSERT_TRUE(from_one && from_two);
  EXPECT_NE(from_one->at(0), from_two->at(0));
  server.forward(std::array{from_two->at(0)}, *from_one, 1);
  EXPECT_EQ(texts(at_two.next()), Texts{"one"});
}

TEST_P(LocalSocket, CutsOffWhoSendsTooLongAFrame) {
  Socket server = router({.max_frame_bytes = 1000});
  Socket good = dealer("good"), bad = dealer("bad");
  End at_server{loop, server}, at_good{loop, good}, at_bad{loop, bad};
  good.send({"1"});
  EXPECT_EQ(texts(at_server.next()), (Texts{"good", "1"}));
  bad.send({std::string(1001, 'x')});
  good.send({std::string(1000, 'x')});
  EXPECT_EQ(texts(at_server.next()), (Texts{"good", std::string(1000, 'x')}));
}

TEST_P(LocalSocket, CountsWhatAPeerDoesNotRead) {
  Socket server = router(), client = dealer("ann", {.receive_limit = 1});
  End at_server{loop, server};
  client.send({"hello"});
  // Nobody reads for the client from here on.
  EXPECT_TRUE(wait_for([&] {
    EXPECT_EQ(client.receive(), nullptr);
    return at_server.has_one();
  }));
  const auto unsent = std::make_shared<UnsentBytes>();
  const TextFrames message{{std::string(1 << 20, 'x')}};
  const Socket::Run run{&message, 0, 1};
  for (int i = 0; i < 32; ++i)
    EXPECT_TRUE(server.forward(std::array<std::string_view, 2>{"ann", ""}, std::span(&run, 1),
                               unsent));
  EXPECT_GT(unsent->value(), std::size_t{16} << 20);
  End at_client{loop, client};
  EXPECT_TRUE(wait_for([&] { return unsent->value() == 0; }));
  EXPECT_FALSE(server.forward(std::array<std::string_view, 2>{"bob", ""}, std::span(&run, 1),
                              unsent));
  EXPECT_EQ(unsent->value(), 0u);
}

TEST_P(LocalSocket, PayloadsAreReleasedOnceTheyAreSent) {
  Socket server = router(), client = dealer("ann");
  End at_server{loop, server}, at_client{loop, client};
  std::atomic<int> released = 0;
  const std::string large(1 << 20, 'p'), small(10, 'p');
  const auto payload = [&](const std::string& bytes) {
    return Socket::Payload{bytes.data(), bytes.size(),
                           [](void* hint) { ++*static_cast<std::atomic<int>*>(hint); }, &released};
  };
  const std::vector payloads{payload(large), payload(small)};
  EXPECT_TRUE(client.send_with_payloads({"head"}, payloads));
  EXPECT_EQ(texts(at_server.next()), (Texts{"ann", "head", large, small}));
  EXPECT_TRUE(wait_for([&] { return released == 2; }));
  EXPECT_TRUE(server.send_with_payloads({"ann", "head"}, payloads));
  EXPECT_EQ(texts(at_client.next()), (Texts{"head", large, small}));
  EXPECT_TRUE(wait_for([&] { return released == 4; }));
}

class OwnRouter : public ::testing::Test {
 protected:
  SocketFolder folder = *SocketFolder::create();
  Context context;
  Loop loop;
  Socket server{context, SocketKind::router, {.hand_over = true, .speaks_locally = true}};

  Socket dealer(const std::string& identity, const std::string& where) {
    const bool is_local = where.starts_with("ipc://");
    Socket made{context, SocketKind::dealer, {.identity = identity, .speaks_locally = is_local}};
    EXPECT_TRUE(made.connect(where));
    return made;
  }
};

TEST_F(OwnRouter, ServesTcpBesideUnixSockets) {
  ASSERT_TRUE(server.bind("tcp://127.0.0.1", 0));
  const std::string tcp = server.bound_endpoint();
  ASSERT_TRUE(server.listen(folder.interface() + "/1"));
  ASSERT_TRUE(server.listen(folder.interface() + "/2"));
  Socket far = dealer("far", tcp), near = dealer("near", folder.interface() + "/1"),
         second = dealer("second", folder.interface() + "/2");
  End at_server{loop, server}, at_far{loop, far}, at_near{loop, near}, at_second{loop, second};
  const std::string large(1 << 20, 'x');
  near.send({"near", large});
  const SharedFrames from_near = at_server.next();
  ASSERT_EQ(texts(from_near), (Texts{"near", "near", large}));
  far.send({"far", large});
  const SharedFrames from_far = at_server.next();
  ASSERT_EQ(texts(from_far), (Texts{"far", "far", large}));
  second.send({"second"});
  ASSERT_EQ(texts(at_server.next()), (Texts{"second", "second"}));
  server.forward(std::array{from_far->at(0)}, *from_near, 1);
  server.forward(std::array{from_near->at(0)}, *from_far, 1);
  server.forward(std::array<std::string_view, 1>{"second"}, *from_far, 1);
  EXPECT_EQ(texts(at_far.next()), (Texts{"near", large}));
  EXPECT_EQ(texts(at_near.next()), (Texts{"far", large}));
  EXPECT_EQ(texts(at_second.next()), (Texts{"far", large}));
}

TEST_F(OwnRouter, NeitherSideWaitsForEverBehindTheOther) {
  ASSERT_TRUE(server.bind("tcp://127.0.0.1", 0));
  const std::string tcp = server.bound_endpoint();
  ASSERT_TRUE(server.listen(folder.interface() + "/1"));
  Socket far = dealer("far", tcp), near = dealer("near", folder.interface() + "/1");
  End at_server{loop, server}, at_near{loop, near};
  near.send({"hello"});
  far.send({"hello"});
  ASSERT_TRUE(at_server.next());
  ASSERT_TRUE(at_server.next());
  for (int i = 0; i < 1000; ++i) near.send({std::string(100, 'x')});
  far.send({"let me in"});
  int before = 0;
  while (texts(at_server.next()) != Texts{"far", "let me in"}) ASSERT_LT(++before, 1001);
}

TEST_F(OwnRouter, ClosesWhoSpeaksNoZmtp) {
  ASSERT_TRUE(server.listen(folder.interface() + "/1"));
  End at_server{loop, server};
  const auto stranger = connect_unix(folder.interface(), 1);
  ASSERT_TRUE(stranger);
  const std::string request = "GET / HTTP/1.1\r\n" + std::string(64, ' ');
  ASSERT_EQ(::send(stranger->value(), request.data(), request.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(request.size()));
  ssize_t got = -1;
  for (const Instant deadline = Clock::now() + 10s; got != 0 && Clock::now() < deadline;) {
    loop.wait_until(Clock::now() + 1ms);
    char byte[100];
    got = ::read(stranger->value(), byte, sizeof byte);
    if (got < 0 && errno != EAGAIN) got = 0;  // closed with our text unread
  }
  EXPECT_EQ(got, 0);
}

}  // namespace
}  // namespace px::net
