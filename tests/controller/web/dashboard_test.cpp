#include "controller/web/dashboard.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include "tests/controller/server_fixture.hpp"
#include "tests/controller/web/http_client.hpp"

namespace px::controller {
namespace {

std::string metrics(const Snapshot& snapshot, MetricsFormat format) {
  const std::string end = format == MetricsFormat::open_metrics ? "# EOF\n" : "";
  return "number " + std::to_string(snapshot.number) + "\n" + end;
}

std::unique_ptr<Dashboard> open_with_token(
    std::shared_ptr<SnapshotBoard> board = std::make_shared<SnapshotBoard>()) {
  auto dashboard = Dashboard::open({.token = "secret"}, std::move(board), &metrics);
  EXPECT_TRUE(dashboard) << dashboard.error().what;
  return std::move(*dashboard);
}

constexpr const char* with_secret = "X-Polyxeus-Token: secret\r\n";

std::shared_ptr<const Snapshot> snapshot(std::uint64_t number) {
  Snapshot made;
  made.number = number;
  return std::make_shared<const Snapshot>(std::move(made));
}

TEST(Dashboard, MakesATokenThatOpensIt) {
  const auto board = std::make_shared<SnapshotBoard>(), other = std::make_shared<SnapshotBoard>();
  const auto first = Dashboard::open({}, board, &metrics);
  const auto second = Dashboard::open({}, other, &metrics);
  ASSERT_TRUE(first && second);
  EXPECT_GE((*first)->address().token.size(), 32u);
  EXPECT_NE((*first)->address().token, (*second)->address().token);
  board->put(snapshot(1));
  const std::string header = "X-Polyxeus-Token: " + (*first)->address().token + "\r\n";
  EXPECT_EQ(HttpClient{(*first)->address().port}.ask("GET /metrics", header).status, 200);
  EXPECT_EQ(HttpClient{(*second)->address().port}.ask("GET /metrics", header).status, 401);
}

TEST(Dashboard, ShowsSnapshotsToBrowsersAndPrometheus) {
  const auto board = std::make_shared<SnapshotBoard>();
  const auto dashboard = open_with_token(board);
  HttpClient browser{dashboard->address().port}, prometheus{dashboard->address().port};
  EXPECT_EQ(prometheus.ask("GET /metrics", with_secret).status, 503);
  EXPECT_EQ(browser.ask("GET /stream", with_secret).status, 200);
  board->put(snapshot(7));
  const std::string event = browser.read_chunk();
  ASSERT_TRUE(event.starts_with("data: "));
  EXPECT_EQ(Json::parse(event.substr(6))["number"], 7);
  EXPECT_EQ(prometheus.ask("GET /metrics", with_secret).body, "number 7\n");
  const std::string accept = "Accept: application/openmetrics-text\r\n";
  EXPECT_EQ(prometheus.ask("GET /metrics", with_secret + accept).body, "number 7\n# EOF\n");
}

TEST(Dashboard, ThatIsClosedHearsNoMoreOfSnapshots) {
  const auto board = std::make_shared<SnapshotBoard>();
  open_with_token(board).reset();
  board->put(snapshot(1));
}

/// A controller with a dashboard and an engine 0.
class DashboardOfServer : public ServerTest {
 protected:
  void start_with_engine() {
    dashboard_ = open_with_token();
    ServerOptions options;
    options.dashboard = dashboard_;
    start(options);
    ann_ = engine("ann");
    auto user = client();
    ann_->join();
    user->wait_for("registration_notification", "ann");
  }
  ~DashboardOfServer() override { stop(); }
  HttpAnswer order(const std::string& line, const std::string& body) {
    return HttpClient{dashboard_->address().port}.ask("POST /do/" + line, with_secret, body);
  }
  std::shared_ptr<Dashboard> dashboard_;
  std::unique_ptr<FakeEngine> ann_;
};

TEST_F(DashboardOfServer, AnInterruptReachesTheEngine) {
  start_with_engine();
  EXPECT_EQ(order("interrupt", R"({"engines": [0]})").status, 200);
  const Received request = receive(ann_->control);
  EXPECT_EQ(request.header.msg_type, "signal_request");
  EXPECT_EQ(request.content, (Json{{"sig", SIGINT}}));
  ann_->reply(ann_->control, request);  // nobody waits for it
  EXPECT_EQ(order("signal", R"({"engines": "all", "signal": "USR1"})").status, 200);
  EXPECT_EQ(receive(ann_->control).content, (Json{{"sig", SIGUSR1}}));
  EXPECT_EQ(order("shutdown", R"({"engines": [0]})").status, 200);
  EXPECT_EQ(receive(ann_->control).header.msg_type, "shutdown_request");
}

TEST_F(DashboardOfServer, AnOrderForAnEngineThatIsNotThereReachesNone) {
  start_with_engine();
  const HttpAnswer answer = order("interrupt", R"({"engines": [0, 7]})");
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(Json::parse(answer.body)["why"], "there is no engine 7");
  EXPECT_EQ(order("signal", R"({"engines": [0], "signal": 10})").status, 200);
  EXPECT_EQ(receive(ann_->control).content["sig"], 10);  // the first that it gets
}

TEST_F(DashboardOfServer, ADrainedEngineGetsNoTasksUntilItIsResumed) {
  start_with_engine();
  auto bob = engine("bob");
  auto user = client("user");
  bob->join();
  user->wait_for("registration_notification", "bob");
  EXPECT_EQ(order("drain", R"({"engines": [1]})").status, 200);
  const Json drained = user->ask("measures_request").content["measures"];
  EXPECT_FALSE(drained["engines"][0].contains("is_drained"));
  EXPECT_EQ(drained["engines"][1]["is_drained"], true);
  EXPECT_EQ(drained["events"].back()["kind"], "drained");
  const Draft task{.msg_type = "apply_request"};
  user->send(user->task, task);  // else for bob, who came last
  ann_->reply(ann_->task, receive(ann_->task));
  receive(user->task);
  EXPECT_EQ(order("resume", R"({"engines": "all"})").status, 200);
  user->send(user->task, task);
  receive(bob->task);
}

TEST_F(DashboardOfServer, WithoutAQueueEnginesCannotBeDrained) {
  dashboard_ = open_with_token();
  ServerOptions options;
  options.dashboard = dashboard_;
  options.tasks.scheme = TaskScheme::pure;
  start(options);
  EXPECT_EQ(order("drain", R"({"engines": "all"})").status, 501);
}

TEST_F(DashboardOfServer, EnginesAreAskedForTheirStacksForOneViewerAtATime) {
  start_with_engine();
  HttpClient browser{dashboard_->address().port};
  browser.request("POST /do/stacks", with_secret, R"({"engines": [0]})");
  const Received request = receive(ann_->control);
  EXPECT_EQ(request.header.msg_type, "usage_request");
  EXPECT_EQ(request.content, (Json{{"place", true}, {"stacks", true}}));
  EXPECT_EQ(order("stacks", R"({"engines": "all"})").status, 503);
  ann_->send(
      ann_->control,
      Draft{.idents = request.idents,
            .msg_type = "usage_reply",
            .parent_header = request.header_text,
            .content = {{"pid", 4}, {"place", Json::object()}, {"stacks", {{"hidden", 2}}}}});
  EXPECT_EQ(browser.read_answer().body,
            R"({"engines":[{"engine":0,"place":{},"stacks":{"hidden":2}}],"status":"ok"})");
  browser.request("POST /do/stacks", with_secret, R"({"engines": [0]})");
  EXPECT_EQ(receive(ann_->control).header.msg_type, "usage_request");
}

}  // namespace
}  // namespace px::controller
