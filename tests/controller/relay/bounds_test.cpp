// Peers that do not read, or are not there: what the controller keeps for them is bounded, and each
// request is answered.

#include <functional>
#include <set>

#include "controller/relay/news_publisher.hpp"
#include "controller/relay/send_budget.hpp"
#include "tests/controller/server_fixture.hpp"

namespace px::controller {
namespace {

using namespace std::chrono_literals;

TEST(SendBudget, RefusesThoseForWhomMuchWaitsWhenItIsUsedUp) {
  const SendBudget budget{800};
  const auto ann = budget.new_peer(), bob = budget.new_peer();
  ann->add(700);
  bob->add(99);
  EXPECT_FALSE(budget.is_full(ann->value()));
  ann->add(1);
  EXPECT_TRUE(budget.is_full(ann->value()));
  EXPECT_FALSE(budget.is_full(bob->value()));
  ann->remove(701);
  EXPECT_FALSE(budget.is_full(bob->value()));
}

TEST(SendBudget, RefusesNearlyAllWhenTwiceItsBytesWaitAndAllWhenThreeTimes) {
  const SendBudget budget{std::size_t{10} << 20};
  const auto ann = budget.new_peer();
  ann->add(std::size_t{20} << 20);
  EXPECT_TRUE(budget.is_full(SendBudget::least_bytes));
  EXPECT_FALSE(budget.is_full(SendBudget::least_bytes - 1));
  ann->add(std::size_t{10} << 20);
  EXPECT_TRUE(budget.is_full(0));
}

Draft asking(std::vector<std::string> idents, const std::string& type = "apply_request",
             Json metadata = Json::object(), std::string buffer = "arguments") {
  return {std::move(idents), type, "{}", std::move(metadata), Json::object(), {std::move(buffer)}};
}

Json to_all(const std::string& engine, bool is_gathered) {
  return {{"targets", Json::array({{engine, 0}})},
          {"is_broadcast", true},
          {"is_coalescing", is_gathered}};
}

class BoundsTest : public ServerTest {
 protected:
  /// An engine that is registered and has no other connections.
  std::unique_ptr<Peer> registered(const std::string& uuid, FakeClient& user) {
    auto engine = std::make_unique<Peer>(context_, uuid, files.engine.registration);
    net::Socket pong = engine->dealer(files.engine.hb_pong);
    net::Socket ping = engine->subscriber(files.engine.hb_ping);
    engine->ask("registration_request", Json{{"uuid", uuid}});
    pong.send({std::string(receive_frames(ping)->at(0))});
    user.wait_for("registration_notification", uuid);
    return engine;
  }
  /// It takes one message and no more until it is read.
  net::Socket lazy(const std::string& identity, int port) {
    net::Socket socket{
        context_, net::SocketKind::dealer, {.identity = identity, .receive_limit = 1}};
    EXPECT_TRUE(socket.connect("tcp://127.0.0.1:" + std::to_string(port)));
    return socket;
  }
};

TEST_F(BoundsTest, WhatWaitsTooLongForAConnectionOfItsEngineIsAnsweredByAnError) {
  ServerOptions options;
  options.membership.registration_timeout = 500ms;
  start(options);
  auto user = client();
  const auto ann = registered("ann", *user);
  for (const std::string engine : {"ann", "nobody"}) {
    std::set<std::string> asked, answered;
    asked.insert(user->send(user->mux, asking({engine})));
    asked.insert(user->send(user->control, asking({engine}, "abort_request")));
    for (const bool is_gathered : {false, true})
      asked.insert(
          user->send(user->broadcast, asking({}, "apply_request", to_all(engine, is_gathered))));
    for (net::Socket* socket : {&user->mux, &user->control, &user->broadcast, &user->broadcast}) {
      const Received reply = receive(*socket);
      EXPECT_EQ(reply.content["ename"], "EngineError");
      const std::string sentence = reply.content["evalue"];
      const std::string why = engine == "ann" ? "' has had no connection" : "' is not registered";
      EXPECT_NE(sentence.find("engine '" + engine + why), std::string::npos) << sentence;
      const std::string parent = reply.parent["msg_id"];
      answered.insert(
          parent.substr(0, parent.size() - (socket == &user->broadcast ? engine.size() + 1 : 0)));
    }
    EXPECT_EQ(answered, asked);
  }
}

TEST_F(BoundsTest, WhatEnginesDoNotReadIsRefusedOnEachChannelAndAllIsAnswered) {
  ServerOptions options;
  options.most_waiting_bytes = std::size_t{4} << 20;
  start(options);
  auto user = client();
  const auto ann = registered("ann", *user);
  struct CallChannel {
    net::Socket& sender;
    int port;
    std::function<Draft()> request;
  };
  const std::string megabyte(std::size_t{1} << 20, 'x');
  const CallChannel channels[] = {
      {user->mux, files.engine.mux, [&] { return asking({"ann"}, "apply_request", {}, megabyte); }},
      {user->control, files.engine.control,
       [&] { return asking({"ann"}, "abort_request", Json::object(), megabyte); }},
      {user->broadcast, files.engine.broadcast.at(0),
       [&] { return asking({}, "apply_request", to_all("ann", false), megabyte); }}};
  for (const CallChannel& channel : channels) {
    net::Socket engine = lazy("ann", channel.port);
    constexpr int count = 60;
    for (int i = 0; i < count; ++i) user->send(channel.sender, channel.request());
    user->ask("connection_request");
    int refused = 0;
    const auto take_refusal = [&] {
      EXPECT_EQ(receive(channel.sender).content["ename"], "Overloaded");
      ++refused;
    };
    for (int i = 0; i < 20; ++i) take_refusal();
    // The others are there when the engine reads.
    for (int taken = 0; taken + refused < count;) {
      if (const SharedFrames answer = channel.sender.receive()) {
        ++refused;
      } else if (receive_frames(engine, 20ms)) {
        ++taken;
      }
    }
    EXPECT_LT(refused, count);
  }
}

TEST_F(BoundsTest, RepliesToBroadcastsThatAClientDoesNotReadAreReplacedByErrors) {
  ServerOptions options;
  options.most_waiting_bytes = std::size_t{4} << 20;
  start(options);
  auto user = client();
  auto ann = engine("ann");
  ann->join();
  user->wait_for("registration_notification", "ann");
  for (const bool is_gathered : {false, true}) {
    net::Socket reader = lazy(is_gathered ? "lazy" : "idle", files.client.broadcast);
    constexpr int count = 60;
    for (int i = 0; i < count; ++i)
      user->send(reader, asking({}, "apply_request", to_all("ann", is_gathered)));
    for (int i = 0; i < count; ++i) {
      const Received request = receive(ann->broadcast);
      Json metadata = request.metadata;
      metadata["status"] = "ok";
      ann->send(ann->broadcast, Draft{request.idents,
                                      "apply_reply",
                                      request.header_text,
                                      metadata,
                                      Json{{"status", "ok"}},
                                      {std::string(std::size_t{1} << 20, 'x')}});
    }
    user->send(user->mux, asking({"ann"}));  // all have passed when this one has
    ann->reply(ann->mux, receive(ann->mux));
    receive(user->mux);
    int lost = 0;
    for (int i = 0; i < count; ++i)
      if (const Received reply = receive(reader); reply.content["status"] == "error") {
        EXPECT_EQ(reply.content["ename"], "ResultLost");
        ++lost;
      }
    EXPECT_GT(lost, 10);
    EXPECT_LT(lost, count);
  }
}

TEST_F(BoundsTest, RequestsThatCannotBeReadAreAnsweredByAnError) {
  start();
  auto user = client();
  const std::string id = user->send(user->broadcast, asking({}));
  const Received reply = receive(user->broadcast);
  EXPECT_EQ(reply.parent["msg_id"], id);
  EXPECT_EQ(reply.content["evalue"], "a broadcast request lacks a list of targets");
  Json nested = "innermost";
  for (std::size_t depth = 0; depth < max_json_depth; ++depth) nested = Json::array({nested});
  EXPECT_EQ(user->ask("queue_request", {{"deep", nested}}).content["ename"], "ValueError");
}

class NewsPublisherTest : public testing::Test {
 protected:
  NewsPublisherTest() : news_(socket_) {
    const Result<int> port = socket_.bind("tcp://127.0.0.1", 0);
    EXPECT_TRUE(port);
    port_ = *port;
    for (net::Socket* reader : {&lazy_, &other_}) {
      reader->subscribe("");
      EXPECT_TRUE(reader->connect("tcp://127.0.0.1:" + std::to_string(port_)));
    }
  }
  /// Until as many have subscribed.
  void await_subscriptions() {
    net::Loop loop;
    loop.watch(socket_, [] {});
    for (int added = 0; added < 2;) {
      loop.wait_until(Clock::now() + patience);
      news_.receive_subscriptions();
      if (!news_.has_new_subscribers()) continue;
      news_.tell_new_subscribers(message("hello"));
      news_.have_told_new_subscribers();
      for (net::Socket* reader : {&lazy_, &other_})
        if (greeted_.count(reader) == 0 && receive_frames(*reader, 100ms)) {
          greeted_.insert(reader);
          ++added;
        }
    }
  }
  static SharedFrames message(const std::string& text) {
    return std::make_shared<TextFrames>(std::vector<std::string>{text});
  }
  static std::string text_of(const SharedFrames& frames) {
    return frames ? std::string(frames->at(1)) : "nothing";
  }

  net::Context context_;
  net::Socket socket_{context_, net::SocketKind::xpub, {.assigns_topics = true}};
  net::Socket lazy_{context_, net::SocketKind::sub, {.receive_limit = 1}};
  net::Socket other_{context_, net::SocketKind::sub};
  std::set<net::Socket*> greeted_;
  int port_ = 0;
  NewsPublisher news_;
};

TEST_F(NewsPublisherTest, OneThatDoesNotReadIsToldLaterWhatItMissed) {
  await_subscriptions();
  const SharedFrames present = message(std::string(std::size_t{256} << 10, 'x'));
  constexpr int count = 100;
  for (int i = 0; i < count; ++i) {
    news_.publish(present, NewsPublisher::Kind::present);
    EXPECT_EQ(text_of(receive_frames(other_)), present->at(0));
  }
  news_.publish(message("gone"), NewsPublisher::Kind::past);
  EXPECT_EQ(text_of(receive_frames(other_)), "gone");
  int read = 0;
  while (!news_.has_new_subscribers()) {
    read += receive_frames(lazy_, 20ms) != nullptr;
    news_.on_time(Clock::now());
  }
  EXPECT_LT(read, count);
  news_.tell_new_subscribers(message("there"));
  news_.have_told_new_subscribers();
  std::vector<std::string> texts;
  while (texts.empty() || texts.back() != "there") {
    texts.push_back(text_of(receive_frames(lazy_)));
    ASSERT_NE(texts.back(), "nothing");
  }
  EXPECT_EQ(texts.at(texts.size() - 2), "gone");
  EXPECT_FALSE(news_.next_deadline());
}

TEST_F(NewsPublisherTest, SubscribersOfOneTopicHaveABound) {
  await_subscriptions();
  net::Socket of_topic{context_, net::SocketKind::sub, {.receive_limit = 1}};
  of_topic.subscribe("x");
  EXPECT_TRUE(of_topic.connect("tcp://127.0.0.1:" + std::to_string(port_)));
  const SharedFrames present = message(std::string(std::size_t{256} << 10, 'x'));
  SharedFrames first;
  while (!first) {  // until it has subscribed
    news_.receive_subscriptions();
    news_.publish(present, NewsPublisher::Kind::present);
    first = receive_frames(of_topic, 20ms);
  }
  constexpr int count = 200;
  for (int i = 0; i < count; ++i) news_.publish(present, NewsPublisher::Kind::present);
  int read = 0;
  while (receive_frames(of_topic, 500ms)) ++read;
  EXPECT_LT(read, count);
  news_.publish(message("xx"), NewsPublisher::Kind::past);
  const SharedFrames last = receive_frames(of_topic);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->at(0), "xx");
}

}  // namespace
}  // namespace px::controller
