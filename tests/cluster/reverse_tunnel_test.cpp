#include "cluster/remote/reverse_tunnel.hpp"

#include <gtest/gtest.h>

#include <set>

#include "cluster/remote/ssh_watch.hpp"

namespace px::cluster {
namespace {

using namespace std::chrono_literals;

Instant at(Duration time) {
  return Instant{} + time;
}

EngineConnectionInfo controller_info() {
  EngineConnectionInfo info;
  info.location = "laptop";
  info.registration = 1;
  info.control = info.mux = info.task = info.iopub = 2;
  info.hb_ping = 3;
  info.hb_pong = 4;
  info.broadcast = {5};
  info.lifeline = 6;
  return info;
}

/// A host called laptop, and ports from `first` on.
TunnelMeans means(int first = 20001) {
  return {net::OwnHost{"laptop", {"127.0.0.1"}}, [next = first]() mutable { return next++; }};
}

SshHostPlan tunnelled_plan() {
  SshHostPlan plan;
  plan.host = "host2";
  plan.engines = {{"pxengine"}};
  plan.is_tunnelled = true;
  return plan;
}

OpenSession opened(const std::vector<WatchEffect>& effects, SshSession session) {
  for (const WatchEffect& effect : effects)
    if (const auto* open = std::get_if<OpenSession>(&effect); open && open->session == session)
      return *open;
  return {};
}

constexpr const char* taken = "Error: remote port forwarding failed for listen port 20001";

TEST(ReverseTunnel, LeavesWhatEnginesAreToldOfTheirSet) {
  Json info = Json::parse(write_connection_info(controller_info()));
  info["engine_set"] = "17";
  info["engine_ids"] = {3, 2};
  const auto tunnel = plan_reverse_tunnel(info.dump(), means());
  ASSERT_TRUE(tunnel);
  const auto told = read_engine_connection_info(tunnel->connection_info);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->engine_set, "17");
  EXPECT_EQ(told->engine_ids, (std::vector<int>{3, 2}));
}

TEST(ReverseTunnel, LeadsEveryPortThatEnginesNeedBackToTheController) {
  const auto tunnel = plan_reverse_tunnel(write_connection_info(controller_info()), means());
  ASSERT_TRUE(tunnel);
  ASSERT_EQ(tunnel->forwards.size(), 5u);
  EXPECT_EQ(tunnel->forwards[0], (net::Forward{20001, "127.0.0.1", 1}));
  const auto info = read_engine_connection_info(tunnel->connection_info);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->interface, "tcp://127.0.0.1");
  EXPECT_EQ(info->registration, 20001);
  EXPECT_EQ(info->broadcast, std::vector<int>{20005});
}

TEST(ReverseTunnel, HasNoLifelineWhichWouldEndWithTheConnection) {
  const auto tunnel = plan_reverse_tunnel(write_connection_info(controller_info()), means());
  EXPECT_FALSE(read_engine_connection_info(tunnel->connection_info)->lifeline);
}

TEST(ReverseTunnel, EndsWhereTheControllerOfAnotherHostListens) {
  EngineConnectionInfo info = controller_info();
  info.interface = "tcp://10.0.0.1";
  info.location = "head";
  const auto tunnel = plan_reverse_tunnel(write_connection_info(info), means());
  EXPECT_EQ(tunnel->forwards[0].host, "10.0.0.1");
}

TEST(ReverseTunnel, HasEachPortOnce) {
  TunnelMeans same = means();
  same.any_port = [] { return 32000; };
  const auto tunnel = plan_reverse_tunnel(write_connection_info(controller_info()), same);
  std::set<int> ports;
  for (const net::Forward& each : tunnel->forwards) ports.insert(each.local_port);
  EXPECT_EQ(ports.size(), 5u);
}

TEST(SshWatch, EnginesGetTheirTunnelWithTheSessionThatStartsThem) {
  SshWatch watch{tunnelled_plan(), write_connection_info(controller_info()), means()};
  const OpenSession main = opened(watch.begin(at(0s)), SshSession::main);
  EXPECT_EQ(main.forwards.size(), 5u);
  EXPECT_NE(main.script.find("\"registration\":20001"), std::string::npos);
}

TEST(SshWatch, PortsThatAreTakenThereAreChosenAnew) {
  SshWatch watch{tunnelled_plan(), write_connection_info(controller_info()), means()};
  watch.begin(at(0s));
  const auto effects = watch.closed(SshSession::main, {.exit_code = 255}, taken, at(1s));
  EXPECT_EQ(opened(effects, SshSession::main).forwards.at(0).local_port, 20006);
}

TEST(SshWatch, ATunnelThatBreaksComesBackWithTheSamePortsAndTakesThemFromTheDeadConnection) {
  SshWatch watch{tunnelled_plan(), write_connection_info(controller_info()), means()};
  watch.begin(at(0s));
  watch.line(SshSession::main, "px:started 0 100", at(1s));
  watch.line(SshSession::main, "px:watching", at(1s));
  watch.closed(SshSession::main, {.exit_code = 255}, "broken pipe", at(10s));
  const OpenSession again = opened(watch.on_time(at(11s)), SshSession::main);
  EXPECT_EQ(again.forwards.at(0).local_port, 20001);
  const auto effects = watch.closed(SshSession::main, {.exit_code = 255}, taken, at(12s));
  EXPECT_EQ(opened(effects, SshSession::one_shot).script, ssh_release_script(tunnelled_plan()));
  EXPECT_EQ(opened(watch.on_time(at(30s)), SshSession::main).forwards, again.forwards);
}

TEST(SshWatch, AnEngineThatFindsNoControllerIsOfferedATunnel) {
  SshHostPlan plan = tunnelled_plan();
  plan.is_tunnelled = false;
  SshWatch watch{plan, "{}"};
  watch.begin(at(0s));
  watch.line(SshSession::main, "px:started 0 100", at(1s));
  watch.line(SshSession::main, "px:tail 0 pxengine: no controller answers: ...", at(2s));
  std::string said;
  for (const WatchEffect& effect : watch.line(SshSession::main, "px:ended 0 1", at(2s)))
    if (const auto* say = std::get_if<SayReport>(&effect)) said += say->report.text;
  EXPECT_NE(said.find("--tunnel"), std::string::npos) << said;
}

}  // namespace
}  // namespace px::cluster
