// The functions of TaskQueue for tasks of several ranks.

#include <algorithm>
#include <iterator>
#include <utility>

#include "controller/scheduler/task_queue_parts.hpp"

namespace px::controller {

// ---------------------------------------------------------------- waiting

/// Whether the rules are those of a task of one rank, or are possible for several; else it has
/// ended.
bool TaskQueue::has_possible_ranks(Task& task, const TaskRules& rules) {
  if (rules.ranks.most == 1 || (rules.follow.empty() && !task.is_cell)) return true;
  fail(task, "ImpossibleDependency",
       task.is_cell ? "a cell cannot have several ranks: send a function"
                    : "a task of several ranks cannot have `follow`: use `after`, or `targets`");
  return false;
}

void TaskQueue::settle_gang(Task& task) {
  Rules& rules = *task.rules;
  if (rules.after.is_unreachable())
    return fail(task, "ImpossibleDependency", rules.after.why_unreachable("after"));
  if (!rules.after.is_met()) return park(task, Place::parked);
  Restriction restriction;
  const TaskVerdict verdict = find_restriction(task, restriction);
  if (verdict != TaskVerdict::restricted)
    return fail(task, "ImpossibleDependency", why_impossible(verdict));
  const std::size_t least = rules.gang->ranks.least;
  // Without engines it waits for them, as others do.
  const std::size_t largest = workers_.empty() ? least : largest_gang(restriction);
  if (largest < least) return fail(task, "ImpossibleDependency", why_too_few_ranks(least, largest));
  compact(task);
  start_timer(task);
  rules.gang->restriction = restriction;
  waiting_gangs_[{least, std::move(restriction)}].emplace(task.order, &task);
  task.place = Place::ready;
  plans_gangs_ = true;
}

void TaskQueue::leave_gangs(const Task& task) {
  const auto group =
      waiting_gangs_.find(GangGroup{task.gang()->ranks.least, task.gang()->restriction});
  group->second.erase(task.order);
  if (group->second.empty()) waiting_gangs_.erase(group);
}

/// By key.
/// with_unavailable  also those that get no tasks at present.
std::vector<GangEngine> TaskQueue::gang_engines(bool with_unavailable) const {
  std::vector<GangEngine> engines;
  for (const auto& [key, worker] : worker_by_key_) {
    if (!(with_unavailable ? workers_.is_live(key) : workers_.gets_tasks(key))) continue;
    GangEngine engine{key};
    if (const auto place = places_.find(worker->uuid)) {
      engine.world = place->world;
      engine.rank = place->rank;
      engine.host = place->host;
    }
    engine.is_free = given_.of(key).empty();
    engines.push_back(engine);
  }
  std::sort(engines.begin(), engines.end(),
            [](const GangEngine& a, const GangEngine& b) { return a.worker < b.worker; });
  return engines;
}

/// The most ranks that a task with this restriction may have.
std::size_t TaskQueue::largest_gang(const Restriction& restriction) const {
  std::map<int, std::size_t> by_world;
  std::size_t largest = 0;
  for (const GangEngine& engine : gang_engines(true))
    if (engine.world != GangEngine::no_world && restriction.allows(engine.worker))
      largest = std::max(largest, ++by_world[engine.world]);
  return largest;
}

/// In the order in which they came.
/// of_each  so many of those that need the same engines.
std::vector<WaitingTask> TaskQueue::waiting_tasks(
    std::size_t of_each, std::unordered_map<std::uint64_t, Task*>& by_order) const {
  std::vector<WaitingTask> waiting;
  const auto add = [&](const Ready& ready, const Restriction& restriction) {
    std::size_t left = of_each;
    for (auto each = ready.begin(); each != ready.end() && left > 0; ++each, --left) {
      const auto& [order, task] = *each;
      const RankCount ranks = task->gang() ? task->gang()->ranks : RankCount{};
      by_order.emplace(order, task);
      waiting.push_back({order, task->since, ranks.least, ranks.most, restriction});
    }
  };
  for (const auto& [restriction, group] : groups_) add(group->ready, restriction);
  for (const auto& [group, ready] : waiting_gangs_) {
    if (group.least > 1) {
      add(ready, group.restriction);
      continue;
    }
    Restriction in_worlds{true, {}};
    for (const GangEngine& engine : gang_engines(true))
      if (engine.world != GangEngine::no_world && group.restriction.allows(engine.worker))
        in_worlds.workers.push_back(engine.worker);
    add(ready, in_worlds);
  }
  std::sort(waiting.begin(), waiting.end(),
            [](const WaitingTask& a, const WaitingTask& b) { return a.order < b.order; });
  return waiting;
}

// ---------------------------------------------------------------- starting

/// While a task of several ranks waits, this is how all tasks get engines.
void TaskQueue::start_gangs() {
  if (!waiting_gangs_.empty()) {
    const std::vector<GangEngine> engines = gang_engines(false);
    std::unordered_map<std::uint64_t, Task*> by_order;
    const auto free = std::count_if(engines.begin(), engines.end(),
                                    [](const GangEngine& engine) { return engine.is_free; });
    // No more can start now, and one more may get the promise.
    const auto waiting = waiting_tasks(static_cast<std::size_t>(free) + 1, by_order);
    const GangDecision decision = plan_.decide(engines, waiting);
    for (const GangStart& start : decision.starts) {
      Task& task = *by_order.at(start.order);
      unpark(task);
      if (task.gang())
        assign_gang(task, start.workers);
      else
        assign(task, start.workers.front());
    }
    if (decision.promise)
      for (const WorkerKey worker : decision.promise->workers)
        for (const GivenTasks::Ahead& ahead : given_.ahead_of(worker))
          if (!ahead.task.is_recalled) recall(ahead);
  }
  if (!waiting_gangs_.empty()) return;
  plans_gangs_ = false;
  for (const GangEngine& engine : gang_engines(false)) fill(engine.worker);
}

/// workers  by rank.
void TaskQueue::assign_gang(Task& task, const std::vector<WorkerKey>& workers) {
  Rules& rules = *task.rules;
  if (rules.timer) timers_.erase({*rules.timer, task.order});
  rules.timer.reset();
  if (!rules.seen_by.empty()) ++rules.repetitions;
  GangSeats seats;
  std::vector<int> ranks;
  for (const WorkerKey worker : workers) {
    const EngineUuid& uuid = worker_by_key_.at(worker)->uuid;
    seats.engines.push_back(uuid);
    ranks.push_back(places_.find(uuid)->rank);
  }
  seats.communicator = places_.communicator_of(workers, ranks, now_);
  seats.unneeded = places_.take_unneeded(workers);
  begin_gang(task, std::move(seats), workers);
}

/// To the engines that have it from an earlier controller: what it waited for has come about.
void TaskQueue::hand_back_gang(Task& task, const TaskRules& rules, const HeldGang& held) {
  TaskRules met = rules;
  met.after = {};
  watch_dependencies(task, met);
  task.rules->repetitions = held.repetition;
  std::vector<WorkerKey> members;
  EngineUuid missing;
  for (const EngineUuid& engine : held.seats.engines) {
    const auto found = key_by_uuid_.find(engine);
    const auto is_among = [&engine](const std::vector<EngineUuid>& engines) {
      return std::find(engines.begin(), engines.end(), engine) != engines.end();
    };
    // Otherwise it would begin its rank behind other tasks, and these may wait for engines that
    // run this task.
    const bool has_it =
        found != key_by_uuid_.end() &&
        (is_among(held.holders) || (!is_among(held.busy) && given_.of(found->second).empty()));
    if (!has_it) missing = engine;
    members.push_back(has_it ? found->second : ++last_key_);
  }
  Gang& gang = *task.rules->gang;
  if (!missing.empty()) {
    gang.lost = missing;
    gang.loss = "the controller was restarted while this task of several ranks ran, and engine '" +
                missing.text + "', which had one of the ranks, did not come back with it";
  }
  begin_gang(task, held.seats, members);
  for (const WorkerKey member : members)
    if (!worker_by_key_.contains(member)) gang.run->left(member, now_);
  after_gang_news(task);
}

/// members  by rank, as in the seats. A key that no engine has stands for one that is lost.
void TaskQueue::begin_gang(Task& task, GangSeats seats, std::vector<WorkerKey> members) {
  Rules& rules = *task.rules;
  rules.gang->seats = std::make_shared<const GangSeats>(std::move(seats));
  rules.gang->run.emplace(members, options_.gang_grace);
  task.place = Place::running;
  task.worker = members.front();
  for (const WorkerKey worker : members) {
    if (!worker_by_key_.contains(worker)) continue;
    insert_sorted(rules.seen_by, worker);
    workers_.assigned(worker);
    workers_.set_ahead(worker, 0);
    given_.given(worker, task.order, task.msg_id.text, now_);
    effects_.push_back(assignment(task, worker));
  }
  rules.gang->members = std::move(members);
}

bool TaskQueue::runs_rank(const EngineUuid& engine, std::string_view msg_id, int repetition) const {
  const auto found = tasks_.find(msg_id);
  if (found == tasks_.end() || !found->second->gang() || !found->second->gang()->run) return false;
  const Task& task = *found->second;
  return task.rules->repetitions == repetition && running_member(task, engine.text);
}

// ---------------------------------------------------------------- running, ending

/// An engine of the gang that has neither replied nor left.
std::optional<WorkerKey> TaskQueue::running_member(const Task& task,
                                                   std::string_view engine) const {
  for (const WorkerKey key : task.gang()->run->running())
    if (worker_by_key_.at(key)->uuid.text == engine) return key;
  return std::nullopt;
}

void TaskQueue::gang_replied(Task& task, std::string_view engine, TaskOutcome outcome,
                             SharedFrames reply) {
  const auto key = running_member(task, engine);
  if (!key) return;
  workers_.released(*key);
  given_.answered(*key, task.order, now_);
  workers_.set_ahead(*key, given_.room_ahead(*key));
  if (outcome == TaskOutcome::unmet) insert_sorted(task.rules->unmet_on, *key);
  task.gang()->run->replied(*key, outcome, std::move(reply), now_);
  after_gang_news(task);
  fill(*key);
}

/// The engine ends and has not begun it: the others cannot run it without that one, and it goes to
/// a new gang.
void TaskQueue::gang_given_back(Task& task, std::string_view engine) {
  const auto key = running_member(task, engine);
  if (!key) return;
  workers_.released(*key);
  given_.withdrawn(*key, task.order, now_);
  task.gang()->run->replied(*key, TaskOutcome::unmet, std::make_shared<TextFrames>(), now_);
  after_gang_news(task);
}

/// The time for the last replies of an engine that has left is over.
void TaskQueue::gang_left(Task& task, WorkerKey worker, const EngineEnd& end) {
  Gang& gang = *task.gang();
  if (gang.loss.empty()) {
    gang.lost = worker_by_key_.at(worker)->uuid;
    gang.loss = death_sentence(end, task.msg_id.text);
  }
  gang.run->left(worker, now_);
  after_gang_news(task);
}

void TaskQueue::after_gang_news(Task& task) {
  if (task.gang()->run->is_over())
    finish_gang(task);
  else if (task.gang()->run->next_deadline())
    failed_gangs_.emplace(task.order, &task);
}

void TaskQueue::finish_gang(Task& task) {
  Rules& rules = *task.rules;
  Gang& gang = *rules.gang;
  failed_gangs_.erase(task.order);
  const GangRun::End ended = gang.run->end();
  if (ended.outcome != TaskOutcome::ok)
    for (SharedFrames& result : gang.run->take_results())
      effects_.push_back(DropResult{std::move(result)});
  gang.run.reset();
  if (ended.outcome != TaskOutcome::ok)
    for (const WorkerKey member : gang.members) places_.forget(member);
  const EngineUuid lost = std::exchange(gang.lost, {});
  std::string loss = std::exchange(gang.loss, {});
  const bool is_unmet = ended.reply && ended.outcome == TaskOutcome::unmet;
  if (is_unmet || (ended.outcome == TaskOutcome::failed && rules.retries > 0)) {
    rules.retries -= is_unmet ? 0 : 1;
    rules.failures += is_unmet ? 0 : 1;
    task.place = Place::nowhere;
    return settle(task);
  }
  if (!ended.reply) return fail(task, "EngineError", std::move(loss), lost);
  // That engine may have left since.
  const auto member = std::find(gang.members.begin(), gang.members.end(), ended.worker);
  const EngineUuid& engine = gang.seats->engines.at(member - gang.members.begin());
  effects_.push_back(DeliverReply{task.msg_id, engine, task.frames, task.delimiter_index,
                                  ended.reply, ended.outcome});
  end(task, {ended.outcome == TaskOutcome::ok, task.worker});
}

void TaskQueue::interrupt_failed_gangs() {
  for (auto each = failed_gangs_.begin(); each != failed_gangs_.end();) {
    const Task& task = *each->second;
    for (const WorkerKey worker : task.gang()->run->take_overdue(now_))
      effects_.push_back(InterruptTask{task.msg_id, worker_by_key_.at(worker)->uuid});
    each = task.gang()->run->next_deadline() ? std::next(each) : failed_gangs_.erase(each);
  }
}

}  // namespace px::controller
