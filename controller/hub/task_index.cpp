#include "controller/hub/task_index.hpp"

#include <algorithm>

namespace px::controller {

void TaskIndex::join(EngineId id, const EngineUuid& uuid) {
  const auto known = slot_of(uuid.text);
  if (known && is_registered(*known) && engines_[*known].id == id) return;
  const Slot slot = engines_.size();
  engines_.push_back({.id = id, .uuid = uuid, .is_registered = true, .counts = {}});
  by_uuid_[uuid.text] = slot;
  by_id_[id] = slot;
}

void TaskIndex::leave(const EngineUuid& uuid) {
  if (const auto slot = slot_of(uuid.text)) engines_[*slot].is_registered = false;
}

std::optional<TaskIndex::Slot> TaskIndex::slot_of(std::string_view uuid) const {
  const auto found = by_uuid_.find(uuid);
  return found == by_uuid_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<TaskIndex::Slot> TaskIndex::slot_of(EngineId id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<EngineId> TaskIndex::ids() const {
  std::vector<EngineId> ids;
  for (const auto& [id, slot] : by_id_) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

TaskIndex::Pending* TaskIndex::add(const MessageId& msg_id, TaskQueueKind queue) {
  if (pending_.size() >= limits_.pending || is_completed(msg_id)) return nullptr;
  const auto [entry, is_new] = pending_.try_emplace(msg_id);
  const bool was_announced = !is_new && entry->second.queue == TaskQueueKind::none;
  if (!is_new && !(was_announced && queue != TaskQueueKind::none)) return nullptr;
  entry->second = {.queue = queue, .slot = std::nullopt, .number = next_number_++};
  return &entry->second;
}

bool TaskIndex::submit_direct(const MessageId& msg_id, Slot slot) {
  Pending* task = add(msg_id, TaskQueueKind::mux);
  if (!task) return false;
  task->slot = slot;
  ++engines_[slot].counts.queue;
  return true;
}

bool TaskIndex::submit_task(const MessageId& msg_id) {
  if (!add(msg_id, TaskQueueKind::task)) return false;
  ++unassigned_count_;
  return true;
}

bool TaskIndex::announce(const MessageId& msg_id) {
  return add(msg_id, TaskQueueKind::none);
}

void TaskIndex::take_from_engine(const Pending& task) {
  if (task.queue == TaskQueueKind::mux)
    --engines_[*task.slot].counts.queue;
  else if (task.slot)
    --engines_[*task.slot].counts.tasks;
  else if (task.queue == TaskQueueKind::task)
    --unassigned_count_;
}

bool TaskIndex::assign(const MessageId& msg_id, Slot slot) {
  const auto found = pending_.find(msg_id);
  if (found == pending_.end() || found->second.queue != TaskQueueKind::task) return false;
  take_from_engine(found->second);
  found->second.slot = slot;
  ++engines_[slot].counts.tasks;
  return true;
}

bool TaskIndex::finish(const MessageId& msg_id, std::optional<Slot> slot, bool is_counted) {
  const auto found = pending_.find(msg_id);
  if (found == pending_.end()) return false;
  take_from_engine(found->second);
  if (!slot || !is_counted) slot.reset();
  if (slot) ++engines_[*slot].counts.completed;
  remember_completed(pending_.extract(found), slot);
  return true;
}

void TaskIndex::remember_completed(PendingTasks::node_type task, std::optional<Slot> slot) {
  const auto [entry, is_new] = completed_.try_emplace(std::move(task.key()), slot);
  if (is_new) completed_order_.push_back(&*entry);
  while (completed_order_.size() > limits_.completed) {
    completed_.erase(completed_.find(completed_order_.front()->first));
    completed_order_.pop_front();
  }
}

template <class Condition>
std::vector<MessageId> TaskIndex::pending_where(Condition condition) const {
  std::vector<const PendingTasks::value_type*> tasks;
  for (const auto& task : pending_)
    if (condition(task.second)) tasks.push_back(&task);
  std::sort(tasks.begin(), tasks.end(),
            [](const auto* a, const auto* b) { return a->second.number < b->second.number; });
  std::vector<MessageId> msg_ids;
  msg_ids.reserve(tasks.size());
  for (const auto* task : tasks) msg_ids.push_back(task->first);
  return msg_ids;
}

TaskIndex::Lists TaskIndex::lists(Slot slot, std::size_t limit) const {
  Lists lists{.queue = unanswered(slot), .tasks = {}, .completed = {}};
  lists.tasks = pending_where(
      [&](const Pending& task) { return task.queue == TaskQueueKind::task && task.slot == slot; });
  for (auto task = completed_order_.rbegin();
       task != completed_order_.rend() && lists.completed.size() < limit; ++task)
    if ((*task)->second == slot) lists.completed.push_back((*task)->first);
  std::reverse(lists.completed.begin(), lists.completed.end());
  return lists;
}

std::vector<MessageId> TaskIndex::unassigned() const {
  return pending_where(
      [](const Pending& task) { return task.queue == TaskQueueKind::task && !task.slot; });
}

std::vector<MessageId> TaskIndex::unanswered(Slot slot) const {
  return pending_where(
      [&](const Pending& task) { return task.queue == TaskQueueKind::mux && task.slot == slot; });
}

}  // namespace px::controller
