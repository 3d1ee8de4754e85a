#include "controller/web/request_gate.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace px::controller {
namespace {

constexpr const char* secret = "0123456789abcdef";

RequestGate gate() {
  return RequestGate{{.token = secret,
                      .host_names = {"hub.example.org", "10.0.0.7"},
                      .files = {"index.html", "page.js"}}};
}

WebRequest get(std::string_view target) {
  return {.method = "GET", .target = target, .host = "127.0.0.1:4000", .token = secret};
}

WebRequest post(std::string_view target, std::string_view body) {
  return {.method = "POST",
          .target = target,
          .host = "127.0.0.1:4000",
          .origin = "http://127.0.0.1:4000",
          .token = secret,
          .body = body};
}

/// 200 where the request is not refused.
int status_of(const WebRequest& request) {
  const WebDecision decision = gate().decide(request);
  const auto* refusal = std::get_if<RefuseRequest>(&decision);
  if (!refusal) return 200;
  EXPECT_FALSE(refusal->why.empty());
  return refusal->status;
}

std::string file_of(const WebRequest& request) {
  const WebDecision decision = gate().decide(request);
  const auto* file = std::get_if<ServeFile>(&decision);
  return file ? file->name : "";
}

std::optional<EngineOrder> order_of(const WebRequest& request) {
  const WebDecision decision = gate().decide(request);
  const auto* pass = std::get_if<PassOrder>(&decision);
  return pass ? std::optional(pass->order) : std::nullopt;
}

/// The signal that is to be sent; nothing where the order is another one.
std::optional<int> signal_of(const EngineOrder& order) {
  const auto* signal = std::get_if<SignalEngines>(&order.what);
  return signal ? std::optional(signal->signal) : std::nullopt;
}

TEST(RequestGate, ThePageItselfNeedsNoTokenAsItHoldsNoSecret) {
  WebRequest request = get("/");
  request.token = "";
  EXPECT_EQ(file_of(request), "index.html");
  request.target = "/page.js?v=1";
  EXPECT_EQ(file_of(request), "page.js");
}

TEST(RequestGate, OnlyFilesOfThePageAreServed) {
  for (const char* target : {"/../secret", "/page.js/", "/etc/passwd", "/%2e%2e/x", "page.js", "",
                             "/Page.js", "//page.js", "http://127.0.0.1/page.js"})
    EXPECT_EQ(status_of(get(target)), 404) << target;
  EXPECT_EQ(status_of(get("/" + std::string(1000, 'a'))), 404);
}

TEST(RequestGate, WhatShowsTheClusterNeedsTheToken) {
  for (const char* target : {"/stream", "/metrics"}) {
    EXPECT_EQ(status_of(get(target)), 200);
    for (const char* token :
         {"", "0", "0123456789abcdeF", "0123456789abcdef0", "0123456789abcde"}) {
      WebRequest request = get(target);
      request.token = token;
      EXPECT_EQ(status_of(request), 401) << target << " " << token;
    }
  }
  WebRequest request = post("/do/interrupt", R"({"engines": [0]})");
  request.token = "";
  EXPECT_EQ(status_of(request), 401);
}

TEST(RequestGate, PrometheusSendsTheTokenAsABearer) {
  WebRequest request = get("/metrics");
  request.token = "";
  request.authorization = "Bearer 0123456789abcdef";
  EXPECT_EQ(status_of(request), 200);
  for (const char* wrong :
       {"Bearer 0123456789abcdee", "Basic 0123456789abcdef", "Bearer ", "0123456789abcdef"}) {
    request.authorization = wrong;
    EXPECT_EQ(status_of(request), 401) << wrong;
  }
}

TEST(RequestGate, ATokenInTheAddressOpensNothing) {
  WebRequest request = get("/stream?token=0123456789abcdef");
  request.token = "";
  EXPECT_EQ(status_of(request), 401);
}

TEST(RequestGate, ANameThatSomebodyLetsPointHereReadsNothing) {
  for (const char* host :
       {"evil.example.org", "evil.example.org:4000", "", "127.0.0.1.evil.org",
        "localhost.evil.org:80", "[::1", "[::2]:80", "127.0.0.2", "0.0.0.0:4000"}) {
    WebRequest request = get("/stream");
    request.host = host;
    EXPECT_EQ(status_of(request), 403) << host;
    request.target = "/";
    EXPECT_EQ(status_of(request), 403) << host;
  }
}

TEST(RequestGate, LoopbackAndAllowedNamesAreItsOwnAtAnyPort) {
  for (const char* host : {"127.0.0.1", "127.0.0.1:1", "localhost:8080", "LocalHost:80", "[::1]:80",
                           "[::1]", "hub.example.org", "HUB.example.org:443", "10.0.0.7:4000"}) {
    WebRequest request = get("/stream");
    request.host = host;
    EXPECT_EQ(status_of(request), 200) << host;
  }
}

TEST(RequestGate, APageOfAnotherOriginIsRefusedEvenWithTheToken) {
  for (const char* origin : {"http://evil.example.org", "http://127.0.0.1:5000", "http://127.0.0.1",
                             "null", "http://localhost:4000", "file://"}) {
    for (const char* target : {"/stream", "/metrics"}) {
      WebRequest request = get(target);
      request.origin = origin;
      EXPECT_EQ(status_of(request), 403) << origin;
    }
    WebRequest request = post("/do/interrupt", R"({"engines": "all"})");
    request.origin = origin;
    EXPECT_EQ(status_of(request), 403) << origin;
  }
}

TEST(RequestGate, ThePageBehindAProxyOfAnAllowedNameMayAsk) {
  WebRequest request = post("/do/interrupt", R"({"engines": "all"})");
  request.host = "127.0.0.1:4000";  // the proxy's own request
  request.origin = "https://hub.example.org";
  EXPECT_EQ(status_of(request), 200);
}

TEST(RequestGate, ActionsArePostsAndNothingElseIs) {
  EXPECT_EQ(status_of(get("/do/interrupt")), 405);
  for (const char* target : {"/", "/stream", "/metrics", "/page.js"})
    EXPECT_EQ(status_of(post(target, "{}")), 405) << target;
  WebRequest request = post("/do/interrupt", R"({"engines": "all"})");
  for (const char* method : {"OPTIONS", "PUT", "DELETE", "HEAD", "post"}) {
    request.method = method;
    EXPECT_EQ(status_of(request), 405) << method;
  }
}

TEST(RequestGate, AnInterruptIsASignalForTheseEngines) {
  const auto order = order_of(post("/do/interrupt", R"({"engines": [3, 0]})"));
  ASSERT_TRUE(order);
  EXPECT_EQ(signal_of(*order), SIGINT);
  EXPECT_EQ(order->engines, (std::vector{EngineId{3}, EngineId{0}}));
}

TEST(RequestGate, ASignalIsGivenByNameOrNumber) {
  for (const char* signal : {"15", "\"TERM\"", "\"SIGTERM\""}) {
    const std::string body = R"({"engines": "all", "signal": )" + std::string(signal) + "}";
    const auto order = order_of(post("/do/signal", body));
    ASSERT_TRUE(order) << signal;
    EXPECT_EQ(signal_of(*order), SIGTERM);
    EXPECT_FALSE(order->engines);
  }
  for (const char* signal :
       {"0", "-1", "1000", "\"NONE\"", "\"signal 77\"", "null", "[15]", "1.5"}) {
    const std::string body = R"({"engines": "all", "signal": )" + std::string(signal) + "}";
    EXPECT_EQ(status_of(post("/do/signal", body)), 400) << signal;
  }
}

TEST(RequestGate, EnginesCanBeShutDownAndAsked) {
  const auto shutdown = order_of(post("/do/shutdown", R"({"engines": [1]})"));
  ASSERT_TRUE(shutdown);
  EXPECT_TRUE(std::holds_alternative<ShutDownEngines>(shutdown->what));
  const auto stacks = order_of(post("/do/stacks", R"({"engines": "all"})"));
  ASSERT_TRUE(stacks);
  EXPECT_TRUE(std::holds_alternative<AskStacks>(stacks->what));
  const auto restart = order_of(post("/do/restart", R"({"engines": "all"})"));
  ASSERT_TRUE(restart);
  EXPECT_TRUE(std::holds_alternative<RestartEngines>(restart->what));
}

TEST(RequestGate, EnginesCanBeDrainedAndResumed) {
  for (const bool is_drained : {true, false}) {
    const auto order =
        order_of(post(is_drained ? "/do/drain" : "/do/resume", R"({"engines": [1]})"));
    ASSERT_TRUE(order);
    ASSERT_TRUE(std::holds_alternative<DrainEngines>(order->what));
    EXPECT_EQ(std::get<DrainEngines>(order->what).is_drained, is_drained);
  }
}

TEST(RequestGate, AnOrderThatNamesNoEnginesIsRefused) {
  for (const char* body : {"", "[]", "{}", "{\"engines\": []}", "{\"engines\": [\"0\"]}",
                           "{\"engines\": [-1]}", "{\"engines\": [0.5]}", "{\"engines\": 0}",
                           "{\"engines\": \"some\"}", "{\"engines\": [99999999999999999999]}"})
    EXPECT_EQ(status_of(post("/do/interrupt", body)), 400) << body;
}

TEST(RequestGate, WhatTheControllerCannotDoIsSaid) {
  EXPECT_EQ(status_of(post("/do/", R"({"engines": "all"})")), 404);
  EXPECT_EQ(status_of(post("/do/format", R"({"engines": "all"})")), 404);
}

TEST(RequestGate, ARefusalRepeatsNothingOfTheRequest) {
  WebRequest request = get("/<script>alert(1)</script>");
  request.host = "<b>evil</b>";
  const WebDecision decision = gate().decide(request);
  EXPECT_EQ(std::get<RefuseRequest>(decision).why.find('<'), std::string::npos);
}

}  // namespace
}  // namespace px::controller
