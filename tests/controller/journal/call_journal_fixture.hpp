#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "controller/journal/call_journal.hpp"
#include "tests/controller/journal/memory_storage.hpp"
#include "wire/session.hpp"

namespace px::controller {

inline const EngineUuid ann{"ann"}, bob{"bob"};

inline std::vector<std::string> texts(const Frames& frames) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < frames.size(); ++i) all.emplace_back(frames.at(i));
  return all;
}

/// One controller after another on one disk.
class CallJournalTest : public testing::Test {
 protected:
  CallJournalTest() { begin(); }
  void begin() { calls_ = open_journal(); }
  std::unique_ptr<CallJournal> open_journal(std::size_t most_owed_bytes = std::size_t{1} << 30) {
    JournalOptions options{.cluster = "ours", .limits = CallJournal::limits()};
    options.longest = CallJournal::longest;
    return std::make_unique<CallJournal>(std::make_unique<Journal>(storage_, options),
                                         session_.fork(), most_owed_bytes);
  }
  std::vector<LeftCall> begin_again() {
    EXPECT_TRUE(calls_->commit_late());
    begin();
    std::vector<LeftCall> left = calls_->replay();
    EXPECT_TRUE(calls_->commit_late());
    return left;
  }
  SharedFrames message(std::vector<std::string> idents, std::string type, std::string parent,
                       Json content = Json::object(), Json metadata = Json::object(),
                       std::string buffer = "buffer") {
    Draft draft{std::move(idents),   std::move(type),    std::move(parent),
                std::move(metadata), std::move(content), {std::move(buffer)}};
    return std::make_shared<TextFrames>(session_.compose(draft, wall_now()));
  }
  SharedFrames request(const EngineUuid& engine, const std::string& type = "execute_request",
                       std::string buffer = "buffer") {
    return message({"client", engine.text}, type, "{}", Json::object(), Json::object(),
                   std::move(buffer));
  }
  /// The request is written.
  SharedFrames ask(const EngineUuid& engine) {
    const SharedFrames asked = request(engine);
    calls_->requested(asked);
    EXPECT_TRUE(calls_->commit());
    return asked;
  }
  std::vector<SharedFrames> owed_by(const EngineUuid& engine) const {
    return calls_->owed_by(engine, CallChannel::mux);
  }
  SharedFrames reply_to(const Frames& asked, Json content = {{"status", "ok"}},
                        std::string buffer = "buffer") {
    return message({std::string(asked.at(1)), "client"}, "execute_reply", std::string(asked.at(4)),
                   std::move(content), {{"status", "ok"}}, std::move(buffer));
  }
  void publish(const Frames& asked, const std::string& text) {
    const SharedFrames output = message({"topic"}, "stream", std::string(asked.at(4)),
                                        {{"name", "stdout"}, {"text", text}});
    calls_->published(output, *Envelope::locate(*output, 1));
  }

  Session session_{SessionId{"session"}, "alice", Packer::json,
                   *Signer::create("hmac-sha256", "key")};
  const std::shared_ptr<MemoryStorage> storage_ = std::make_shared<MemoryStorage>();
  std::unique_ptr<CallJournal> calls_;
};

}  // namespace px::controller
