// The functions of TaskQueue for the places where tasks wait.

#include <algorithm>
#include <utility>

#include "controller/scheduler/task_queue_parts.hpp"

namespace px::controller {
namespace {

/// A waiting task of fewer bytes than this is copied: the frames of libzmq take much more memory,
/// both for themselves and for the buffers that contain them.
constexpr std::size_t small_task = 4096;

}  // namespace

/// It will stay for a while.
void TaskQueue::compact(Task& task) {
  if (task.is_compact || task.bytes >= small_task) return;
  task.frames = task.kept ? std::move(task.kept) : compacted(*task.frames);
  task.is_compact = true;
}

void TaskQueue::park(Task& task, Place place) {
  compact(task);
  task.place = place;
  start_timer(task);
  if (place != Place::paused) return;
  Rules& rules = *task.rules;
  rules.pause_end = now_ + options_.pause;
  if (rules.pause_end == rules.timer) *rules.pause_end += Duration{1};
  timers_.emplace(*rules.pause_end, task.order);
}

void TaskQueue::start_timer(Task& task) {
  Rules& rules = *task.rules;
  if (rules.timeout == Duration{0} || rules.timer) return;
  rules.timer = now_ + rules.timeout;
  timers_.emplace(*rules.timer, task.order);
}

void TaskQueue::make_ready(Task& task, const Restriction& restriction) {
  compact(task);
  if (task.rules) start_timer(task);
  Group* group = plain_;
  if (!restriction.allows_all()) {
    auto& owner = groups_[restriction];
    if (!owner) {
      owner = std::make_unique<Group>(Group{restriction, {}});
      link(*owner);
    }
    group = owner.get();
  }
  group->ready.emplace_hint(group->ready.end(), task.order, &task);
  task.group = group;
  task.place = Place::ready;
}

void TaskQueue::unpark(Task& task) {
  if (task.rules) {
    // The timeout goes on: a task that is looked at again has not left the queue.
    if (task.rules->pause_end) timers_.erase({*task.rules->pause_end, task.order});
    task.rules->pause_end.reset();
  }
  if (task.place == Place::ready && task.gang()) {
    leave_gangs(task);
  } else if (task.place == Place::ready) {
    Group& group = *task.group;
    group.ready.erase(task.order);
    task.group = nullptr;
    if (group.ready.empty()) unlink(group);
  }
  if (task.place != Place::running) task.place = Place::nowhere;
}

void TaskQueue::link(Group& group) {
  if (!group.restriction.is_only) {
    open_groups_.insert(&group);
    return;
  }
  for (const WorkerKey key : group.restriction.workers)
    worker_by_key_.at(key)->groups.insert(&group);
}

void TaskQueue::unlink(Group& group) {
  if (&group == plain_) return;
  open_groups_.erase(&group);
  if (group.restriction.is_only)
    for (const WorkerKey key : group.restriction.workers)
      if (const auto found = worker_by_key_.find(key); found != worker_by_key_.end())
        found->second->groups.erase(&group);
  groups_.erase(Restriction(group.restriction));
}

TaskQueue::Group* TaskQueue::oldest_group(WorkerKey worker) {
  Group* oldest = nullptr;
  const auto consider = [&](Group* group) {
    if (group->ready.empty() || !group->restriction.allows(worker)) return;
    if (!oldest || group->ready.begin()->first < oldest->ready.begin()->first) oldest = group;
  };
  for (Group* group : open_groups_) consider(group);
  for (Group* group : worker_by_key_.at(worker)->groups) consider(group);
  return oldest;
}

void TaskQueue::fill(WorkerKey worker) {
  if (!waiting_gangs_.empty()) return;  // start_gangs() does it
  while (workers_.has_room(worker)) {
    Group* group = oldest_group(worker);
    if (!group) return;
    Task& task = *group->ready.begin()->second;
    unpark(task);
    assign(task, worker);
  }
  while (workers_.has_room_ahead(worker)) {
    Group* group = oldest_group(worker);
    if (!group || !group->ready.begin()->second->may_go_ahead()) return;
    Task& task = *group->ready.begin()->second;
    unpark(task);
    assign(task, worker);
  }
}

void TaskQueue::settle_restricted() {
  std::vector<std::uint64_t> waiting;
  for (const auto& [order, task] : restricted_)
    if (task->place == Place::parked || task->place == Place::ready) waiting.push_back(order);
  for (const std::uint64_t order : waiting) {
    const auto found = restricted_.find(order);
    if (found == restricted_.end()) continue;
    unpark(*found->second);
    settle(*found->second);
  }
}

}  // namespace px::controller
