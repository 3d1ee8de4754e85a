#include "controller/sight/sight.hpp"

#include <gtest/gtest.h>

#include "controller/sight/snapshot_json.hpp"

namespace px::controller {
namespace {

using namespace std::chrono_literals;

constexpr Instant start{};
constexpr WallTime noon{std::chrono::seconds(1'000'000)};
const EngineUuid ann{"ann"};

EngineLoad two_of_each(const EngineUuid&) {
  return {.tasks = 2, .direct = 2, .finished = 5};
}

class SightTest : public testing::Test {
 protected:
  SightTest() {
    EngineFacts facts;
    facts.host = "node1";
    sight.joined(ann, EngineId{0}, facts, "python", start);
  }
  std::shared_ptr<const Snapshot> look(Duration at) {
    return sight.look(7, two_of_each, {}, start + at, noon);
  }
  double cpu = 0;
  Sight sight{{.version = "1.2", .host = "login", .pid = 17, .started = noon, .measure = [this] {
                 return ProcessMeasures{1000, cpu, 7, 90};
               }}};
};

TEST_F(SightTest, ASnapshotIsDueAtOnceAndThenOnceASecond) {
  EXPECT_LE(sight.next_deadline(), start);
  look(5s);
  EXPECT_EQ(sight.next_deadline(), start + 6s);
}

TEST_F(SightTest, ASnapshotSaysWhatTheControllerIsAndTakes) {
  look(0s);
  cpu = 0.5;
  const auto seen = look(2s);
  EXPECT_EQ(seen->number, 2u);
  EXPECT_EQ(seen->controller.version, "1.2");
  EXPECT_EQ(seen->controller.pid, 17);
  EXPECT_EQ(seen->controller.process.descriptors, 90u);
  EXPECT_DOUBLE_EQ(seen->controller.cpu_share, 0.25);
}

TEST_F(SightTest, WorkIsWhatTheQueueAndTheEnginesHave) {
  sight.joined(EngineUuid{"bob"}, EngineId{1}, {}, "python", start);
  const auto seen = look(1s);
  EXPECT_EQ(seen->work.queued, 7u);
  EXPECT_EQ(seen->work.running, 4u);
  EXPECT_EQ(seen->work.direct, 4u);
  EXPECT_EQ(seen->engine_count, 2u);
  EXPECT_EQ(seen->hosts.size(), 2u);
}

TEST_F(SightTest, AnEngineThatLeftIsNotShown) {
  sight.left(ann);
  sight.left(ann);
  EXPECT_TRUE(look(1s)->engines.empty());
}

TEST_F(SightTest, DurationsOfAllEnginesAreAddedUp) {
  EngineMeasures measures;
  measures.durations.add(1s);
  sight.measured(ann, measures, start);
  sight.measured(ann, measures, start + 3s);
  sight.measured(EngineUuid{"unknown"}, measures, start);
  const auto seen = look(4s);
  EXPECT_EQ(seen->durations_total.count(), 2u);
  EXPECT_TRUE(seen->engines[0].measures.durations.is_empty());
  EXPECT_EQ(seen->engines[0].measured_ago, 1);
}

TEST_F(SightTest, AFailedCellIsSeenAtItsEngineAndAmongTheCells) {
  sight.submitted({.msg_id = MessageId{"1"},
                   .session = "client",
                   .kind = "execute",
                   .source = "1/0",
                   .engine = ann},
                  start, noon);
  sight.printed(MessageId{"1"}, "so far\n");
  sight.finished({.msg_id = MessageId{"1"},
                  .engine = ann,
                  .status = "error",
                  .error = "ZeroDivisionError: division by zero"},
                 start + 1s, noon + 1s);
  const auto seen = look(2s);
  EXPECT_EQ(seen->engines[0].last_error, "ZeroDivisionError: division by zero");
  EXPECT_EQ(seen->engines[0].failed_total, 1u);
  EXPECT_EQ(seen->cells.at(0).parts.at(0).output, "so far\n");
  EXPECT_EQ(seen->finished.at(0).engine, EngineId{0});
  EXPECT_FALSE(seen->finished.at(0).is_ok);
}

TEST_F(SightTest, TheJsonOfASnapshotLeavesOutWhatIsNothing) {
  sight.submitted({.msg_id = MessageId{"1"}, .session = "client", .kind = "task"}, start, noon);
  sight.finished({.msg_id = MessageId{"1"}, .engine = ann, .status = "ok"}, start, noon);
  sight.counted(3, 4);
  const std::vector<EventView> events{
      {.time = 5, .kind = "joined", .engine = EngineId{0}, .host = "node1", .text = "it joined"},
      {.time = 6, .kind = "started", .text = "the controller has started", .number = 2}};
  const Json json = snapshot_as_json(*sight.look(7, two_of_each, events, start + 1s, noon));
  EXPECT_EQ(json["engine_count"], 1);
  EXPECT_EQ(json["engines"][0]["id"], 0);
  EXPECT_EQ(json["engines"][0]["state"], "busy");
  EXPECT_FALSE(json["engines"][0].contains("rank"));
  EXPECT_FALSE(json["engines"][0].contains("last_error"));
  EXPECT_EQ(json["controller"]["bad_messages_total"], 3);
  EXPECT_EQ(json["controller"]["lost_records_total"], 4);
  EXPECT_EQ(json["finished"][0]["is_ok"], true);
  EXPECT_EQ(json["finished"][0]["engine"], 0);
  EXPECT_EQ(json["durations_total"]["count"], 0);
  EXPECT_EQ(json["work"]["queued"], 7);
  EXPECT_EQ(json["events"][0]["host"], "node1");
  EXPECT_EQ(json["events"][0]["engine"], 0);
  EXPECT_FALSE(json["events"][1].contains("engine"));
  EXPECT_EQ(json["events"][1]["number"], 2);
}

}  // namespace
}  // namespace px::controller
