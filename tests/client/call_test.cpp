#include "client/requests/call.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/os/in_child.hpp"

namespace px::client {
namespace {

const MessageId first{"m_0"}, second{"m_1"};
const EngineUuid ann{"ann"};

std::shared_ptr<Call> new_call() {
  return std::make_shared<Call>(
      std::vector<TaskSent>{{first, EngineId{0}, ann, {}, {}}, {second, EngineId{1}, ann, {}, {}}});
}

void answer(Call& call, std::size_t task) {
  call.answer(task, {task == 0 ? first : second, TaskStatus::ok, {}, "ann"}, {}, {});
}

/// Whether it throws the error of a client in a forked child.
template <class Use>
bool is_refused(const Use& use) {
  try {
    use();
  } catch (const ClientError& error) {
    return error.kind() == ErrorKind::lost_peer &&
           std::string(error.what()).find("os.fork()") != std::string::npos;
  }
  return false;
}

TEST(Call, AForkedChildReadsWhatIsAnsweredAndCannotWaitForTheRest) {
  const auto call = new_call();
  answer(*call, 0);
  EXPECT_TRUE(os::in_child([&] { return call->wait_task(0, {}) && call->answered() == 1; }));
  EXPECT_TRUE(os::in_child([&] { return is_refused([&] { call->wait_ready({}); }); }));
  EXPECT_TRUE(os::in_child([&] { return is_refused([&] { call->on_ready([] {}); }); }));
  EXPECT_TRUE(
      os::in_child([&] { return is_refused([&] { call->on_answer([](std::size_t) {}); }); }));
  answer(*call, 1);
  EXPECT_TRUE(os::in_child([&] { return call->wait_ready({}); }));
}

TEST(Call, AForkedChildLetsGoOfOneThatAThreadOfItsParentWaitsFor) {
  auto call = new_call();
  std::thread waiting{[held = call.get()] { held->wait_ready({}); }};
  for (int i = 0; i < 20; ++i)
    EXPECT_TRUE(os::in_child([&] {
      call.reset();
      return true;
    }));
  answer(*call, 0);
  answer(*call, 1);
  waiting.join();
}

}  // namespace
}  // namespace px::client
