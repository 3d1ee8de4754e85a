// Random tasks of one and several ranks on engines that fail, leave, fall silent and come back:
// each task ends once, and none is forgotten.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/controller/task_queue_fixture.hpp"

namespace px::controller {
namespace {

class RandomGangs {
 public:
  explicit RandomGangs(unsigned seed) : random_(seed), queue_(wanted(), [] { return 0.5; }) {}

  void run() {
    for (int i = 0; i < 6; ++i) join();
    for (int step = 0; step < 120; ++step) {
      now_ += std::chrono::milliseconds(pick(400));
      switch (pick(12)) {
        case 0:
        case 1:
        case 2:
          submit();
          break;
        case 3:
          leave();
          break;
        case 4:
          join();
          break;
        case 5:
          silent();
          break;
        case 6:
          drained();
          break;
        default:
          answer(pick(6) == 0);
      }
      perform(queue_.on_time(now_));
    }
    finish();
  }

 private:
  struct Engine {
    std::string world;
    std::vector<std::string> tasks = {};  // in the order in which it got them
    bool is_silent = false, is_drained = false;
    bool was_silent = false;  // it may still run a task that others have got since
  };
  struct Wanted {
    RankCount ranks;
    int ended = 0;
  };

  TaskQueueOptions wanted() {
    TaskQueueOptions options;
    options.hwm = 1 + pick(2);
    options.ahead = pick(2) * 3;
    return options;
  }
  std::size_t pick(std::size_t count) { return random_() % count; }

  void join() {
    const std::string name = "e" + std::to_string(joined_++);
    const bool is_alone = pick(5) == 0;
    const std::string world = is_alone ? "" : "w" + std::to_string(joined_ / 6);
    if (!is_alone)
      queue_.engine_placed(EngineUuid{name}, {world, joined_, "h" + std::to_string(pick(2))});
    engines_.emplace(name, Engine{world});
    perform(queue_.engine_joined(EngineUuid{name}, now_, true));
  }
  std::map<std::string, Engine>::iterator any() {
    return std::next(engines_.begin(), static_cast<std::ptrdiff_t>(pick(engines_.size())));
  }
  void leave() {
    if (engines_.size() < 3) return;
    const auto engine = any();
    const std::string name = engine->first;
    engines_.erase(engine);
    EngineEnd end;
    end.is_dead = pick(2) == 0;
    perform(queue_.engine_left(EngineUuid{name}, now_, end));
  }
  void silent() {
    const auto engine = any();
    engine->second.is_silent = !engine->second.is_silent;
    engine->second.was_silent = true;
    perform(engine->second.is_silent ? queue_.engine_silent(EngineUuid{engine->first}, now_)
                                     : queue_.engine_returned(EngineUuid{engine->first}, now_));
  }
  void drained() {
    const auto engine = any();
    engine->second.is_drained = !engine->second.is_drained;
    perform(queue_.engine_drained(EngineUuid{engine->first}, engine->second.is_drained, now_));
  }
  void submit() {
    const std::string id = "t" + std::to_string(tasks_.size());
    TaskRules rules;
    const std::size_t least = 1 + (pick(2) == 0 ? 0 : pick(4));
    rules.ranks = {least, least + (pick(4) == 0 ? pick(3) : 0)};
    rules.retries = static_cast<int>(pick(3));
    if (pick(5) == 0) rules.timeout = 3s;
    tasks_.emplace(id, Wanted{rules.ranks});
    auto frames = std::make_shared<TextFrames>(std::vector<std::string>{"client", "<IDS|MSG>"});
    perform(queue_.submit({MessageId{id}, frames, 1, rules, {}, nullptr, false}, now_));
  }
  /// An engine ends the first of its tasks.
  void answer(bool fails) {
    const auto engine = any();
    if (engine->second.tasks.empty()) return;
    const std::string id = engine->second.tasks.front();
    engine->second.tasks.erase(engine->second.tasks.begin());
    const TaskOutcome outcome = !fails         ? TaskOutcome::ok
                                : pick(4) == 0 ? TaskOutcome::unmet
                                               : TaskOutcome::failed;
    perform(queue_.reply(engine->first, id, outcome, std::make_shared<TextFrames>(), now_,
                         repetitions_[{engine->first, id}]));
  }
  /// All engines are well and answer.
  void finish() {
    for (int i = 0; i < 3; ++i) join();
    for (auto& [name, engine] : engines_) {
      if (engine.is_silent) perform(queue_.engine_returned(EngineUuid{name}, now_));
      if (engine.is_drained) perform(queue_.engine_drained(EngineUuid{name}, false, now_));
    }
    for (int step = 0; step < 4000 && queue_.size() > 0; ++step) {
      now_ += 100ms;
      answer(false);
      perform(queue_.on_time(now_));
    }
    EXPECT_EQ(queue_.size(), 0u);
    for (const auto& [id, task] : tasks_) EXPECT_EQ(task.ended, 1) << id;
  }

  void perform(TaskEffects effects) {
    for (const TaskEffect& effect : effects) {
      if (const auto* assigned = std::get_if<AssignTask>(&effect)) assign(*assigned);
      if (const auto* reply = std::get_if<DeliverReply>(&effect))
        ++tasks_.at(reply->msg_id.text).ended;
      if (const auto* failed = std::get_if<FailTask>(&effect))
        ++tasks_.at(failed->msg_id.text).ended;
      if (const auto* recalled = std::get_if<RecallTask>(&effect)) recalls_.push_back(*recalled);
    }
    while (!recalls_.empty()) give_back();
  }
  void give_back() {
    const RecallTask recalled = recalls_.back();
    recalls_.pop_back();
    const auto engine = engines_.find(recalled.engine.text);
    if (engine == engines_.end() || pick(3) == 0) return;
    auto& tasks = engine->second.tasks;
    const auto task = std::find(tasks.begin(), tasks.end(), recalled.msg_id.text);
    if (task == tasks.end() || task == tasks.begin()) return;  // it has begun
    tasks.erase(task);
    perform(
        queue_.given_back(recalled.engine.text, recalled.msg_id.text, recalled.repetition, now_));
  }
  void assign(const AssignTask& assigned) {
    Engine& engine = engines_.at(assigned.engine.text);
    const Wanted& task = tasks_.at(assigned.msg_id.text);
    EXPECT_EQ(task.ended, 0) << assigned.msg_id.text;
    EXPECT_EQ(assigned.gang != nullptr, task.ranks.most > 1);
    if (assigned.gang) {
      EXPECT_TRUE(engine.tasks.empty() || engine.was_silent) << "a rank waits behind another task";
      EXPECT_EQ(engine.world, engines_.at(assigned.gang->engines.front().text).world);
      EXPECT_NE(engine.world, "");
      EXPECT_GE(assigned.gang->engines.size(), task.ranks.least);
      EXPECT_LE(assigned.gang->engines.size(), task.ranks.most);
      const std::set<int> ranks(assigned.gang->communicator.ranks.begin(),
                                assigned.gang->communicator.ranks.end());
      EXPECT_EQ(ranks.size(), assigned.gang->engines.size());
    }
    engine.tasks.push_back(assigned.msg_id.text);
    repetitions_[{assigned.engine.text, assigned.msg_id.text}] = assigned.repetition;
  }

  std::mt19937 random_;
  Instant now_ = at(0s);
  TaskQueue queue_;
  int joined_ = 0;
  std::map<std::string, Engine> engines_;
  std::map<std::string, Wanted> tasks_;
  std::map<std::pair<std::string, std::string>, int> repetitions_;  // by engine and task
  std::vector<RecallTask> recalls_;
};

TEST(RandomGangs, EachTaskEndsOnceWhateverHappensToItsEngines) {
  for (unsigned seed = 0; seed < 200 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomGangs{seed}.run();
  }
}

}  // namespace
}  // namespace px::controller
