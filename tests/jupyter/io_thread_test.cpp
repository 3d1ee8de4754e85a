#include "jupyter/io_thread.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "os/descriptor.hpp"
#include "tests/wire/requests.hpp"

namespace px::jupyter {
namespace {

using namespace std::chrono_literals;

/// A process whose channels are a bell: each ring is a request. It notes which threads send
/// replies.
class Process final : public IoThread, private Channels {
 public:
  Process() : IoThread(ReplyFormats{{std::make_shared<ReplyFormat>()}}, 0) {
    set_channels(0, this);
    start_thread();
  }
  ~Process() override { finish(); }

  /// For a client: sends a request and waits until one more is answered.
  void call(const std::string& type) {
    std::unique_lock lock{mutex_};
    const std::size_t before = replies_;
    type_ = type;
    const std::uint64_t one = 1;
    EXPECT_EQ(::write(bell_.value(), &one, sizeof one), 8);
    EXPECT_TRUE(replied_.wait_for(lock, 60s, [&] { return replies_ > before; })) << type;
  }
  /// Calls until that thread has sent a reply: it does the work of the I/O thread then.
  void call_until_sent_by(std::thread::id sender) {
    const Instant end = Clock::now() + 20s;
    while (!senders().contains(sender) && Clock::now() < end) call("complete_request");
  }
  std::set<std::thread::id> senders() {
    const std::lock_guard lock{mutex_};
    return senders_;
  }

  /// For the main thread: runs what comes until the process is to end.
  void serve(const std::function<void(const Request&)>& run) {
    RequestInbox& requests = queues().requests;
    while (const auto job =
               requests.wait([this](int woken) { wait_for_work(woken, -1, std::nullopt); })) {
      queues().outgoing.set_request(job->request);
      requests.begin();
      run(*job->request);
      queues().outgoing.reply(job->request, "{}");
      queues().outgoing.end_request();
      requests.finish();
    }
  }

 private:
  void begin() override {
    loop().watch(bell_.value(), [this] {
      std::uint64_t count = 0;
      EXPECT_EQ(::read(bell_.value(), &count, sizeof count), 8);
      std::string type;
      {
        const std::lock_guard lock{mutex_};
        type = type_;
      }
      handlers().on_request(type == "connect_request" ? sender_.order(type)
                                                      : sender_.request(type));
    });
  }
  bool send(Outgoing& message) override {
    if (!message.type.ends_with("_reply")) return true;
    const std::lock_guard lock{mutex_};
    senders_.insert(std::this_thread::get_id());
    ++replies_;
    replied_.notify_all();
    return true;
  }
  void interrupt_main() override {}
  void close_channels() override {}

  testing::Sender sender_;
  const os::Descriptor bell_{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
  std::mutex mutex_;
  std::condition_variable replied_;
  std::string type_;
  std::size_t replies_ = 0;
  std::set<std::thread::id> senders_;
};

TEST(IoThread, AnIdleMainThreadDoesItsWorkWhereRequestsAreShort) {
  Process process;
  const auto main_thread = std::this_thread::get_id();
  std::thread client{[&] {
    process.call_until_sent_by(main_thread);
    for (int i = 0; i < 200; ++i) process.call("complete_request");
    process.stop();
  }};
  process.serve([](const Request&) {});
  client.join();
  EXPECT_TRUE(process.senders().contains(main_thread));
}

TEST(IoThread, ItAnswersOrdersWhileALongRequestRunsAlsoAfterShortOnes) {
  Process process;
  std::thread client{[&] {
    for (int i = 0; i < 50; ++i) process.call("complete_request");
    process.call("execute_request");
    process.stop();
  }};
  process.serve([&](const Request& request) {
    if (request.type() == "execute_request") process.call("connect_request");
  });
  client.join();
}

TEST(IoThread, AnIdleMainThreadThatDoesItsWorkEndsWhenTheProcessDoes) {
  Process process;
  const auto main_thread = std::this_thread::get_id();
  std::thread client{[&] {
    process.call_until_sent_by(main_thread);
    process.stop();
  }};
  process.serve([](const Request&) {});
  client.join();
  EXPECT_EQ(process.finish(), 0);
}

}  // namespace
}  // namespace px::jupyter
