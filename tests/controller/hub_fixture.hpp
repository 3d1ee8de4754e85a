#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "controller/hub/hub.hpp"
#include "controller/hub/memory_store.hpp"
#include "wire/envelope.hpp"

namespace px::controller {

using namespace std::chrono_literals;

inline Instant at(Duration since_start) {
  return Instant{} + since_start;
}
inline WallTime wall(std::string_view date) {
  return parse_date(date).value();
}

/// An answer of the hub, opened.
struct OpenAnswer {
  std::string client;
  std::string msg_type;
  Json parent, content;
  std::vector<std::string> buffers;
};

/// What a hand-made message says.
struct RequestParts {
  std::string msg_type = "apply_request";
  std::string date = "2026-11-21T08:00:00.5Z";
  Json metadata = Json::object();
  Json content = Json::object();
  std::vector<std::string> buffers = {"function", "argument"};
  std::string key = "test key";
  std::string version = "5.4";
};

/// A hub between a hand-made client and hand-made engines, all with one key.
class HubTest : public testing::Test {
 protected:
  static Signer signer(std::string_view key = "test key") {
    return Signer::create("hmac-sha256", key).value();
  }
  static Session session(std::string_view id, Packer packer = Packer::json) {
    return Session(SessionId{id}, "alice", packer, signer());
  }

  void make_hub(std::unique_ptr<TaskStore> store, HubOptions options = {},
                Packer packer = Packer::json) {
    packer_ = packer;
    hub_ = std::make_unique<Hub>(session("hub", packer), std::move(store), options);
  }
  HubTest() { make_hub(std::make_unique<MemoryStore>()); }

  std::vector<HubEffect> tell(const HubEvent& event) { return hub_->on(event, wall_, now_); }

  void join(int id, std::string_view uuid) { tell(EngineJoined{EngineId{id}, EngineUuid{uuid}}); }
  void leave(std::string_view uuid) { tell(EngineLeft{EngineUuid{uuid}}); }

  Json request_header(std::string_view msg_id, const RequestParts& parts) const {
    Json header{{"msg_id", msg_id},
                {"msg_type", parts.msg_type},
                {"username", "alice"},
                {"session", "client one"},
                {"version", parts.version}};
    if (!parts.date.empty()) header["date"] = parts.date;
    return header;
  }

  /// The frames from the delimiter on, behind these idents.
  SharedFrames frames(std::vector<std::string> idents, const Json& header, const Json& parent,
                      const RequestParts& parts) const {
    const auto text = [&](const Json& value) { return pack(packer_, value); };
    const Session sealer(SessionId{"x"}, "alice", packer_, signer(parts.key));
    for (auto& frame :
         sealer.seal(text(header), text(parent), text(parts.metadata), text(parts.content)))
      idents.push_back(std::move(frame));
    idents.insert(idents.end(), parts.buffers.begin(), parts.buffers.end());
    return std::make_shared<TextFrames>(std::move(idents));
  }

  SharedFrames request(std::string_view msg_id, std::string_view uuid,
                       const RequestParts& parts = {}) const {
    return frames({"client", std::string(uuid)}, request_header(msg_id, parts), Json::object(),
                  parts);
  }
  void submit_direct(std::string_view msg_id, std::string_view uuid,
                     const RequestParts& parts = {}) {
    tell(DirectSubmitted{EngineUuid{uuid}, request(msg_id, uuid, parts)});
  }
  void submit_task(std::string_view msg_id, RequestParts parts = {}) {
    tell(TaskSubmitted{MessageId{msg_id},
                       frames({"client"}, request_header(msg_id, parts), Json::object(), parts)});
  }
  void assign(std::string_view msg_id, std::string_view uuid) {
    tell(TaskAssigned{MessageId{msg_id}, EngineUuid{uuid}});
  }

  SharedFrames reply(std::string_view msg_id, std::string_view uuid, RequestParts parts) const {
    if (parts.msg_type.ends_with("_request")) parts.msg_type = "apply_reply";
    Json header = request_header("reply to " + std::string(msg_id), parts);
    header["session"] = uuid;
    if (!parts.metadata.contains("started")) parts.metadata["started"] = "2026-11-21T08:00:01Z";
    if (!parts.metadata.contains("status")) parts.metadata["status"] = "ok";
    return frames({std::string(uuid), "client"}, header, Json{{"msg_id", msg_id}}, parts);
  }
  static RequestParts result(std::string_view value = "result") {
    return {.msg_type = "apply_reply",
            .date = "2026-11-21T08:00:02.5Z",
            .content = {{"status", "ok"}},
            .buffers = {std::string(value)}};
  }
  void finish_direct(std::string_view msg_id, std::string_view uuid, RequestParts parts) {
    tell(DirectFinished{EngineUuid{uuid}, reply(msg_id, uuid, std::move(parts))});
  }
  void finish_direct(std::string_view msg_id, std::string_view uuid) {
    finish_direct(msg_id, uuid, result());
  }
  void finish_task(std::string_view msg_id, std::string_view uuid, RequestParts parts) {
    const bool is_aborted = parts.metadata.value("status", "ok") == "aborted";
    tell(TaskFinished{EngineUuid{uuid}, MessageId{msg_id}, reply(msg_id, uuid, std::move(parts)),
                      is_aborted});
  }
  void finish_task(std::string_view msg_id, std::string_view uuid) {
    finish_task(msg_id, uuid, result());
  }

  void publish(std::string_view msg_type, std::string_view parent, Json content,
               std::string key = "test key") {
    const RequestParts parts{.msg_type = std::string(msg_type),
                             .content = std::move(content),
                             .buffers = {},
                             .key = std::move(key)};
    tell(OutputPublished{frames({"engine.0.topic"}, request_header("output", parts),
                                Json{{"msg_id", parent}, {"session", "client one"}}, parts)});
  }

  std::vector<HubEffect> ask_for_effects(std::string_view msg_type, Json content) {
    return tell(HubQuery{"client ident", std::string(msg_type),
                         pack(packer_, Json{{"msg_id", "question"}}), std::move(content)});
  }
  OpenAnswer open_answer(const HubEffect& effect) const {
    const SharedFrames all = std::get<SendAnswer>(effect).frames;
    const Envelope envelope = Envelope::locate(*all).value();
    EXPECT_EQ(envelope.ident_count, 1u);
    EXPECT_TRUE(signer().verify(envelope));
    OpenAnswer answer{.client = std::string(all->at(0)),
                      .msg_type = read_header(packer_, envelope.header)->msg_type,
                      .parent = unpack(packer_, envelope.parent_header).value(),
                      .content = unpack(packer_, envelope.content).value(),
                      .buffers = {}};
    for (std::size_t i = envelope.first_buffer; i < all->size(); ++i)
      answer.buffers.emplace_back(all->at(i));
    return answer;
  }
  OpenAnswer ask(std::string_view msg_type, Json content) {
    return open_answer(ask_for_effects(msg_type, std::move(content)).back());
  }

  /// The one record with this id, all keys but the buffers.
  Json record(std::string_view msg_id) {
    const Json records =
        ask("db_request", {{"query", {{"msg_id", msg_id}}}, {"keys", nullptr}}).content["records"];
    return records.size() == 1 ? records[0] : Json(nullptr);
  }
  Json queues(bool is_verbose = false) {
    return ask("queue_request", {{"targets", nullptr}, {"verbose", is_verbose}}).content;
  }

  Packer packer_ = Packer::json;
  std::unique_ptr<Hub> hub_;
  Instant now_ = at(0s);
  WallTime wall_ = wall("2026-11-21T08:00:03Z");
};

}  // namespace px::controller
