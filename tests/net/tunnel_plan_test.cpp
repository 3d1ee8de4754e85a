#include "net/ssh/tunnel_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "wire/channels.hpp"

namespace px::net {
namespace {

const OwnHost laptop{"laptop", {"127.0.0.1", "192.168.1.7"}};

ClientConnectionInfo info_at(std::string interface, std::string location) {
  ClientConnectionInfo info;
  info.interface = std::move(interface);
  info.location = std::move(location);
  info.ssh = "ann@gate";
  info.curve_serverkey = std::string(40, 'k');
  info.registration = 1;
  info.control = 2;
  info.mux = info.task = 3;  // one port may have several meanings
  info.iopub = 4;
  info.notification = 5;
  info.broadcast = 6;
  return info;
}

TunnelUse use_of(const ConnectionCommon& info, const SshOptions& options = {}) {
  return choose_tunnel(info, options, laptop);
}

TEST(SshServer, IsAHostWithOrWithoutUserAndPort) {
  EXPECT_EQ(*SshServer::read("gate"), (SshServer{"gate", {}}));
  EXPECT_EQ(*SshServer::read("ann@gate:2222"), (SshServer{"ann@gate", 2222}));
  EXPECT_EQ(*SshServer::read("[fd00::1]:22"), (SshServer{"fd00::1", 22}));
  EXPECT_EQ(*SshServer::read("ann@fd00::1"), (SshServer{"ann@fd00::1", {}}));
  EXPECT_EQ(SshServer::read("ann@gate:2222")->host(), "gate");
}

TEST(SshServer, IsNoOptionOfSshAndNoTextWithBlanks) {
  for (const char* text : {"", "-oProxyCommand=sh", "ann@", "gate:port", "gate:0", "a b", "a\nb"})
    EXPECT_FALSE(SshServer::read(text)) << text;
}

TEST(SshServer, IsNothingThatTheShellOfAProxyCommandCouldRun) {
  for (const char* text : {"gate;id", "$(id)", "`id`", "a|b", "a&b", "a<b", "a>b", "'a'", "\"a\"",
                           "{a,b}", "ann;id@gate"})
    EXPECT_FALSE(SshServer::read(text)) << text;
}

TEST(TunnelUse, NothingIsTunnelledThatNobodyAskedFor) {
  ClientConnectionInfo info = info_at("tcp://10.0.0.1", "head");
  info.ssh.clear();
  EXPECT_EQ(use_of(info), TunnelUse::none);
}

TEST(TunnelUse, AServerThatTheUserNamesIsAlwaysUsed) {
  const ClientConnectionInfo info = info_at("tcp://127.0.0.1", "laptop");
  EXPECT_EQ(use_of(info, {"gate", ""}), TunnelUse::only);
  EXPECT_EQ(use_of(info, {"", "/home/ann/key"}), TunnelUse::only);
}

TEST(TunnelUse, AControllerOnAnotherHostsLoopbackIsReachedByItsFilesServerOnly) {
  EXPECT_EQ(use_of(info_at("tcp://127.0.0.1", "head")), TunnelUse::only);
  EXPECT_EQ(use_of(info_at("tcp://127.0.0.1", "")), TunnelUse::only);
}

TEST(TunnelUse, AControllerOfThisHostNeedsNoTunnel) {
  for (const char* here : {"laptop", "localhost", "192.168.1.7"})
    EXPECT_EQ(use_of(info_at("tcp://127.0.0.1", here)), TunnelUse::fallback) << here;
}

TEST(TunnelUse, WhereTheControllerListensForOthersItsAddressesAreTriedFirstIfItEncrypts) {
  ClientConnectionInfo info = info_at("tcp://*", "head");
  EXPECT_EQ(use_of(info), TunnelUse::fallback);
  info.curve_serverkey.reset();
  EXPECT_EQ(use_of(info), TunnelUse::only);
}

TEST(TunnelServer, IsWhatTheUserSaysOrTheFileOrTheControllersHost) {
  ClientConnectionInfo info = info_at("tcp://127.0.0.1", "head");
  EXPECT_EQ(tunnel_server(info, {"other", ""}), "other");
  EXPECT_EQ(tunnel_server(info, {"", "key"}), "ann@gate");
  info.ssh.clear();
  EXPECT_EQ(tunnel_server(info, {"", "key"}), "head");
}

TEST(TunnelTarget, IsTheControllerAsSeenFromTheServer) {
  const SshServer gate{"ann@gate", {}};
  EXPECT_EQ(tunnel_target(info_at("tcp://127.0.0.1", "head"), gate), "127.0.0.1");
  EXPECT_EQ(tunnel_target(info_at("tcp://10.0.0.1", "head"), gate), "10.0.0.1");
  EXPECT_EQ(tunnel_target(info_at("tcp://*", "head"), gate), "head");
  EXPECT_EQ(tunnel_target(info_at("tcp://*", "head"), {"ann@head", {}}), "127.0.0.1");
  ClientConnectionInfo info = info_at("tcp://*", "head");
  info.addresses = {"10.0.0.1", "10.1.0.1"};
  EXPECT_EQ(tunnel_target(info, gate), "10.0.0.1");
  EXPECT_EQ(tunnel_target(info, {"10.1.0.1", {}}), "127.0.0.1");
}

TEST(TunnelCommand, IsOneSshWithAllForwardsOnLoopback) {
  TunnelPlan plan;
  plan.server.login = "ann@gate";
  plan.server.port = 2222;
  plan.key_file = "/key";
  plan.forwards = {{20001, "127.0.0.1", 5001}, {20002, "fd00::1", 5002}};
  const std::vector<std::string> words = tunnel_command(plan);
  const auto has = [&](const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  EXPECT_EQ(words.front(), "ssh");
  EXPECT_EQ(words.back(), "ann@gate");
  EXPECT_EQ(words.at(words.size() - 2), "--");
  for (const char* word : {"-N", "BatchMode=yes", "ExitOnForwardFailure=yes", "2222", "/key",
                           "127.0.0.1:20001:127.0.0.1:5001", "127.0.0.1:20002:[fd00::1]:5002"})
    EXPECT_TRUE(has(word)) << word;
}

TEST(Redirect, EveryPortOfAClientsFileIsThisHostsEndOfATunnel) {
  ClientConnectionInfo info = info_at("tcp://*", "head");
  info.addresses = {"10.0.0.1"};
  EXPECT_EQ(ports_of(info), (std::vector<int>{1, 2, 3, 4, 5, 6}));
  redirect(info, {{1, 11}, {2, 12}, {3, 13}, {4, 14}, {5, 15}, {6, 16}});
  EXPECT_EQ(info.interface, "tcp://127.0.0.1");
  EXPECT_EQ(info.registration, 11);
  EXPECT_EQ(info.task, 13);
  EXPECT_EQ(info.broadcast, 16);
  EXPECT_EQ(dial_candidates(info, laptop), std::vector<std::string>{"127.0.0.1"});
  EXPECT_EQ(use_of(info), TunnelUse::none);
}

TEST(Redirect, EveryPortOfAnEnginesFileToo) {
  EngineConnectionInfo info;
  info.registration = 1;
  info.control = info.mux = info.task = info.iopub = 2;
  info.hb_ping = 3;
  info.hb_pong = 4;
  info.broadcast = {5, 6};
  info.lifeline = 7;
  std::map<int, int> ports;
  for (const int port : ports_of(info)) ports[port] = port + 10;
  redirect(info, ports);
  EXPECT_EQ(info.hb_pong, 14);
  EXPECT_EQ(info.broadcast, (std::vector<int>{15, 16}));
  EXPECT_EQ(info.lifeline, 17);
}

}  // namespace
}  // namespace px::net
