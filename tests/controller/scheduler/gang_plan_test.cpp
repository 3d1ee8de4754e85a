#include "controller/scheduler/gang_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace px::controller {
namespace {

using namespace std::chrono_literals;
using GangTexts = std::vector<std::string>;

Instant gang_time(Duration since_start) {
  return Instant{} + 1h + since_start;
}

/// Engines with a clock that the test sets, and the decisions as text: "7>0,1" (task 7 starts on
/// these), "7:0,1" (these are promised to task 7).
class GangFloor {
 public:
  explicit GangFloor(Duration patience = 0s) : plan_(patience) {}

  /// `count` engines of a world on a host; their keys go on from the last one.
  void add(int count, int world = 0, int host = 0) {
    for (int i = 0; i < count; ++i) {
      const auto key = static_cast<WorkerKey>(engines_.size());
      engines_.push_back({key, world, static_cast<int>(key), host, true});
    }
  }
  void clock(Duration since_start) { now_ = gang_time(since_start); }
  /// A task of so many ranks comes.
  void came(std::uint64_t order, std::size_t ranks) { came(order, ranks, ranks); }
  void came(std::uint64_t order, std::size_t least, std::size_t most) {
    waiting_.push_back({order, now_, least, most});
  }
  WaitingTask& last() { return waiting_.back(); }
  void cancel(std::uint64_t order) {
    std::erase_if(waiting_, [&](const WaitingTask& task) { return task.order == order; });
  }
  void busy(WorkerKey worker) { engines_.at(worker).is_free = false; }
  void leave(WorkerKey worker) {
    std::erase_if(engines_, [&](const GangEngine& engine) { return engine.worker == worker; });
  }
  /// The task ends: its engines are free.
  void ended(std::uint64_t order) {
    for (const WorkerKey worker : running_.at(order)) free(worker);
    running_.erase(order);
  }
  void free(WorkerKey worker) {
    for (GangEngine& engine : engines_)
      if (engine.worker == worker) engine.is_free = true;
  }

  GangTexts decide() {
    const GangDecision decision = plan_.decide(engines_, waiting_);
    GangTexts texts;
    for (const GangStart& start : decision.starts) {
      texts.push_back(std::to_string(start.order) + ">" + list(start.workers));
      for (const WorkerKey worker : start.workers) {
        EXPECT_TRUE(engines_.at(worker).is_free) << "engine " << worker << " has two tasks";
        busy(worker);
      }
      cancel(start.order);
      running_[start.order] = start.workers;
    }
    if (decision.promise)
      texts.push_back(std::to_string(decision.promise->order) + ":" +
                      list(decision.promise->workers));
    return texts;
  }

 private:
  static std::string list(const std::vector<WorkerKey>& workers) {
    std::string text;
    for (const WorkerKey worker : workers)
      text += (text.empty() ? "" : ",") + std::to_string(worker);
    return text;
  }

  GangPlan plan_;
  Instant now_ = gang_time(0s);
  std::vector<GangEngine> engines_;
  std::vector<WaitingTask> waiting_;
  std::map<std::uint64_t, std::vector<WorkerKey>> running_;
};

TEST(GangPlan, AGangStartsOnFreeEnginesOfOneWorldByRank) {
  GangFloor floor;
  floor.add(2, 0);
  floor.add(3, 1);
  floor.came(1, 3);
  EXPECT_EQ(floor.decide(), (GangTexts{"1>2,3,4"}));
}

TEST(GangPlan, EnginesOfTwoWorldsAreNoGang) {
  GangFloor floor;
  floor.add(2, 0);
  floor.add(2, 1);
  floor.came(1, 3);
  EXPECT_EQ(floor.decide(), GangTexts{});
}

TEST(GangPlan, EnginesWithoutAWorldRunOneRankOnly) {
  GangFloor floor;
  floor.add(2, GangEngine::no_world);
  floor.came(1, 2);
  floor.came(2, 1);
  EXPECT_EQ(floor.decide(), (GangTexts{"2>0"}));
}

TEST(GangPlan, OneRankLeavesWorldsToGangs) {
  GangFloor floor;
  floor.add(2, 0);
  floor.add(1, GangEngine::no_world);
  floor.came(1, 1);
  EXPECT_EQ(floor.decide(), (GangTexts{"1>2"}));
}

TEST(GangPlan, AGangIsOnOneHostIfOneHasRoom) {
  GangFloor floor;
  floor.add(3, 0, 0);
  floor.add(2, 0, 1);
  floor.busy(0);
  floor.busy(1);
  floor.came(1, 2);
  EXPECT_EQ(floor.decide(), (GangTexts{"1>3,4"}));
}

TEST(GangPlan, TheSmallestHostThatSufficesIsUsed) {
  GangFloor floor;
  floor.add(4, 0, 0);
  floor.add(2, 0, 1);
  floor.came(1, 2);
  EXPECT_EQ(floor.decide(), (GangTexts{"1>4,5"}));
}

TEST(GangPlan, ALargerGangThanAnyHostHasSpansAsFewHostsAsPossible) {
  GangFloor floor;
  for (int host = 0; host < 3; ++host) floor.add(host + 1, 0, host);
  floor.came(1, 4);
  EXPECT_EQ(floor.decide(), (GangTexts{"1>0,3,4,5"}));
}

TEST(GangPlan, TargetsAreKept) {
  GangFloor floor;
  floor.add(4);
  floor.came(1, 2);
  floor.last().restriction = {true, {1, 3}};
  floor.came(2, 1);
  floor.last().restriction = {false, {0}};
  EXPECT_EQ(floor.decide(), (GangTexts{"1>1,3", "2>2"}));
}

TEST(GangPlan, OfTasksThatCameTogetherTheLargestStartsFirst) {
  GangFloor floor{1s};
  floor.add(4);
  floor.came(1, 1);
  floor.came(2, 2);
  floor.clock(1s);
  floor.came(3, 2);
  floor.came(4, 3);
  EXPECT_EQ(floor.decide(), (GangTexts{"4>0,1,2", "1>3", "2:0,1"}));
}

TEST(GangPlan, ATaskThatCameMuchLaterDoesNotPass) {
  GangFloor floor{1s};
  floor.add(2);
  floor.busy(0);
  floor.came(1, 2);
  floor.clock(1001ms);
  floor.came(2, 1);
  EXPECT_EQ(floor.decide(), (GangTexts{"1:0,1"}));
  floor.free(0);
  EXPECT_EQ(floor.decide(), (GangTexts{"1>0,1", "2:0"}));
}

TEST(GangPlan, ATaskThatCameSoonAfterwardsMayPass) {
  GangFloor floor{1s};
  floor.add(2);
  floor.busy(0);
  floor.came(1, 2);
  floor.clock(1s);
  floor.came(2, 1);
  EXPECT_EQ(floor.decide(), (GangTexts{"2>1", "1:0,1"}));
}

TEST(GangPlan, LaterTasksRunOnEnginesThatAreNotPromised) {
  GangFloor floor;
  floor.add(4);
  floor.busy(0);
  floor.busy(1);
  floor.busy(2);
  floor.came(1, 2);
  floor.clock(1s);
  floor.came(2, 1);
  floor.came(3, 1);
  EXPECT_EQ(floor.decide(), (GangTexts{"1:0,3"}));
  floor.free(2);
  EXPECT_EQ(floor.decide(), (GangTexts{"1>2,3", "2:0"}));
}

TEST(GangPlan, APromiseIsKeptUntilItsTaskStarts) {
  GangFloor floor;
  floor.add(4);
  for (WorkerKey worker = 0; worker < 3; ++worker) floor.busy(worker);
  floor.came(1, 3);
  EXPECT_EQ(floor.decide(), (GangTexts{"1:0,1,3"}));
  floor.free(1);
  floor.clock(1s);
  floor.came(2, 1);
  EXPECT_EQ(floor.decide(), (GangTexts{"1:0,1,3"}));
  floor.free(0);
  EXPECT_EQ(floor.decide(), (GangTexts{"1>0,1,3", "2:0"}));
}

TEST(GangPlan, APromiseIsMadeAnewWhenOneOfItsEnginesLeaves) {
  GangFloor floor;
  floor.add(3);
  floor.busy(0);
  floor.busy(1);
  floor.came(1, 2);
  EXPECT_EQ(floor.decide(), (GangTexts{"1:0,2"}));
  floor.leave(0);
  EXPECT_EQ(floor.decide(), (GangTexts{"1:1,2"}));
}

TEST(GangPlan, APromiseEndsWithItsTask) {
  GangFloor floor;
  floor.add(2);
  floor.busy(0);
  floor.came(1, 2);
  EXPECT_EQ(floor.decide(), (GangTexts{"1:0,1"}));
  floor.cancel(1);
  floor.clock(1s);
  floor.came(2, 1);
  EXPECT_EQ(floor.decide(), (GangTexts{"2>1"}));
}

TEST(GangPlan, FreeEnginesArePromisedFirst) {
  GangFloor floor;
  floor.add(4);
  floor.busy(0);
  floor.busy(1);
  floor.busy(3);
  floor.came(1, 2);
  EXPECT_EQ(floor.decide(), (GangTexts{"1:0,2"}));
}

TEST(GangPlan, PromisedEnginesAreOfOneHostIfOneHasAsMany) {
  GangFloor floor;
  floor.add(2, 0, 0);
  floor.add(2, 0, 1);
  floor.busy(0);
  floor.busy(2);
  floor.busy(3);
  floor.came(1, 2);
  EXPECT_EQ(floor.decide(), (GangTexts{"1:0,1"}));
}

TEST(GangPlan, ATaskThatNoWorldHasRoomForHoldsNobodyUp) {
  GangFloor floor;
  floor.add(2);
  floor.came(1, 3);
  floor.clock(1s);
  floor.came(2, 1);
  EXPECT_EQ(floor.decide(), (GangTexts{"2>0"}));
  floor.add(1);
  floor.ended(2);
  EXPECT_EQ(floor.decide(), (GangTexts{"1>0,1,2"}));
}

TEST(GangPlan, ATaskOfSeveralSizesGetsWhatNobodyElseCanUse) {
  GangFloor floor;
  floor.add(4);
  floor.came(1, 1, 8);
  floor.came(2, 1);
  EXPECT_EQ(floor.decide(), (GangTexts{"1>0,2,3", "2>1"}));
}

TEST(GangPlan, ATaskOfSeveralSizesGetsNoMoreThanItWants) {
  GangFloor floor;
  floor.add(4);
  floor.came(1, 2, 3);
  EXPECT_EQ(floor.decide(), (GangTexts{"1>0,1,2"}));
}

TEST(GangPlan, ATaskOfSeveralSizesLeavesPromisedEnginesAlone) {
  GangFloor floor{1s};
  floor.add(4);
  floor.busy(0);
  floor.came(1, 4);
  floor.came(2, 2, 4);
  EXPECT_EQ(floor.decide(), (GangTexts{"2>1,2", "1:0,1,2,3"}));
}

// ---------------------------------------------------------------- many tasks

struct GangJob {
  std::size_t ranks;
  Duration length;
  Duration since{};
};

struct GangRun {
  Duration makespan{};
  std::vector<Duration> began;  ///< Of each job.
};

/// Runs the jobs on engines of one world and one host.
GangRun run_gangs(const std::vector<GangJob>& jobs, std::size_t engine_count, Duration patience) {
  GangPlan plan{patience};
  std::vector<GangEngine> engines;
  for (std::size_t i = 0; i < engine_count; ++i)
    engines.push_back({static_cast<WorkerKey>(i), 0, static_cast<int>(i), 0, true});
  GangRun run;
  run.began.resize(jobs.size(), -1s);
  std::vector<WaitingTask> waiting;
  std::multimap<Duration, std::vector<WorkerKey>> ends;
  std::size_t next = 0;
  while (next < jobs.size() || !waiting.empty() || !ends.empty()) {
    Duration now = ends.empty() ? jobs.at(next).since : ends.begin()->first;
    if (next < jobs.size()) now = std::min(now, jobs[next].since);
    for (; next < jobs.size() && jobs[next].since <= now; ++next)
      waiting.push_back({next, gang_time(jobs[next].since), jobs[next].ranks, jobs[next].ranks});
    for (; !ends.empty() && ends.begin()->first <= now; ends.erase(ends.begin()))
      for (const WorkerKey worker : ends.begin()->second) engines[worker].is_free = true;
    for (const GangStart& start : plan.decide(engines, waiting).starts) {
      const GangJob& job = jobs[start.order];
      EXPECT_EQ(start.workers.size(), job.ranks);
      for (const WorkerKey worker : start.workers) {
        EXPECT_TRUE(engines[worker].is_free);
        engines[worker].is_free = false;
      }
      run.began[start.order] = now;
      run.makespan = std::max(run.makespan, now + job.length);
      ends.emplace(now + job.length, start.workers);
      std::erase_if(waiting, [&](const WaitingTask& task) { return task.order == start.order; });
    }
    if (ends.empty() && next == jobs.size() && !waiting.empty()) {
      ADD_FAILURE() << waiting.size() << " tasks never start";
      break;
    }
  }
  return run;
}

/// 1 to 10 s long, of 1, 2 or 4 ranks.
std::vector<GangJob> mixed_jobs(std::size_t count, unsigned seed, Duration between) {
  std::mt19937 random{seed};
  std::vector<GangJob> jobs;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t ranks = std::size_t{1} << random() % 3;
    jobs.push_back({ranks, 1s + std::chrono::milliseconds(random() % 9000), between * i});
  }
  return jobs;
}

/// What a packing without a gap would take.
Duration perfect_makespan(const std::vector<GangJob>& jobs, std::size_t engine_count) {
  Duration work{};
  for (const GangJob& job : jobs) work += job.length * job.ranks;
  return work / engine_count;
}

TEST(GangPlan, AThousandMixedTasksArePackedNearlyPerfectly) {
  for (unsigned seed = 0; seed < 5; ++seed) {
    const std::vector<GangJob> jobs = mixed_jobs(1000, seed, 0s);
    const GangRun run = run_gangs(jobs, 8, 10s);
    EXPECT_GE(perfect_makespan(jobs, 8) / 1.0s, 0.95 * (run.makespan / 1.0s)) << "seed " << seed;
  }
}

TEST(GangPlan, TasksThatComeFasterThanTheyRunAreStillPackedWell) {
  for (unsigned seed = 0; seed < 5; ++seed) {
    // Some 13 s of engine time each: 8 engines need 1.6 s.
    const std::vector<GangJob> jobs = mixed_jobs(1000, seed, 1400ms);
    const GangRun run = run_gangs(jobs, 8, 20s);
    EXPECT_GE(perfect_makespan(jobs, 8) / 1.0s, 0.85 * (run.makespan / 1.0s)) << "seed " << seed;
  }
}

TEST(GangPlan, AGangDoesNotStarveBehindAStreamOfSmallTasks) {
  std::vector<GangJob> jobs;
  for (std::size_t i = 0; i < 1000; ++i) jobs.push_back({1, 10s, 1300ms * i});  // nearly all busy
  jobs.insert(jobs.begin() + 100, GangJob{8, 10s, jobs[100].since});
  const Duration patience = 20s, longest = 10s;
  const GangRun run = run_gangs(jobs, 8, patience);
  EXPECT_LE(run.began[100] - jobs[100].since, patience + 2 * longest);
}

TEST(GangPlan, ASmallTaskDoesNotStarveBehindAStreamOfGangs) {
  std::vector<GangJob> jobs;
  for (std::size_t i = 0; i < 300; ++i) jobs.push_back({8, 10s, 10s * i});
  jobs.insert(jobs.begin() + 100, GangJob{1, 10s, jobs[100].since});
  const Duration patience = 20s, longest = 10s;
  const GangRun run = run_gangs(jobs, 8, patience);
  EXPECT_LE(run.began[100] - jobs[100].since, patience + 2 * longest);
}

TEST(GangPlan, ATaskWaitsOnlyForWhatCameBeforeItsPatienceWasOver) {
  const Duration patience = 5s, longest = 10s;
  for (unsigned seed = 0; seed < 20; ++seed) {
    const std::vector<GangJob> jobs = mixed_jobs(200, seed, 1800ms);
    const GangRun run = run_gangs(jobs, 8, patience);
    for (std::size_t each = 0; each < jobs.size(); ++each) {
      // As if they ran one after the other, each behind a task on engines that were promised to it.
      Duration bound = patience + longest;
      for (std::size_t other = 0; other < jobs.size(); ++other) {
        const Duration end = run.began[other] + jobs[other].length;
        if (other != each && jobs[other].since <= jobs[each].since + patience &&
            end > jobs[each].since)
          bound += jobs[other].length + longest;
      }
      EXPECT_LE(run.began[each] - jobs[each].since, bound) << "seed " << seed << ", task " << each;
    }
  }
}

}  // namespace
}  // namespace px::controller
