#include "jupyter/runner.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/wire/requests.hpp"

namespace px::jupyter {
namespace {

/// Throws wherever it can, which no interpreter should.
class ThrowingInterpreter final : public interpreters::Interpreter {
 public:
  explicit ThrowingInterpreter(std::function<void()> raise) : raise_(std::move(raise)) {}

  Json execute(const interpreters::Execution&) override { return raised(); }
  interpreters::ApplyResult apply(const interpreters::Application&) override { return {}; }
  interpreters::ApplyResult serve(const interpreters::NativeRequest&) override { return {}; }
  Json complete(const std::string&, int) override { return raised(); }
  Json inspect(const std::string&, int, int) override { return raised(); }
  Json is_complete(const std::string&) override { return raised(); }
  Json history(const Json&) override { return raised(); }
  Json kernel_info() override { return Json::object(); }
  void comm(const interpreters::CommMessage&) override { raise_(); }
  Json comm_info(const Json&) override { return raised(); }
  void clear() override {}
  void on_wake() override {}
  void before_request() override {}

 private:
  Json raised() {
    raise_();
    return Json::object();
  }
  std::function<void()> raise_;
};

struct TextlessError : std::exception {
  const char* what() const noexcept override { return nullptr; }
};

class RunnerTest : public ::testing::Test {
 protected:
  /// What goes out when a request of this type is served: "execute_reply InternalError, idle".
  std::string served(const std::string& type, std::function<void()> raise,
                     std::map<std::string, Handler> handlers = {}) {
    net::Loop loop;
    ReplyFormats formats{{std::make_shared<ReplyFormat>()}};
    Queues queues{formats, loop.waker()};
    ThrowingInterpreter interpreter{std::move(raise)};
    Runner runner{interpreter, queues, formats, {false, std::move(handlers)}};
    queues.outgoing.take(Instant::max());
    if (is_traced_) queues.spans.start();
    queues.requests.arrive(sender_.request(type));
    runner.run([&](int) { queues.requests.stop(); });
    spans_ = queues.spans.take(10);
    std::string text;
    for (const OutgoingItem& item : queues.outgoing.take(Instant::max())) {
      const auto& message = std::get<Outgoing>(item);
      const Json content = Json::parse(message.content);
      if (message.type == "status")
        text += ", " + content.value("execution_state", "");
      else
        text += ", " + message.type + " " + content.value("ename", "ok");
      if (message.type.ends_with("_reply")) evalue_ = content.value("evalue", "");
    }
    return text.empty() ? text : text.substr(2);
  }

  testing::Sender sender_;
  std::string evalue_;
  bool is_traced_ = false;
  std::vector<TraceSpan> spans_;  // of the last request
};

TEST_F(RunnerTest, AnswersEachRequestWhereTheInterpreterThrows) {
  for (const std::string type :
       {"execute", "complete", "inspect", "is_complete", "history", "comm_info"})
    for (const std::function<void()>& raise :
         {std::function<void()>([] { throw std::runtime_error("no room"); }),
          std::function<void()>([] { throw TextlessError(); }),
          std::function<void()>([] { throw 1; })}) {
      const std::string text = served(type + "_request", raise);
      EXPECT_NE(text.find(type + "_reply InternalError"), std::string::npos) << text;
      EXPECT_TRUE(text.starts_with("busy") && text.ends_with("idle")) << text;
    }
}

TEST_F(RunnerTest, TellsWhatWasThrown) {
  served("execute_request", [] { throw std::runtime_error("no room"); });
  EXPECT_EQ(evalue_,
            "this kernel could not serve this execute_request: no room; this is an error of "
            "polyxeus, not of your code: please report it");
}

TEST_F(RunnerTest, SendsTextThatIsNotUtf8) {
  served("execute_request", [] { throw std::runtime_error("\xff"); });
  EXPECT_NE(evalue_.find("could not serve"), std::string::npos);
}

TEST_F(RunnerTest, AnswersWhereAHandlerDoesNot) {
  const std::map<std::string, Handler> handlers{
      {"execute_request", [](const RequestPtr&) { throw std::bad_alloc(); }},
      {"complete_request", [](const RequestPtr&) {}}};
  EXPECT_EQ(served(
                "execute_request", [] {}, handlers),
            "execute_reply InternalError, idle");
  EXPECT_EQ(served(
                "complete_request", [] {}, handlers),
            "complete_reply InternalError, idle");
}

TEST_F(RunnerTest, WhileATraceIsOnEachRequestIsRecorded) {
  served("execute_request", [] {});
  EXPECT_TRUE(spans_.empty());
  is_traced_ = true;
  served("execute_request", [] {});
  ASSERT_EQ(spans_.size(), 1u);
  const TraceSpan& span = spans_.front();
  EXPECT_EQ(span.kind, "request");
  EXPECT_LE(span.began, span.ended);
  EXPECT_EQ(span.details["type"], "execute_request");
  EXPECT_GE(span.details["queued_ns"].get<std::int64_t>(), 0);
  EXPECT_FALSE(span.details["msg_id"].get<std::string>().empty());
  EXPECT_FALSE(span.details["session"].get<std::string>().empty());
}

TEST_F(RunnerTest, AnswersNothingToWhatHasNoReply) {
  EXPECT_EQ(served("comm_msg", [] { throw std::runtime_error("no room"); }), "busy, idle");
}

}  // namespace
}  // namespace px::jupyter
