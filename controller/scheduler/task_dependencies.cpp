// The functions of TaskQueue for the tasks on which other tasks depend.

#include <algorithm>
#include <utility>

#include "controller/scheduler/task_queue_parts.hpp"

namespace px::controller {

bool TaskQueue::watch_dependencies(Task& task, const TaskRules& wanted) {
  task.rules = std::make_unique<Rules>();
  restricted_.emplace(task.order, &task);
  Rules& rules = *task.rules;
  rules.timeout = wanted.timeout;
  rules.retries = wanted.retries;
  if (wanted.ranks.most > 1) rules.gang = std::make_unique<Gang>(Gang{wanted.ranks});
  rules.has_targets = !wanted.targets.empty();
  for (const EngineUuid& uuid : wanted.targets)
    if (const auto found = key_by_uuid_.find(uuid); found != key_by_uuid_.end())
      insert_sorted(rules.targets, found->second);
  rules.after = Dependency{wanted.after};
  rules.follow = Dependency{wanted.follow};
  const auto watch = [&](const DependencySpec& spec, Dependency& dependency,
                         std::vector<TaskDigest>& pending) {
    for (const std::string& msg_id : spec.msg_ids) {
      const TaskDigest digest = digest_of(msg_id);
      if (msg_id == task.msg_id.text) return false;
      const bool is_here = tasks_.contains(std::string_view(msg_id));
      const FinishedTask* const ended = is_here ? nullptr : finished_.find(digest);
      if (ended) {
        dependency.finished(*ended);
        continue;
      }
      if (!is_here) rules.unknown.push_back(msg_id);
      pending.push_back(digest);
      dependents_[digest].push_back(task.order);
    }
    return true;
  };
  if (!watch(wanted.after, rules.after, rules.after_ids) ||
      !watch(wanted.follow, rules.follow, rules.follow_ids)) {
    fail(task, "InvalidDependency", why_unknown(task.msg_id.text, options_.finished_limit));
    return false;
  }
  if (!rules.unknown.empty()) {
    rules.unknown_until = std::max(now_ + options_.unknown_grace, returns_until_);
    timers_.emplace(*rules.unknown_until, task.order);
  }
  return true;
}

/// One that has not come since; null: none.
const std::string* TaskQueue::unknown_dependency(const Rules& rules) const {
  const auto found = std::find_if(rules.unknown.begin(), rules.unknown.end(),
                                  [this](const std::string& msg_id) { return !knows(msg_id); });
  return found == rules.unknown.end() ? nullptr : &*found;
}

void TaskQueue::note_end(const TaskDigest& digest, FinishedTask result) {
  finished_.add(digest, result);
  if (!dependents_.empty() && dependents_.contains(digest)) ended_.push_back({digest, result});
}

/// The task that it waited for may never come.
void TaskQueue::forget_dependent(const TaskDigest& digest, std::uint64_t order) {
  const auto found = dependents_.find(digest);
  if (found == dependents_.end()) return;
  std::erase(found->second, order);
  if (found->second.empty()) dependents_.erase(found);
}

void TaskQueue::wake_dependents() {
  // Waking may end further tasks, which are appended.
  for (std::size_t i = 0; i < ended_.size(); ++i) {
    const Ended ended = ended_[i];
    const auto found = dependents_.find(ended.digest);
    if (found == dependents_.end()) continue;
    const std::vector<std::uint64_t> waiting = std::move(found->second);
    dependents_.erase(found);
    for (const std::uint64_t order : waiting) {
      const auto entry = restricted_.find(order);
      if (entry == restricted_.end()) continue;
      Task& task = *entry->second;
      const auto tell = [&](Dependency& dependency, std::vector<TaskDigest>& pending) {
        if (std::erase(pending, ended.digest) > 0) dependency.finished(ended.task);
      };
      tell(task.rules->after, task.rules->after_ids);
      tell(task.rules->follow, task.rules->follow_ids);
      if (task.place == Place::running || task.place == Place::paused) continue;
      unpark(task);
      settle(task);
    }
  }
  ended_.clear();
}

}  // namespace px::controller
