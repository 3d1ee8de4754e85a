#include "controller/scheduler/task_queue.hpp"

#include <algorithm>

#include "controller/scheduler/task_queue_parts.hpp"

namespace px::controller {

TaskQueue::TaskQueue(const TaskQueueOptions& options, RandomSource random)
    : options_(options),
      workers_(options.scheme, options.hwm, std::move(random)),
      given_({options.hwm, options.quick_task, options.ahead, options.ahead_lasts}),
      places_(options.gang_communicators),
      plan_(options.gang_patience),
      finished_(options.finished_limit) {
  auto group = std::make_unique<Group>();
  plain_ = group.get();
  groups_.emplace(Restriction{}, std::move(group));
  open_groups_.insert(plain_);
}

TaskQueue::~TaskQueue() = default;

// ---------------------------------------------------------------- events

TaskEffects TaskQueue::engine_joined(const EngineUuid& engine, Instant now, bool gives_back) {
  now_ = now;
  if (const auto known = key_by_uuid_.find(engine); known != key_by_uuid_.end()) {
    given_.set_gives_back(known->second, gives_back && gives_ahead());
    return finish_event();
  }
  const WorkerKey key = ++last_key_;
  worker_by_key_.emplace(key, std::make_unique<Worker>(Worker{engine, {}, {}}));
  key_by_uuid_.emplace(engine, key);
  workers_.add(key);
  given_.add(key);
  given_.set_gives_back(key, gives_back && gives_ahead());
  fill(key);
  return finish_event();
}

TaskEffects TaskQueue::engine_left(const EngineUuid& engine, Instant now, EngineEnd end) {
  now_ = now;
  const auto found = key_by_uuid_.find(engine);
  if (found == key_by_uuid_.end()) return {};
  const WorkerKey key = found->second;
  key_by_uuid_.erase(found);
  dying_.emplace(now + (end.is_dead ? options_.last_words_grace : options_.engine_grace), key);
  places_.left(engine, end.is_dead);
  places_.forget(key);
  worker_by_key_.at(key)->end = std::move(end);
  workers_.remove(key);
  given_.set_gives_back(key, false);  // when it is asked; it may do so on its own
  settle_restricted();
  return finish_event();
}

TaskEffects TaskQueue::engine_silent(const EngineUuid& engine, Instant now) {
  now_ = now;
  const auto found = key_by_uuid_.find(engine);
  if (found == key_by_uuid_.end()) return {};
  const WorkerKey key = found->second;
  workers_.suspend(key);
  const std::vector<Task*> lost = running_on(key);
  let_first_pass(lost);
  for (Task* task : lost) {
    if (!task->rules || task->rules->retries == 0 || task->gang()) continue;
    withdraw(*task);
    attempt_ended(*task, false);
  }
  return finish_event();
}

TaskEffects TaskQueue::engine_returned(const EngineUuid& engine, Instant now) {
  now_ = now;
  const auto found = key_by_uuid_.find(engine);
  if (found == key_by_uuid_.end()) return {};
  workers_.resume(found->second);
  fill(found->second);
  return finish_event();
}

TaskEffects TaskQueue::engine_drained(const EngineUuid& engine, bool is_drained, Instant now) {
  now_ = now;
  const auto found = key_by_uuid_.find(engine);
  if (found == key_by_uuid_.end()) return {};
  workers_.set_drained(found->second, is_drained);
  fill(found->second);
  return finish_event();
}

TaskEffects TaskQueue::engine_reconnected(const EngineUuid& engine, Instant now) {
  now_ = now;
  const auto found = key_by_uuid_.find(engine);
  if (found == key_by_uuid_.end()) return {};
  for (const Task* task : running_on(found->second)) {
    AssignTask again = assignment(*task, found->second);
    again.is_resent = true;
    effects_.push_back(std::move(again));
  }
  recall_again(found->second);
  return finish_event();
}

TaskEffects TaskQueue::submit(TaskRequest request, Instant now) {
  now_ = now;
  auto owner = std::make_unique<Task>();
  Task& task = *owner;
  task.msg_id = std::move(request.msg_id);
  if (!tasks_.try_emplace(task.msg_id.text, std::move(owner)).second) return {};
  task.order = ++last_order_;
  task.since = now;
  task.frames = std::move(request.frames);
  task.delimiter_index = request.delimiter_index;
  task.is_cell = request.is_cell;
  task.kept = std::move(request.kept);
  task.bytes = total_bytes(*task.frames);
  bytes_ += task.bytes;
  const auto holder = key_by_uuid_.find(request.held_by);
  if (request.held_gang)
    hand_back_gang(task, request.rules, *request.held_gang);
  else if (holder != key_by_uuid_.end())
    hand_back(task, request.rules, holder->second);
  else if (options_.max_bytes > 0 && bytes_ > options_.max_bytes)
    refuse_overload(task);
  else if (request.rules.is_plain() ||
           (has_possible_ranks(task, request.rules) && watch_dependencies(task, request.rules)))
    settle(task);
  return finish_event();
}

TaskEffects TaskQueue::reply(std::string_view engine, std::string_view msg_id, TaskOutcome outcome,
                             SharedFrames reply, Instant now, int repetition) {
  now_ = now;
  const auto found = tasks_.find(msg_id);
  if (found == tasks_.end()) return {};
  Task& task = *found->second;
  if (task.place != Place::running) return {};
  if (task.gang()) {
    if (repetition != task.rules->repetitions) return {};
    gang_replied(task, engine, outcome, std::move(reply));
    return finish_event();
  }
  const WorkerKey key = task.worker;
  const Worker& worker = *worker_by_key_.at(key);
  if (worker.uuid.text != engine) return {};
  workers_.released(key);
  given_.answered(key, task.order, now);
  workers_.set_ahead(key, given_.room_ahead(key));
  const bool is_unmet = outcome == TaskOutcome::unmet;
  const bool may_repeat = task.rules && task.rules->retries > 0;
  if (is_unmet || (outcome == TaskOutcome::failed && may_repeat)) {
    attempt_ended(task, is_unmet);
  } else {
    effects_.push_back(DeliverReply{task.msg_id, worker.uuid, task.frames, task.delimiter_index,
                                    std::move(reply), outcome});
    end(task, {outcome == TaskOutcome::ok, key});
  }
  fill(key);
  return finish_event();
}

TaskEffects TaskQueue::ended_before(std::string_view msg_id, bool is_ok, const EngineUuid& engine,
                                    Instant now) {
  now_ = now;
  const auto worker = key_by_uuid_.find(engine);
  note_end(digest_of(msg_id), {is_ok, worker == key_by_uuid_.end() ? 0 : worker->second});
  return finish_event();
}

TaskEffects TaskQueue::on_time(Instant now) {
  now_ = now;
  while (!timers_.empty() && timers_.begin()->first <= now) {
    const auto [when, order] = *timers_.begin();
    timers_.erase(timers_.begin());
    Task& task = *restricted_.at(order);
    Rules& rules = *task.rules;
    if (rules.timer == when) {
      rules.timer.reset();
      fail(task, "TaskTimeout", why_too_late(rules.timeout, waiting_for(task)));
    } else if (rules.pause_end == when) {
      rules.pause_end.reset();
      task.place = Place::nowhere;
      settle(task);
    } else if (rules.unknown_until == when) {
      rules.unknown_until.reset();
      const std::string* const unknown = unknown_dependency(rules);
      if (unknown && task.place == Place::parked)
        fail(task, "InvalidDependency", why_unknown(*unknown, options_.finished_limit));
    }
  }
  while (!dying_.empty() && dying_.begin()->first <= now) {
    const WorkerKey key = dying_.begin()->second;
    dying_.erase(dying_.begin());
    const EngineUuid uuid = worker_by_key_.at(key)->uuid;
    EngineEnd end = worker_by_key_.at(key)->end;
    if (end.engine.empty()) end.engine = "'" + uuid.text + "'";
    const std::vector<Task*> lost = running_on(key);
    let_first_pass(lost);
    for (Task* task : lost) {
      if (task->gang())
        gang_left(*task, key, end);
      else if (task->rules && task->rules->retries > 0)
        attempt_ended(*task, false);
      else
        fail(*task, "EngineError", death_sentence(end, task->msg_id.text), uuid);
    }
    worker_by_key_.erase(key);
    given_.remove(key);
  }
  interrupt_failed_gangs();
  recall_from_slow_engines();
  return finish_event();
}

/// In the order in which they were given to it.
std::vector<TaskQueue::Task*> TaskQueue::running_on(WorkerKey worker) const {
  std::vector<Task*> running;
  for (const GivenTasks::Given& each : given_.of(worker))
    running.push_back(tasks_.at(each.msg_id).get());
  return running;
}

/// From the engine that has it, and has not answered it.
void TaskQueue::withdraw(Task& task) {
  workers_.released(task.worker);
  given_.withdrawn(task.worker, task.order, now_);
}

std::optional<Instant> TaskQueue::next_deadline() const {
  std::optional<Instant> next;
  if (!timers_.empty()) next = timers_.begin()->first;
  if (!dying_.empty()) next = earlier(next, dying_.begin()->first);
  for (const auto& [order, task] : failed_gangs_)
    next = earlier(next, task->gang()->run->next_deadline());
  return earlier(next, given_.next_deadline());
}

TaskEffects TaskQueue::finish_event() {
  wake_dependents();
  if (plans_gangs_) start_gangs();
  recall_for_free_engines();
  return std::exchange(effects_, {});
}

// ---------------------------------------------------------------- life of a task

void TaskQueue::settle(Task& task) {
  if (!task.rules) {
    const auto worker = find_worker(task, Restriction{});
    return worker ? assign(task, *worker) : make_ready(task, Restriction{});
  }
  const Rules& rules = *task.rules;
  if (rules.gang) return settle_gang(task);
  if (rules.after.is_unreachable())
    return fail(task, "ImpossibleDependency", rules.after.why_unreachable("after"));
  if (rules.follow.is_unreachable())
    return fail(task, "ImpossibleDependency", rules.follow.why_unreachable("follow"));
  if (!rules.after.is_met()) return park(task, Place::parked);
  Restriction restriction;
  const TaskVerdict verdict = find_restriction(task, restriction);
  if (verdict == TaskVerdict::wait) return park(task, Place::parked);
  if (verdict == TaskVerdict::pause) return park(task, Place::paused);
  if (verdict != TaskVerdict::restricted)
    return fail(task, "ImpossibleDependency", why_impossible(verdict));
  const auto worker = find_worker(task, restriction);
  return worker ? assign(task, *worker) : make_ready(task, restriction);
}

void TaskQueue::assign(Task& task, WorkerKey worker) {
  if (task.rules) {
    Rules& rules = *task.rules;
    if (rules.timer) timers_.erase({*rules.timer, task.order});
    rules.timer.reset();
    if (is_copy_for(worker, rules)) ++rules.repetitions;
  }
  task.place = Place::running;
  task.worker = worker;
  workers_.assigned(worker);
  given_.given(worker, task.order, task.msg_id.text, now_);
  effects_.push_back(assignment(task, worker));
}

/// To an engine that has it.
AssignTask TaskQueue::assignment(const Task& task, WorkerKey worker) const {
  AssignTask made{task.msg_id, worker_by_key_.at(worker)->uuid, task.frames, task.delimiter_index,
                  repetition_of(task)};
  if (const Gang* gang = task.gang()) made.gang = gang->seats;
  made.goes_first = task.rules && task.rules->goes_first;
  made.failures = task.rules ? task.rules->failures : 0;
  return made;
}

/// To the engine that has it: what it waited for has come about.
void TaskQueue::hand_back(Task& task, const TaskRules& rules, WorkerKey holder) {
  if (!rules.is_plain()) {
    TaskRules met = rules;
    met.after = met.follow = {};
    watch_dependencies(task, met);
  }
  assign(task, holder);
}

bool TaskQueue::knows(std::string_view msg_id) const {
  return tasks_.contains(msg_id) || finished_.find(digest_of(msg_id)) != nullptr;
}

void TaskQueue::attempt_ended(Task& task, bool is_unmet) {
  Rules& rules = rules_of(task);
  if (!is_unmet) {
    --rules.retries;
    ++rules.failures;
  }
  insert_sorted(is_unmet ? rules.unmet_on : rules.failed_on, task.worker);
  insert_sorted(rules.seen_by, task.worker);
  task.place = Place::nowhere;
  settle(task);
}

/// The engine that had these tasks, in this order, is lost, and has begun the first one at most.
/// Without a high-water mark the next engine may hold many tasks: that one passes them.
void TaskQueue::let_first_pass(const std::vector<Task*>& lost) {
  if (options_.hwm > 0 || lost.empty()) return;
  Task& first = *lost.front();
  if (first.rules && !first.gang() && first.rules->retries > 0) first.rules->goes_first = true;
}

/// A plain task may turn out to have a dependency of its function, or to be given twice.
TaskQueue::Rules& TaskQueue::rules_of(Task& task) {
  if (!task.rules) {
    task.rules = std::make_unique<Rules>();
    restricted_.emplace(task.order, &task);
  }
  return *task.rules;
}

void TaskQueue::fail(Task& task, std::string_view name, std::string value, EngineUuid engine) {
  unpark(task);
  const WorkerKey worker = task.place == Place::running ? task.worker : 0;
  effects_.push_back(FailTask{task.msg_id, std::move(engine), task.frames, task.delimiter_index,
                              std::string(name), std::move(value)});
  end(task, {false, worker});
}

/// Of a task whose timer runs.
WaitingFor TaskQueue::waiting_for(const Task& task) {
  return task.place == Place::ready    ? WaitingFor::engine
         : task.place == Place::paused ? WaitingFor::next_attempt
                                       : WaitingFor::dependency;
}

void TaskQueue::refuse_overload(Task& task) {
  const auto mib = [](std::size_t bytes) { return std::to_string(bytes >> 20); };
  fail(task, "Overloaded",
       "too many unfinished tasks: they hold " + mib(bytes_ - task.bytes) +
           " MiB, and this task has " + mib(task.bytes) + " MiB; the controller's limit is " +
           mib(options_.max_bytes) + " MiB: wait for results first, or raise --task-queue-mib");
}

void TaskQueue::end(Task& task, FinishedTask result) {
  note_end(digest_of(task.msg_id.text), result);
  if (task.rules) {
    const Rules& rules = *task.rules;
    for (const auto& timer : {rules.timer, rules.pause_end, rules.unknown_until})
      if (timer) timers_.erase({*timer, task.order});
    for (const std::string& msg_id : rules.unknown) forget_dependent(digest_of(msg_id), task.order);
    restricted_.erase(task.order);
  }
  bytes_ -= task.bytes;
  const auto found = tasks_.find(task.msg_id.text);
  tasks_.erase(found);
}

// ---------------------------------------------------------------- where a task may run

TaskVerdict TaskQueue::find_allowed(const Task& task, Restriction& allowed) const {
  const Rules& rules = *task.rules;
  const auto keep_live = [&](std::vector<WorkerKey> keys) {
    std::erase_if(keys, [&](WorkerKey key) { return !workers_.is_live(key); });
    std::sort(keys.begin(), keys.end());
    return keys;
  };
  if (rules.has_targets) {
    allowed = {true, keep_live(rules.targets)};
    if (allowed.workers.empty()) return TaskVerdict::targets_gone;
  }
  if (rules.follow.empty()) return TaskVerdict::restricted;
  if (rules.follow.is_split()) return TaskVerdict::followed_apart;
  const Restriction targets = allowed;
  allowed = {true, keep_live(rules.follow.workers())};
  std::erase_if(allowed.workers, [&](WorkerKey key) { return !targets.allows(key); });
  if (!allowed.workers.empty()) return TaskVerdict::restricted;
  // Some of what must all run on one engine ran on one that is alive: the rest may, too.
  if (!rules.follow.is_final()) return TaskVerdict::wait;
  const bool may_come =
      std::any_of(worker_by_key_.begin(), worker_by_key_.end(), [&](const auto& entry) {
        return rules.follow.touches(entry.first) && workers_.is_live(entry.first) &&
               targets.allows(entry.first);
      });
  return may_come ? TaskVerdict::wait : TaskVerdict::followed_gone;
}

TaskVerdict TaskQueue::find_restriction(Task& task, Restriction& restriction) {
  const TaskVerdict verdict = find_allowed(task, restriction);
  Rules& rules = *task.rules;
  if (verdict != TaskVerdict::restricted) return verdict;
  const Restriction allowed = restriction;
  const std::vector<WorkerKey> tried = rules.tried_on();
  restriction = without(allowed, tried);
  if (tried.empty() || workers_.empty() || workers_.any_allowed(restriction))
    return TaskVerdict::restricted;
  if (!workers_.any_allowed(without(allowed, rules.unmet_on))) return TaskVerdict::unmet;
  rules.failed_on.clear();
  return TaskVerdict::pause;
}

Restriction TaskQueue::without(Restriction allowed, const std::vector<WorkerKey>& excluded) const {
  for (const WorkerKey key : excluded) {
    if (allowed.is_only)
      std::erase(allowed.workers, key);
    else if (workers_.is_live(key))
      insert_sorted(allowed.workers, key);
  }
  return allowed;
}

}  // namespace px::controller
