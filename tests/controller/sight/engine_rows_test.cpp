#include "controller/sight/engine_rows.hpp"

#include <gtest/gtest.h>

namespace px::controller {
namespace {

using namespace std::chrono_literals;
using State = EngineView::State;

constexpr Instant start{};
const EngineUuid ann{"ann"}, bob{"bob"};

EngineFacts on_host(std::string host) {
  EngineFacts facts;
  facts.host = std::move(host);
  return facts;
}

EngineLoad no_load(const EngineUuid&) {
  return {};
}

EngineMeasures with_cpu(double seconds) {
  EngineMeasures measures;
  measures.process.cpu = seconds;
  return measures;
}

class EngineRowsTest : public testing::Test {
 protected:
  EngineRowsTest() {
    rows.joined(bob, EngineId{1}, on_host("node2"), "python", start);
    rows.joined(ann, EngineId{0}, on_host("node1"), "cpp", start);
  }
  EngineView of(int id, Instant now, const LoadOf& load = no_load) {
    return rows.look(now, load).at(static_cast<std::size_t>(id));
  }
  EngineRows rows;
};

TEST_F(EngineRowsTest, AreInTheOrderOfTheirIds) {
  const auto views = rows.look(start + 5s, no_load);
  ASSERT_EQ(views.size(), 2u);
  EXPECT_EQ(views[0].id, EngineId{0});
  EXPECT_EQ(views[0].host, "node1");
  EXPECT_EQ(views[0].language, "cpp");
  EXPECT_EQ(views[0].age, 5);
  EXPECT_EQ(views[0].measured_ago, std::nullopt);
  EXPECT_EQ(views[1].id, EngineId{1});
}

TEST_F(EngineRowsTest, AnEngineWithWorkIsBusySinceTheLookThatFoundIt) {
  const auto work = [](const EngineUuid& uuid) {
    return uuid == ann ? EngineLoad{.tasks = 1, .direct = 2, .finished = 9} : EngineLoad{};
  };
  EXPECT_EQ(of(0, start + 1s).state, State::idle);
  EXPECT_EQ(of(0, start + 2s, work).state_seconds, 0);
  const EngineView busy = of(0, start + 5s, work);
  EXPECT_EQ(busy.state, State::busy);
  EXPECT_EQ(busy.state_seconds, 3);
  EXPECT_EQ(busy.tasks, 1u);
  EXPECT_EQ(busy.direct, 2u);
  EXPECT_EQ(busy.finished_total, 9u);
  EXPECT_EQ(of(1, start + 5s, work).state, State::idle);
  EXPECT_EQ(of(0, start + 6s).state, State::idle);
}

TEST_F(EngineRowsTest, AnEngineThatSaysThatARequestRunsIsBusy) {
  EngineMeasures measures;
  measures.msg_id = "of a console";
  rows.measured(ann, measures, start + 1s);
  EXPECT_EQ(of(0, start + 1s).state, State::busy);
  rows.measured(ann, {}, start + 4s);
  EXPECT_EQ(of(0, start + 4s).state, State::idle);
}

TEST_F(EngineRowsTest, AnEngineIsSilentUntilItIsHeardAgain) {
  rows.heard(ann, true);
  rows.heard(EngineUuid{"unknown"}, true);
  EXPECT_EQ(of(0, start + 1s).state, State::silent);
  rows.heard(ann, false);
  EXPECT_EQ(of(0, start + 2s).state, State::idle);
}

TEST_F(EngineRowsTest, AnEngineIsDrainedUntilItIsNotOrJoinsAnew) {
  rows.drained(ann, true);
  rows.drained(EngineUuid{"unknown"}, true);
  EXPECT_TRUE(of(0, start).is_drained);
  rows.drained(ann, false);
  EXPECT_FALSE(of(0, start).is_drained);
  rows.drained(ann, true);
  rows.joined(ann, EngineId{0}, on_host("node1"), "cpp", start);
  EXPECT_FALSE(of(0, start).is_drained);
}

TEST_F(EngineRowsTest, TheUseOfCoresIsThatBetweenTwoMessages) {
  rows.measured(ann, with_cpu(10), start + 3s);
  EXPECT_EQ(of(0, start + 3s).cpu_share, 0);
  rows.measured(ann, with_cpu(16), start + 6s);
  EXPECT_DOUBLE_EQ(of(0, start + 7s).cpu_share, 2);
  EXPECT_EQ(of(0, start + 7s).measured_ago, 1);
  rows.measured(ann, with_cpu(1), start + 9s);  // a clock that goes back
  EXPECT_EQ(of(0, start + 9s).cpu_share, 0);
}

TEST_F(EngineRowsTest, AnEngineMayDescribeItselfFurther) {
  EngineFacts more;
  more.mpi = "Open MPI v4.1.4";
  rows.described(ann, more);
  EXPECT_EQ(of(0, start).mpi_library, "Open MPI v4.1.4");
  EXPECT_EQ(of(0, start).host, "node1");
}

TEST_F(EngineRowsTest, TheLatestErrorOfAnEngineStays) {
  rows.failed(bob, "ValueError: a");
  rows.failed(bob, "KeyError: b");
  EXPECT_EQ(of(1, start).failed_total, 2u);
  EXPECT_EQ(of(1, start).last_error, "KeyError: b");
}

TEST_F(EngineRowsTest, AnEngineThatLeftIsForgotten) {
  rows.left(ann);
  rows.left(ann);
  rows.measured(ann, {}, start);
  EXPECT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows.look(start, no_load).size(), 1u);
}

TEST_F(EngineRowsTest, ASecondEngineOfAnIdKeepsItWhenTheFirstLeaves) {
  const EngineUuid cy{"cy"};
  rows.joined(cy, EngineId{0}, on_host("node3"), "python", start);
  rows.left(ann);
  EXPECT_EQ(of(0, start).host, "node3");
}

TEST_F(EngineRowsTest, TheHostsAddUpTheirEngines) {
  rows.joined(EngineUuid{"cy"}, EngineId{2}, on_host("node1"), "python", start);
  EngineMeasures old = with_cpu(1), fresh = with_cpu(1);
  old.process.memory = fresh.process.memory = 1000;
  old.host = {100, 50, 4, 1.0};
  fresh.host = {100, 60, 4, 2.0};
  rows.measured(EngineUuid{"cy"}, fresh, start + 2s);
  rows.measured(ann, old, start + 1s);
  const auto hosts = hosts_of(rows.look(start + 3s, no_load));
  ASSERT_EQ(hosts.size(), 2u);
  EXPECT_EQ(hosts[0].name, "node1");
  EXPECT_EQ(hosts[0].engines, 2u);
  EXPECT_EQ(hosts[0].engine_memory, 2000u);
  EXPECT_EQ(hosts[0].measures.free_memory, 60u);
  EXPECT_EQ(hosts[1].name, "node2");
  EXPECT_EQ(hosts[1].measures, HostMeasures{});
}

}  // namespace
}  // namespace px::controller
