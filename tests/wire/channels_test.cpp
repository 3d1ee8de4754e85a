#include "wire/channels.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace px {
namespace {

TEST(Channels, EachHasANameOfItsOwnAndAPortInOneFileAtLeast) {
  std::set<std::string> names;
  for (const ConnectionChannel& channel : channels) {
    EXPECT_TRUE(names.emplace(channel.name).second) << channel.name;
    EXPECT_TRUE(channel.both || channel.both_optional || channel.client || channel.engine ||
                channel.engine_list || channel.engine_optional)
        << channel.name;
  }
}

TEST(Channels, HaveAllPortsOfAClientsFile) {
  ClientConnectionInfo info;
  info.registration = 7;
  info.control = 6;
  info.mux = 5;
  info.task = 4;
  info.iopub = 3;
  info.notification = 2;
  info.broadcast = 1;
  EXPECT_EQ(ports_of(info), (std::vector<int>{1, 2, 3, 4, 5, 6, 7}));
}

TEST(Channels, HaveAllPortsOfAnEnginesFile) {
  EngineConnectionInfo info;
  info.registration = info.control = info.mux = info.task = info.iopub = 1;
  info.hb_ping = 2;
  info.hb_pong = 3;
  info.broadcast = {4, 5};
  EXPECT_EQ(ports_of(info), (std::vector<int>{1, 2, 3, 4, 5}));
  info.lifeline = 6;
  EXPECT_EQ(ports_of(info), (std::vector<int>{1, 2, 3, 4, 5, 6}));
}

TEST(Channels, AreNotAllNeeded) {
  EngineConnectionInfo engine;
  engine.registration = engine.control = engine.mux = engine.task = engine.iopub = 1;
  engine.hb_ping = engine.hb_pong = 2;
  engine.broadcast = {3};
  engine.lifeline = 4;
  engine.stream = 5;
  EXPECT_EQ(ports_of(engine), (std::vector<int>{1, 2, 3, 4, 5}));
  EXPECT_EQ(needed_ports_of(engine), (std::vector<int>{1, 2, 3, 4}));
}

TEST(Channels, PortsCanBeChanged) {
  EngineConnectionInfo info;
  info.broadcast = {4};
  info.lifeline = 6;
  info.stream = 7;
  visit_ports(info, [](int& port) { port += 10; });
  EXPECT_EQ(ports_of(info), (std::vector<int>{10, 14, 16, 17}));
}

}  // namespace
}  // namespace px
