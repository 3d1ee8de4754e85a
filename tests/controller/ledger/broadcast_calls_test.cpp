#include "controller/ledger/broadcast_calls.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "wire/header.hpp"

namespace px::controller {
namespace {

using Texts = std::vector<std::string>;
using Copies = std::vector<MessageToEngine>;
using Answers = std::vector<BroadcastToClient>;

Session session(const char* id) {
  return {SessionId{id}, "alice", Packer::json, *Signer::create("hmac-sha256", "key")};
}

/// One frame after the other, as they would travel.
Texts frames_of(const std::vector<std::string>& head, const std::vector<FrameRun>& runs) {
  Texts frames = head;
  for (const FrameRun& run : runs)
    for (std::size_t i = run.from; i < run.to; ++i) frames.emplace_back(run.frames->at(i));
  return frames;
}

class Broadcast : public testing::Test {
 protected:
  /// A request of the client "cl" for engines with the ids 0, 1, ...
  Result<Copies> request(const Texts& engines, bool is_coalescing,
                         const char* type = "apply_request") {
    Json targets = Json::array();
    for (std::size_t i = 0; i < engines.size(); ++i) targets.push_back({engines[i], i});
    Draft draft{
        {"cl"},
        type,
        "{}",
        Json{{"targets", targets}, {"is_broadcast", true}, {"is_coalescing", is_coalescing}},
        Json::object(),
        {"function", "arguments"}};
    return send(draft);
  }
  Result<Copies> send(const Draft& draft) {
    auto frames = std::make_shared<TextFrames>(client_.compose(draft, WallTime{}));
    return relay_.request(frames, *Envelope::locate(*frames));
  }
  /// What an engine answers to the copy that it got.
  SharedFrames answer_to(const MessageToEngine& copy, Json content, Texts buffers) {
    const TextFrames got{frames_of(copy.head, copy.runs)};
    const Envelope parts = *Envelope::locate(got);
    Json metadata = Json::parse(parts.metadata);
    metadata["engine"] = copy.engine.text;
    metadata["status"] = content["status"];
    const Draft draft{
        {copy.engine.text, "cl"}, "apply_reply", std::string(parts.header), metadata, content,
        std::move(buffers)};
    Session engine = session(copy.engine.text.c_str());
    return std::make_shared<TextFrames>(engine.compose(draft, WallTime{}));
  }
  Answers reply(const MessageToEngine& copy, Json content, Texts buffers) {
    const SharedFrames frames = answer_to(copy, std::move(content), std::move(buffers));
    return relay_.reply(frames, *Envelope::locate(*frames));
  }
  Answers ok(const MessageToEngine& copy, Texts buffers) {
    return reply(copy, Json{{"status", "ok"}}, std::move(buffers));
  }
  Answers fails(const MessageToEngine& copy, const char* name) {
    return reply(copy, error_content(name, "bad"), {});
  }
  /// The copy as an earlier controller left it; `reply` is null while it is not answered.
  static LeftCall left(const MessageToEngine& copy, SharedFrames reply = nullptr) {
    return {.msg_id = {},
            .engine = copy.engine,
            .request = as_call(copy),
            .is_open = !reply,
            .reply = std::move(reply),
            .outputs = {}};
  }
  /// The only message to the client, read.
  struct ToClient {
    Texts frames;
    Json header, parent, metadata, content;
    Texts buffers;
    bool is_signed = false;
  };
  static ToClient to_client(const Answers& answers) {
    EXPECT_EQ(answers.size(), 1u);
    const BroadcastToClient& message = answers.at(0);
    ToClient result;
    result.frames = frames_of(message.head, message.runs);
    const TextFrames frames{result.frames};
    const Envelope parts = *Envelope::locate(frames);
    EXPECT_EQ(parts.ident_count, 1u);
    result.is_signed = Signer::create("hmac-sha256", "key")->verify(parts);
    result.header = Json::parse(parts.header);
    result.parent = Json::parse(parts.parent_header);
    result.metadata = Json::parse(parts.metadata);
    result.content = Json::parse(parts.content);
    for (std::size_t i = parts.first_buffer; i < frames.size(); ++i)
      result.buffers.emplace_back(frames.at(i));
    return result;
  }
  Session client_ = session("client");
  BroadcastCalls relay_{session("controller")};
};

TEST_F(Broadcast, EachEngineGetsASignedCopyOfItsOwn) {
  const auto copies = request({"ann", "bob"}, false);
  ASSERT_TRUE(copies);
  ASSERT_EQ(copies->size(), 2u);
  const MessageToEngine& copy = (*copies)[1];
  EXPECT_EQ(copy.engine.text, "bob");
  const TextFrames frames{frames_of(copy.head, copy.runs)};
  const Envelope parts = *Envelope::locate(frames);
  EXPECT_EQ(frames.at(0), "cl");
  EXPECT_EQ(parts.ident_count, 1u);
  EXPECT_TRUE(client_.signer().verify(parts));
  const Header header = *read_header(Packer::json, parts.header);
  const Json metadata = Json::parse(parts.metadata);
  const std::string original = metadata["original_msg_id"];
  EXPECT_EQ(header.msg_id.text, original + "_bob");
  EXPECT_EQ(header.msg_type, "apply_request");
  EXPECT_EQ(header.session.text, "client");
  EXPECT_EQ(metadata["targets"], Json::parse(R"([["bob",1]])"));
  EXPECT_EQ(frames.at(parts.first_buffer), "function");
  EXPECT_EQ(frames.size() - parts.first_buffer, 2u);
}

TEST_F(Broadcast, WithoutGatheringEachReplyGoesOnUnchanged) {
  const auto copies = *request({"ann", "bob"}, false);
  const ToClient first = to_client(ok(copies[1], {"1"}));
  EXPECT_EQ(first.frames[0], "cl");
  EXPECT_EQ(first.frames[1], delimiter);
  EXPECT_EQ(first.metadata["engine"], "bob");
  EXPECT_EQ(first.buffers, (Texts{"1"}));
  EXPECT_TRUE(first.is_signed);
  EXPECT_EQ(to_client(ok(copies[0], {"0"})).metadata["engine"], "ann");
  EXPECT_EQ(relay_.open_calls(), 0u);
}

TEST_F(Broadcast, AGatheredAnswerIsInTheOrderOfTheRequest) {
  const auto copies = *request({"ann", "bob", "cid"}, true);
  EXPECT_TRUE(ok(copies[2], {"2"}).empty());
  EXPECT_TRUE(ok(copies[0], {"0", "0b"}).empty());
  const ToClient answer = to_client(ok(copies[1], {"1"}));
  EXPECT_TRUE(answer.is_signed);
  EXPECT_EQ(answer.buffers, (Texts{"0", "0b", "1", "2"}));
  EXPECT_EQ(answer.metadata["broadcast_targets"],
            Json::parse(R"([["ann",0],["bob",1],["cid",2]])"));
  EXPECT_EQ(answer.metadata["is_coalescing"], true);
  EXPECT_EQ(answer.content["status"], "ok");
  EXPECT_EQ(relay_.open_calls(), 0u);
}

TEST_F(Broadcast, AGatheredAnswerIsAnErrorIfAnyEngineFailed) {
  const auto copies = *request({"ann", "bob", "cid"}, true);
  fails(copies[2], "LateError");
  fails(copies[1], "EarlyError");
  const ToClient answer = to_client(ok(copies[0], {"0"}));
  EXPECT_EQ(answer.content["ename"], "EarlyError");
  EXPECT_EQ(answer.metadata["broadcast_targets"].size(), 3u);
  EXPECT_TRUE(answer.buffers.empty());
  EXPECT_TRUE(answer.is_signed);
}

TEST_F(Broadcast, TheDeathOfAnEngineEndsAGatheredCall) {
  const auto copies = *request({"ann", "bob"}, true);
  ok(copies[0], {"0"});
  const ToClient answer = to_client(relay_.engine_left(EngineUuid{"bob"}, WallTime{}));
  EXPECT_EQ(answer.frames[0], "cl");
  EXPECT_EQ(answer.header["msg_type"], "apply_reply");
  EXPECT_EQ(answer.content["ename"], "EngineError");
  EXPECT_TRUE(answer.metadata["is_coalescing"]);
  EXPECT_TRUE(answer.is_signed);
  EXPECT_EQ(relay_.open_calls(), 0u);
}

TEST_F(Broadcast, TheAnswerForADeadEngineNamesItsHostAndTheReason) {
  ASSERT_TRUE(request({"ann"}, true).has_value());
  const ToClient answer = to_client(
      relay_.engine_left(EngineUuid{"ann"}, WallTime{}, {"3 on host2", "its process ended"}));
  const std::string said = answer.content["evalue"];
  EXPECT_TRUE(said.starts_with("Engine 3 on host2 died while running task '")) << said;
  EXPECT_TRUE(said.ends_with("': its process ended")) << said;
}

TEST_F(Broadcast, TheAnswerForADeadEngineHasTheTypeOfTheRequest) {
  for (const auto& [request_type, reply_type] :
       {std::pair{"execute_request", "execute_reply"}, std::pair{"call_request", "call_reply"},
        std::pair{"push_request", "push_reply"}}) {
    ASSERT_TRUE(request({"ann"}, true, request_type).has_value());
    const ToClient answer = to_client(relay_.engine_left(EngineUuid{"ann"}, WallTime{}));
    EXPECT_EQ(answer.header["msg_type"], reply_type);
  }
}

TEST_F(Broadcast, ALateReplyToAnEndedCallIsDropped) {
  const auto copies = *request({"ann", "bob"}, true);
  relay_.engine_left(EngineUuid{"bob"}, WallTime{});
  EXPECT_TRUE(ok(copies[0], {"0"}).empty());
}

TEST_F(Broadcast, TheDeathOfAnEngineThatAnsweredChangesNothing) {
  const auto copies = *request({"ann", "bob"}, true);
  ok(copies[0], {"0"});
  EXPECT_TRUE(relay_.engine_left(EngineUuid{"ann"}, WallTime{}).empty());
  EXPECT_EQ(to_client(ok(copies[1], {"1"})).buffers, (Texts{"0", "1"}));
}

TEST_F(Broadcast, ASecondReplyOfTheSameEngineIsNotCounted) {
  const auto copies = *request({"ann", "bob"}, true);
  ok(copies[0], {"0"});
  EXPECT_TRUE(ok(copies[0], {"again"}).empty());
  EXPECT_EQ(to_client(ok(copies[1], {"1"})).buffers, (Texts{"0", "1"}));
}

TEST_F(Broadcast, ACopyIsASignedCallOfItsEngine) {
  const auto copies = *request({"ann", "bob"}, false);
  const SharedFrames call = as_call(copies[1]);
  const Envelope parts = *Envelope::locate(*call);
  EXPECT_EQ(parts.ident_count, 2u);
  EXPECT_EQ(call->at(0), "cl");
  EXPECT_EQ(call->at(1), "bob");
  EXPECT_TRUE(client_.signer().verify(parts));
  EXPECT_EQ(call->at(parts.first_buffer), "function");
  EXPECT_EQ(call->size() - parts.first_buffer, 2u);
}

TEST_F(Broadcast, AGatheredCallOfAnEarlierControllerEndsWithWhatItHadAndWhatComes) {
  const auto copies = *request({"ann", "bob", "cid"}, true);
  const SharedFrames of_ann = answer_to(copies[0], Json{{"status", "ok"}}, {"0"});
  relay_ = BroadcastCalls{session("next")};
  relay_.restore({left(copies[0], of_ann), left(copies[1]), left(copies[2])}, WallTime{});
  EXPECT_TRUE(ok(copies[2], {"2"}).empty());
  const ToClient answer = to_client(ok(copies[1], {"1"}));
  EXPECT_TRUE(answer.is_signed);
  EXPECT_EQ(answer.frames[0], "cl");
  EXPECT_EQ(answer.buffers, (Texts{"0", "1", "2"}));
  EXPECT_EQ(answer.metadata["broadcast_targets"],
            Json::parse(R"([["ann",0],["bob",1],["cid",2]])"));
  EXPECT_EQ(relay_.open_calls(), 0u);
}

TEST_F(Broadcast, AGatheredCallOfWhichAReplyWasNotKeptEndsWithAnError) {
  const auto copies = *request({"ann", "bob"}, true);
  LeftCall lost = left(copies[0]);
  lost.is_open = false;
  lost.error_name = "ResultLost";
  lost.error_value = "it was not kept";
  relay_ = BroadcastCalls{session("next")};
  relay_.restore({lost, left(copies[1])}, WallTime{});
  EXPECT_EQ(to_client(ok(copies[1], {"1"})).content["ename"], "ResultLost");
}

TEST_F(Broadcast, AGatheredCallOfAnEarlierControllerEndsWithTheDeathOfAnEngine) {
  const auto copies = *request({"ann"}, true);
  relay_ = BroadcastCalls{session("next")};
  relay_.restore({left(copies[0])}, WallTime{});
  const ToClient answer =
      to_client(relay_.engine_left(EngineUuid{"ann"}, WallTime{}, {.why = "it did not come back"}));
  EXPECT_EQ(answer.content["ename"], "EngineError");
  EXPECT_EQ(answer.header["msg_type"], "apply_reply");
}

TEST_F(Broadcast, AGatheredCallOfWhichACopyWasForgottenEndsWithAnError) {
  const auto copies = *request({"ann", "bob"}, true);
  relay_ = BroadcastCalls{session("next")};
  relay_.restore({left(copies[1])}, WallTime{});
  const ToClient answer = to_client(ok(copies[1], {"1"}));
  EXPECT_EQ(answer.content["ename"], "ResultLost");
  EXPECT_EQ(answer.metadata["broadcast_targets"], Json::parse(R"([["bob",1]])"));
}

TEST_F(Broadcast, AGatheredCallThatEndedWithTheDeathOfAnEngineIsNotRestored) {
  const auto copies = *request({"ann", "bob"}, true);
  LeftCall of_ann = left(copies[0]);
  of_ann.is_open = false;
  of_ann.is_engine_gone = true;
  of_ann.error_name = "EngineError";
  relay_ = BroadcastCalls{session("next")};
  relay_.restore({of_ann, left(copies[1])}, WallTime{});
  EXPECT_EQ(relay_.open_calls(), 0u);
  EXPECT_TRUE(ok(copies[1], {"1"}).empty());
}

TEST_F(Broadcast, WhatIsAnsweredOrNotGatheredIsNotRestored) {
  const auto gathered = *request({"ann"}, true);
  const auto single = *request({"ann"}, false);
  const SharedFrames reply = answer_to(gathered[0], Json{{"status", "ok"}}, {});
  relay_ = BroadcastCalls{session("next")};
  relay_.restore({left(gathered[0], reply), left(single[0])}, WallTime{});
  EXPECT_EQ(relay_.open_calls(), 0u);
}

TEST_F(Broadcast, ARequestWithoutWhatItNeedsIsRefused) {
  for (const char* metadata :
       {"{}", R"({"targets":[["ann",0]]})", R"({"targets":7,"is_coalescing":true})",
        R"({"targets":["ann"],"is_coalescing":true})", R"({"is_coalescing":true})"}) {
    Draft draft{{"cl"}, "apply_request", "{}", Json::parse(metadata), Json::object(), {}};
    EXPECT_FALSE(send(draft)) << metadata;
  }
}

}  // namespace
}  // namespace px::controller
