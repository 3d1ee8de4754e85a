#include "client/connection/comm_relay.hpp"

#include <gtest/gtest.h>

namespace px::client {
namespace {

const EngineId zero{0}, one{1};
const EngineUuid ann{"ann"}, bob{"bob"};
const MessageId cell{"cell"}, move{"move"};

Publication opened(const char* id) {
  return {"comm_open", {{"comm_id", id}, {"target_name", "jupyter.widget"}}, {}, {}};
}
Publication said(const char* type, const char* id) {
  return {type, {{"comm_id", id}, {"data", Json::object()}}, {}, {}};
}
Publication printed(const char* text) {
  return {"stream", {{"name", "stdout"}, {"text", text}}, {}, {}};
}

std::vector<std::string> types_of(const std::vector<CommNews>& news) {
  std::vector<std::string> types;
  for (const CommNews& each : news) types.push_back(each.type);
  return types;
}

TEST(CommRelay, MessagesOfAnEnginesCommComeInTheirOrder) {
  CommRelay relay;
  relay.on_publication(zero, ann, cell, opened("slider"));
  relay.on_publication(zero, ann, cell, said("comm_msg", "slider"));
  relay.on_publication(zero, ann, cell, said("comm_close", "slider"));
  EXPECT_TRUE(relay.has_news());
  EXPECT_EQ(types_of(relay.take()),
            (std::vector<std::string>{"comm_open", "comm_msg", "comm_close"}));
  EXPECT_FALSE(relay.has_news());
}

TEST(CommRelay, AMessageOfTheFrontEndGoesToTheEngineThatHasOpenedTheComm) {
  CommRelay relay;
  relay.on_publication(zero, ann, cell, opened("slider"));
  relay.on_publication(one, bob, cell, opened("box"));
  EXPECT_EQ(relay.engine_of("slider"), ann);
  EXPECT_EQ(relay.engine_of("box"), bob);
  EXPECT_EQ(relay.engine_of("of nobody"), std::nullopt);
}

TEST(CommRelay, WhatAMessageOfTheFrontEndCausesIsToldAsThat) {
  CommRelay relay;
  relay.on_publication(zero, ann, cell, opened("slider"));
  relay.take();
  relay.on_sent(
      move, {.type = "comm_msg", .comm_id = "slider", .content = {}, .metadata = {}, .cause = 7});
  relay.on_publication(zero, ann, move, said("comm_msg", "slider"));
  relay.on_publication(zero, ann, move, printed("moved"));
  const std::vector<CommNews> news = relay.take();
  ASSERT_EQ(types_of(news), (std::vector<std::string>{"comm_msg", "stream"}));
  EXPECT_EQ(news[0].cause, 7u);
  EXPECT_EQ(news[1].cause, 7u);
  EXPECT_EQ(news[1].content["text"], "moved");
}

TEST(CommRelay, WhatACellPrintsIsNotForTheRelay) {
  CommRelay relay;
  relay.on_publication(zero, ann, cell, printed("hello"));
  EXPECT_FALSE(relay.has_news());
}

TEST(CommRelay, WithAnEngineItsCommsEnd) {
  CommRelay relay;
  relay.on_publication(zero, ann, cell, opened("slider"));
  relay.on_publication(one, bob, cell, opened("box"));
  relay.take();
  relay.lose_engine(ann);
  const std::vector<CommNews> news = relay.take();
  ASSERT_EQ(types_of(news), std::vector<std::string>{"comm_close"});
  EXPECT_EQ(news[0].content["comm_id"], "slider");
  EXPECT_EQ(relay.open_comms(""), (Json{{"box", {{"target_name", "jupyter.widget"}}}}));
  relay.close();
  EXPECT_EQ(types_of(relay.take()), std::vector<std::string>{"comm_close"});
}

TEST(CommRelay, ACommThatTheFrontEndClosesIsForgotten) {
  CommRelay relay;
  relay.on_publication(zero, ann, cell, opened("slider"));
  relay.take();
  relay.on_sent(move, {.type = "comm_close", .comm_id = "slider", .content = {}, .metadata = {}});
  EXPECT_EQ(relay.engine_of("slider"), std::nullopt);
  EXPECT_EQ(relay.open_comms("jupyter.widget"), Json::object());
  relay.lose_engine(ann);
  EXPECT_FALSE(relay.has_news());
}

TEST(CommRelay, WhereNobodyTakesTheNewsUpdatesAreDroppedAndNoOpeningOrClosing) {
  CommRelay relay;
  relay.on_publication(zero, ann, cell, opened("slider"));
  for (std::size_t i = 0; i < CommRelay::max_news + 10; ++i)
    relay.on_publication(zero, ann, cell, said("comm_msg", "slider"));
  relay.on_publication(zero, ann, cell, said("comm_close", "slider"));
  const std::vector<CommNews> news = relay.take();
  EXPECT_EQ(news.size(), CommRelay::max_news + 1);
  EXPECT_EQ(news.back().type, "comm_close");
}

}  // namespace
}  // namespace px::client
