// Sockets that bundle frames, and that do not, in all pairs.

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <string_view>
#include <thread>

#include "tests/net/messages.hpp"

namespace px::net {
namespace {

using namespace std::chrono_literals;

class BundlingTest : public ::testing::Test {
 protected:
  Context context;

  Socket router(Bundling bundling) {
    return Socket{context, SocketKind::router, {.is_mandatory = true, .bundling = bundling}};
  }
  Socket dealer(Bundling bundling, const std::string& identity, Socket& peer) {
    Socket made{context, SocketKind::dealer, {.identity = identity, .bundling = bundling}};
    if (peer.bound_endpoint().empty()) EXPECT_TRUE(peer.bind("tcp://127.0.0.1", 0));
    EXPECT_TRUE(made.connect(peer.bound_endpoint()));
    return made;
  }
  static Texts next(Socket& socket) { return texts(await(socket)); }
};

const std::string bundle_of_two{"<PX|BUNDLE>\x01\0\0\0a\x01\0\0\0b", 21};
const std::string no_bundle{"<PX|BUNDLE>\x09\0\0\0a", 16};

TEST_F(BundlingTest, ShortFramesTravelAsOne) {
  Socket blind = router(Bundling::off);
  Socket ann = dealer(Bundling::sends, "ann", blind);
  EXPECT_TRUE(ann.send({"a", "b"}));
  EXPECT_EQ(next(blind), (Texts{"ann", bundle_of_two}));
}

TEST_F(BundlingTest, LongFramesTravelByThemselvesBehindThem) {
  Socket blind = router(Bundling::off);
  Socket ann = dealer(Bundling::sends, "ann", blind);
  const std::string is_long(100000, 'x');
  EXPECT_TRUE(ann.send({"a", "b", is_long, "c"}));
  EXPECT_EQ(next(blind), (Texts{"ann", bundle_of_two, is_long, "c"}));
  EXPECT_TRUE(ann.send({is_long, "c"}));
  EXPECT_EQ(next(blind), (Texts{"ann", is_long, "c"}));
}

TEST_F(BundlingTest, TheReceiverSeesTheFrames) {
  Socket server = router(Bundling::answers);
  Socket ann = dealer(Bundling::sends, "ann", server);
  for (const Texts& sent :
       {Texts{"a", "b"}, Texts{"a"}, Texts{""}, Texts{"", "<PX|BUNDLE>", "c"},
        Texts{"a", std::string(100000, 'x'), "", "b"}, Texts{std::string(9000, 'x'), "b"},
        Texts(20, std::string(8000, 'x'))}) {  // more than one bundle may hold
    EXPECT_TRUE(ann.send(sent));
    Texts seen{"ann"};
    seen.insert(seen.end(), sent.begin(), sent.end());
    EXPECT_EQ(next(server), seen);
    EXPECT_TRUE(server.send(seen));
    EXPECT_EQ(next(ann), sent);
  }
  EXPECT_EQ(server.dropped(), 0u);
}

TEST_F(BundlingTest, ARouterBundlesForThoseWhoDo) {
  Socket server = router(Bundling::answers);
  Socket stock = dealer(Bundling::off, "stock", server);
  Socket ann = dealer(Bundling::off, "ann", server);
  stock.send({"hello"});
  EXPECT_EQ(next(server), (Texts{"stock", "hello"}));
  ann.send({bundle_of_two});  // what one that bundles sends
  EXPECT_EQ(next(server), (Texts{"ann", "a", "b"}));
  EXPECT_TRUE(server.send({"stock", "a", "b"}));
  EXPECT_EQ(next(stock), (Texts{"a", "b"}));
  EXPECT_TRUE(server.send({"ann", "a", "b"}));
  EXPECT_EQ(next(ann), Texts{bundle_of_two});
  ann.send({"hello"});  // another program that has taken its name
  EXPECT_EQ(next(server), (Texts{"ann", "hello"}));
  EXPECT_TRUE(server.send({"ann", "a", "b"}));
  EXPECT_EQ(next(ann), (Texts{"a", "b"}));
}

TEST_F(BundlingTest, ADealerThatAnswersBundlesForNobody) {
  Socket server = router(Bundling::off);
  Socket dealing = dealer(Bundling::answers, "dealing", server);
  dealing.send({"a", "b"});
  EXPECT_EQ(next(server), (Texts{"dealing", "a", "b"}));
  server.send({"dealing", bundle_of_two});
  EXPECT_EQ(next(dealing), (Texts{"a", "b"}));
}

TEST_F(BundlingTest, WhoDoesNotKnowOfBundlesSeesThemAsTheyAre) {
  Socket blind = router(Bundling::off);
  Socket stock = dealer(Bundling::off, "stock", blind);
  stock.send({bundle_of_two, "c"});
  EXPECT_EQ(next(blind), (Texts{"stock", bundle_of_two, "c"}));
}

TEST_F(BundlingTest, IsForwardedFromAndToBoth) {
  Socket front = router(Bundling::answers), back = router(Bundling::answers);
  const std::string is_long(100000, 'x');
  const Texts request{"engine", "a", "b", is_long, "c"};
  for (const Bundling client_side : {Bundling::off, Bundling::sends})
    for (const Bundling engine_side : {Bundling::off, Bundling::sends}) {
      const std::string name = std::to_string(static_cast<int>(client_side)) +
                               std::to_string(static_cast<int>(engine_side));
      Socket client = dealer(client_side, "client" + name, front);
      Socket engine = dealer(engine_side, "engine" + name, back);
      engine.send({"here", "I am"});
      next(back);
      client.send(request);
      const SharedFrames came = await(front);
      ASSERT_TRUE(came);
      const std::string to = "engine" + name;
      const std::string_view idents[] = {to, came->at(0)};
      for (int i = 0; i < 2; ++i) {  // it can be read and forwarded again
        EXPECT_TRUE(back.forward(idents, *came, 2));
        EXPECT_EQ(next(engine), (Texts{"client" + name, "a", "b", is_long, "c"}));
        EXPECT_EQ(came->at(4), is_long);
      }
      engine.send({"client" + name, "a", is_long});
      const SharedFrames answer = await(back);
      ASSERT_TRUE(answer);
      EXPECT_TRUE(front.forward({}, *answer, 1));
      EXPECT_EQ(next(client), (Texts{"a", is_long}));
    }
}

TEST_F(BundlingTest, AnIllFormedBundleIsDroppedAndCounted) {
  Socket server = router(Bundling::answers);
  Socket ann = dealer(Bundling::off, "ann", server);
  ann.send({no_bundle});
  ann.send({"<PX|BUNDLE>"});  // without any frame
  ann.send({no_bundle, "c"});
  ann.send({bundle_of_two});
  EXPECT_EQ(next(server), (Texts{"ann", "a", "b"}));
  EXPECT_EQ(server.dropped(), 3u);
}

TEST_F(BundlingTest, ABundleOfTooManyFramesIsDroppedAndCounted) {
  const auto bundle = [](std::size_t count) {
    return "<PX|BUNDLE>" + std::string(4 * count, '\0');  // of empty frames
  };
  Socket server = router(Bundling::answers);
  Socket ann = dealer(Bundling::off, "ann", server);
  ann.send({bundle(Socket::max_frames)});
  ann.send({bundle(Socket::max_frames - 2), "c"});
  EXPECT_EQ(await(server)->size(), Socket::max_frames);
  EXPECT_EQ(server.dropped(), 1u);
}

TEST_F(BundlingTest, CountsWhatWaitsForAPeer) {
  Socket server = router(Bundling::answers);
  Socket ann = dealer(Bundling::sends, "ann", server);
  ann.send({"hello"});
  next(server);
  const auto unsent = std::make_shared<UnsentBytes>();
  const TextFrames frames{"ann", "a", std::string(5000, 'b')};
  const Socket::Run run{&frames, 0, frames.size()};
  EXPECT_TRUE(server.forward({}, std::span(&run, 1), unsent));
  EXPECT_EQ(next(ann), (Texts{"a", std::string(5000, 'b')}));
  const Instant deadline = Clock::now() + 60s;
  while (unsent->value() > 0 && Clock::now() < deadline) std::this_thread::yield();
  EXPECT_EQ(unsent->value(), 0u);
  const TextFrames lost{"nobody", "a"};
  const Socket::Run to_nobody{&lost, 0, lost.size()};
  EXPECT_FALSE(server.forward({}, std::span(&to_nobody, 1), unsent));
}

TEST_F(BundlingTest, ShortPayloadsAreReleasedAtOnce) {
  Socket blind = router(Bundling::off);
  Socket ann = dealer(Bundling::sends, "ann", blind);
  std::atomic<int> released = 0;
  const std::string text = "b";
  const Socket::Payload borrowed{text.data(), text.size(),
                                 [](void* hint) { ++*static_cast<std::atomic<int>*>(hint); },
                                 &released};
  EXPECT_TRUE(ann.send_with_payloads({"a"}, {&borrowed, 1}));
  EXPECT_EQ(released, 1);
  EXPECT_EQ(next(blind), (Texts{"ann", bundle_of_two}));
}

}  // namespace
}  // namespace px::net
