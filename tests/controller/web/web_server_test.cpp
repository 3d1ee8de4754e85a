#include "controller/web/web_server.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <mutex>

#include "tests/controller/web/http_client.hpp"

namespace px::controller {
namespace {

constexpr const char* token_header = "X-Polyxeus-Token: secret\r\n";

class WebServerTest : public testing::Test {
 protected:
  void start(const WebBounds& bounds = {}) {
    auto started = WebServer::start(
        0,
        {.token = "secret",
         .files = {{"index.html", "<p>page</p>"}, {"page.js", "run()"}, {"page.css", "p {}"}},
         .snapshot =
             [this] {
               ++snapshots_;
               const std::lock_guard lock{mutex_};
               return snapshot_;
             },
         .metrics =
             [](MetricsFormat format) {
               return std::string(format == MetricsFormat::open_metrics ? "# EOF\n"
                                                                        : "engines 2\n");
             },
         .pass_order =
             [this](EngineOrder order, WebContent::Answer answer) {
               order_ = std::move(order);
               answer(order_result_);
             }},
        bounds);
    ASSERT_TRUE(started) << started.error().what;
    server_ = std::move(*started);
  }
  void show(const std::string& snapshot) {
    {
      const std::lock_guard lock{mutex_};
      snapshot_ = snapshot;
    }
    server_->publish();
  }
  HttpClient client() { return HttpClient{server_->port()}; }
  /// A viewer that has got the header.
  HttpClient viewer() {
    HttpClient viewer = client();
    const HttpAnswer head = viewer.ask("GET /stream", token_header);
    EXPECT_EQ(head.status, 200);
    EXPECT_TRUE(head.says("Content-Type: text/event-stream"));
    EXPECT_TRUE(head.says("Transfer-Encoding: chunked"));
    return viewer;
  }

  std::mutex mutex_;
  std::string snapshot_;
  std::atomic<int> snapshots_ = 0;
  EngineOrder order_;
  Result<WebContent::OrderNews> order_result_ = WebContent::OrderNews{};
  std::unique_ptr<WebServer> server_;
};

TEST_F(WebServerTest, ServesThePage) {
  start();
  HttpClient browser = client();
  const HttpAnswer page = browser.ask("GET /");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.body, "<p>page</p>");
  EXPECT_TRUE(page.says("Content-Type: text/html"));
  const HttpAnswer script = browser.ask("GET /page.js");  // on the same connection
  EXPECT_EQ(script.body, "run()");
  EXPECT_TRUE(script.says("Content-Type: text/javascript"));
}

TEST_F(WebServerTest, EachAnswerForbidsScriptsOfOthers) {
  start();
  for (const char* line : {"GET /", "GET /missing", "GET /metrics", "POST /do/x"}) {
    const HttpAnswer answer = client().ask(line);
    EXPECT_TRUE(answer.says("Content-Security-Policy: default-src 'none'; script-src 'self'"));
    EXPECT_TRUE(answer.says("X-Content-Type-Options: nosniff"));
    EXPECT_TRUE(answer.says("Referrer-Policy: no-referrer"));
    EXPECT_TRUE(answer.says("Cache-Control: no-store"));
    EXPECT_FALSE(answer.says("Access-Control-Allow"));
    EXPECT_FALSE(answer.says("Set-Cookie"));
  }
}

TEST_F(WebServerTest, NothingIsShownWithoutTheToken) {
  start();
  show("{}");
  for (const char* line : {"GET /stream", "GET /metrics", "POST /do/interrupt"}) {
    EXPECT_EQ(client().ask(line).status, 401) << line;
    EXPECT_EQ(client().ask(line, "X-Polyxeus-Token: Secret\r\n").status, 401) << line;
    EXPECT_EQ(client().ask(line, "Cookie: token=secret\r\n").status, 401) << line;
  }
  EXPECT_EQ(snapshots_, 0);
}

TEST_F(WebServerTest, PrometheusGetsItsFormat) {
  start();
  const HttpAnswer metrics = client().ask("GET /metrics", "Authorization: Bearer secret\r\n");
  EXPECT_EQ(metrics.body, "engines 2\n");
  EXPECT_TRUE(metrics.says("Content-Type: text/plain; version=0.0.4; charset=utf-8"));
  const HttpAnswer open_metrics =
      client().ask("GET /metrics",
                   "Authorization: Bearer secret\r\n"
                   "Accept: application/openmetrics-text;version=1.0.0\r\n");
  EXPECT_EQ(open_metrics.body, "# EOF\n");
  EXPECT_TRUE(open_metrics.says(
      "Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8"));
}

TEST_F(WebServerTest, AViewerGetsTheNewestSnapshotAtOnceAndEachNewOne) {
  start();
  show("{\"number\":1}");
  HttpClient first = viewer();
  EXPECT_EQ(first.read_chunk(), "data: {\"number\":1}\n\n");
  HttpClient second = viewer();
  EXPECT_EQ(second.read_chunk(), "data: {\"number\":1}\n\n");
  show("{\"number\":2}");
  EXPECT_EQ(first.read_chunk(), "data: {\"number\":2}\n\n");
  EXPECT_EQ(second.read_chunk(), "data: {\"number\":2}\n\n");
}

TEST_F(WebServerTest, SnapshotsAreWrittenOnceForAllViewersAndNotForNone) {
  start();
  show("{}");
  EXPECT_EQ(client().ask("GET /").status, 200);  // the server has seen the snapshot
  EXPECT_EQ(snapshots_, 0);
  HttpClient first = viewer(), second = viewer();
  first.read_chunk();
  second.read_chunk();
  const int before = snapshots_;
  show("{\"number\":2}");
  first.read_chunk();
  second.read_chunk();
  EXPECT_EQ(snapshots_, before + 1);
}

TEST_F(WebServerTest, AViewerThatReadsNothingIsDropped) {
  start({.viewers = {.most = 8, .patience = Duration{}}});
  HttpClient stuck{server_->port(), 4096};
  EXPECT_EQ(stuck.ask("GET /stream", token_header).status, 200);
  const std::string longer_than_the_kernel_takes(8 << 20, 'x');
  for (int i = 0; i < 2; ++i) {
    show(longer_than_the_kernel_takes);
    EXPECT_EQ(client().ask("GET /").status, 200);  // the server has seen it
  }
  EXPECT_TRUE(stuck.is_ended());
}

TEST_F(WebServerTest, AnOrderIsPassedOnAndAnswered) {
  start();
  HttpClient browser = client();
  const HttpAnswer done =
      browser.ask("POST /do/signal", token_header, R"({"engines": [1, 2], "signal": "USR1"})");
  EXPECT_EQ(done.status, 200);
  EXPECT_EQ(done.body, R"({"status":"ok"})");
  EXPECT_EQ(std::get<SignalEngines>(order_.what).signal, SIGUSR1);
  EXPECT_EQ(order_.engines, (std::vector{EngineId{1}, EngineId{2}}));
  order_result_ = Error{ErrorKind::not_found, "there is no engine 2"};
  const HttpAnswer failed = browser.ask("POST /do/interrupt", token_header, R"({"engines": [2]})");
  EXPECT_EQ(failed.status, 404);
  EXPECT_EQ(failed.body, R"({"status":"error","why":"there is no engine 2"})");
}

TEST_F(WebServerTest, WhatCameOfAnOrderIsInItsAnswer) {
  start();
  order_result_ = WebContent::OrderNews{[] { return Json{{"engines", {1, 2}}}; }};
  HttpClient browser = client();
  const HttpAnswer done = browser.ask("POST /do/stacks", token_header, R"({"engines": "all"})");
  EXPECT_EQ(done.body, R"({"engines":[1,2],"status":"ok"})");
  order_result_ = Error{ErrorKind::overloaded, "later"};
  EXPECT_EQ(browser.ask("POST /do/stacks", token_header, R"({"engines": "all"})").status, 503);
}

TEST_F(WebServerTest, WhatIsNoRequestEndsTheConnection) {
  start();
  for (const std::string& text :
       {std::string("\r\n\r\n\0x\r\n\r\n", 10), std::string("GET\r\n\r\n"),
        "GET / HTTP/1.1\r\nX: " + std::string(32 << 10, 'x') + "\r\n\r\n"}) {
    HttpClient stranger = client();
    stranger.send(text);
    EXPECT_TRUE(stranger.is_ended());
  }
  HttpClient stranger = client();
  stranger.send(
      "POST /do/interrupt HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999999\r\n\r\n");
  EXPECT_EQ(stranger.read_answer().status, 413);
  EXPECT_EQ(client().ask("GET /").status, 200);
}

TEST_F(WebServerTest, ConnectionsBeyondTheBoundAreClosed) {
  start({.connections = 2});
  HttpClient first = client(), second = client();
  EXPECT_EQ(first.ask("GET /page.css").status, 200);
  EXPECT_EQ(second.ask("GET /page.css").status, 200);
  EXPECT_TRUE(client().is_ended());
  EXPECT_EQ(first.ask("GET /page.css").status, 200);
}

TEST_F(WebServerTest, APortThatOthersHaveIsSaid) {
  start();
  const auto second = WebServer::start(server_->port(), {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::system);
  EXPECT_NE(second.error().what.find("127.0.0.1:"), std::string::npos);
}

TEST_F(WebServerTest, EndsWithViewersAndConnectionsThatAreOpen) {
  start();
  show("{}");
  HttpClient watching = viewer(), idle = client();
  server_.reset();
  EXPECT_TRUE(watching.is_ended());
  EXPECT_TRUE(idle.is_ended());
}

}  // namespace
}  // namespace px::controller
