#include "controller/hub/hub_thread.hpp"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <utility>

#include "controller/hub/task_store.hpp"
#include "wire/header.hpp"

namespace px::controller {
namespace {

using namespace std::chrono_literals;

/// A store on a disk that hangs until it is released.
class HangingStore final : public TaskStore {
 public:
  HangingStore(std::shared_future<void> release, std::promise<void> reached)
      : release_(std::move(release)), reached_(std::move(reached)) {}
  void change(const MessageId&, const RecordChange&) override { hang(); }
  bool change_existing(const MessageId&, const RecordChange&) override {
    hang();
    return false;
  }
  bool find(const MessageId&, const RecordVisitor&) override { return false; }
  void find_matching(const RecordFilter&, Buffers, const RecordVisitor&) override {}
  std::vector<MessageId> history() override { return {}; }
  void drop(const std::vector<MessageId>&) override {}
  void drop_finished(const std::optional<EngineUuid>&) override {}

 private:
  void hang() {
    if (!std::exchange(has_hung_, true)) reached_.set_value();
    release_.wait();
  }
  std::shared_future<void> release_;
  std::promise<void> reached_;
  bool has_hung_ = false;
};

Session session() {
  return {SessionId{"hub"}, "alice", Packer::json, *Signer::create("hmac-sha256", "key")};
}

TEST(HubThread, ADiskThatHangsHoldsUpNobodyAndTakesBoundedMemory) {
  std::promise<void> release, reached;
  std::future<void> is_hanging = reached.get_future();
  auto store = std::make_unique<HangingStore>(release.get_future().share(), std::move(reached));
  net::Loop loop;
  HubThread hub{Hub{session(), std::move(store), {}}, loop.waker(), 1ms};
  Session client = session();
  const auto submit = [&] {
    Draft draft;
    draft.idents = {"client"};
    draft.msg_type = "apply_request";
    draft.buffers = {std::string(1 << 20, 'x')};
    auto frames = std::make_shared<TextFrames>(client.compose(draft, wall_now()));
    const auto envelope = Envelope::locate(*frames, 1);
    hub.post(TaskSubmitted{read_msg_id(Packer::json, envelope->header), frames});
  };
  submit();
  hub.flush();
  is_hanging.wait();
  for (int i = 0; i < 100; ++i) submit();
  EXPECT_GT(hub.dropped(), 50u);
  release.set_value();
}

TEST(HubThread, WhoeverKeepsASmallMessageSharesTheCopyOfTheRecords) {
  net::Loop loop;
  HubThread hub{Hub{session(), std::make_unique<NoStore>(), {}}, loop.waker()};
  const auto small = std::make_shared<TextFrames>(std::vector<std::string>{"client", "request"});
  const SharedFrames kept = hub.post(TaskSubmitted{MessageId{"t1"}, small});
  EXPECT_NE(kept, small);
  EXPECT_EQ(kept->at(1), "request");
  const auto large = std::make_shared<TextFrames>(
      std::vector<std::string>{"client", std::string(HubThread::copied_bytes, 'x')});
  EXPECT_EQ(hub.post(TaskSubmitted{MessageId{"t2"}, large}), large);
  const SharedFrames reply =
      hub.post(TaskFinished{EngineUuid{"engine"}, MessageId{"t1"}, small, false});
  EXPECT_NE(reply, small);
  EXPECT_EQ(reply->at(1), "request");
  EXPECT_EQ(hub.post(TaskAssigned{MessageId{"t2"}, EngineUuid{"engine"}}), nullptr);
}

}  // namespace
}  // namespace px::controller
