// What TaskQueue does with tasks that it gives to engines ahead.

#include "controller/scheduler/task_queue_parts.hpp"

namespace px::controller {

std::optional<WorkerKey> TaskQueue::find_worker(const Task& task,
                                                const Restriction& restriction) const {
  if (!waiting_gangs_.empty()) return std::nullopt;  // start_gangs() finds one
  if (const auto free = workers_.pick(restriction)) return free;
  return task.may_go_ahead() ? workers_.pick_ahead(restriction) : std::nullopt;
}

/// Of the message with which the engine that has it got the task.
int TaskQueue::repetition_of(const Task& task) const {
  if (task.gang()) return task.rules->repetitions;
  return task.rules && is_copy_for(task.worker, *task.rules) ? task.rules->repetitions : 0;
}

/// What goes first says so in its header, which makes it another message.
bool TaskQueue::is_copy_for(WorkerKey worker, const Rules& rules) {
  return rules.goes_first || contains(rules.seen_by, worker);
}

TaskEffects TaskQueue::given_back(std::string_view engine, std::string_view msg_id, int repetition,
                                  Instant now) {
  now_ = now;
  const auto found = tasks_.find(msg_id);
  if (found == tasks_.end()) return {};
  Task& task = *found->second;
  if (task.place != Place::running || repetition_of(task) != repetition) return {};
  if (task.gang()) {
    gang_given_back(task, engine);
    return finish_event();
  }
  const WorkerKey key = task.worker;
  if (worker_by_key_.at(key)->uuid.text != engine) return {};
  withdraw(task);
  insert_sorted(rules_of(task).seen_by, key);
  task.place = Place::nowhere;
  effects_.push_back(TaskReturned{task.msg_id});
  settle(task);
  fill(key);
  return finish_event();
}

void TaskQueue::engine_ending(const EngineUuid& engine) {
  const auto found = key_by_uuid_.find(engine);
  if (found != key_by_uuid_.end()) workers_.suspend(found->second);
}

void TaskQueue::recall(const GivenTasks::Ahead& ahead) {
  const Task& task = *tasks_.at(ahead.task.msg_id);
  given_.recalled(ahead.worker, ahead.task.order);
  effects_.push_back(
      RecallTask{task.msg_id, worker_by_key_.at(ahead.worker)->uuid, repetition_of(task)});
}

/// Whether an engine that has room could run it.
bool TaskQueue::can_move(const Task& task) const {
  if (!task.rules) return true;
  Restriction allowed;
  if (find_allowed(task, allowed) != TaskVerdict::restricted) return false;
  return workers_.pick(without(allowed, task.rules->tried_on())).has_value();
}

/// As many as there are engines with room. Behind a quick task the time of a recall is not worth
/// it, and if that becomes a long one, recall_from_slow_engines() follows.
void TaskQueue::recall_for_free_engines() {
  std::size_t free = workers_.room_count();
  if (free == 0 || !given_.has_ahead() || !waiting_gangs_.empty()) return;
  const std::vector<GivenTasks::Ahead> all = given_.ahead();
  for (const GivenTasks::Ahead& each : all)
    if (each.task.is_recalled && free > 0) --free;
  for (const GivenTasks::Ahead& each : all) {
    if (free == 0) return;
    if (each.task.is_recalled || given_.is_quick(each.worker)) continue;
    if (!can_move(*tasks_.at(each.task.msg_id))) continue;
    recall(each);
    --free;
  }
}

/// No task is to wait behind a long one, though no other engine may be free now. The latest goes
/// first: the engine may go on meanwhile, and what it still holds then is what comes next.
void TaskQueue::recall_from_slow_engines() {
  for (const WorkerKey worker : given_.take_slow(now_)) {
    workers_.set_ahead(worker, 0);
    const std::vector<GivenTasks::Ahead> ahead = given_.ahead_of(worker);
    for (auto each = ahead.rbegin(); each != ahead.rend(); ++each)
      if (!each->task.is_recalled) recall(*each);
  }
}

/// Its connection broke: what it did not give back before.
void TaskQueue::recall_again(WorkerKey worker) {
  const std::vector<GivenTasks::Ahead> ahead = given_.ahead_of(worker);
  for (auto each = ahead.rbegin(); each != ahead.rend(); ++each)
    if (each->task.is_recalled) recall(*each);
}

}  // namespace px::controller
