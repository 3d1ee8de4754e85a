#include "controller/scheduler/given_tasks.hpp"

#include <algorithm>

namespace px::controller {

void GivenTasks::set_gives_back(WorkerKey key, bool gives_back) {
  Worker& worker = workers_.at(key);
  worker.gives_back = gives_back;
  if (!gives_back) {
    stop_watching(key, worker);
    worker.is_quick = false;
  }
  note_holder(key, worker);
}

void GivenTasks::remove(WorkerKey key) {
  stop_watching(key, workers_.at(key));
  holders_.erase(key);
  workers_.erase(key);
}

void GivenTasks::given(WorkerKey key, std::uint64_t order, std::string_view msg_id, Instant now) {
  Worker& worker = workers_.at(key);
  worker.tasks.push_back({order, msg_id});
  if (worker.tasks.size() == 1) begin(key, worker, now);
  note_holder(key, worker);
}

bool GivenTasks::erase(WorkerKey key, std::uint64_t order) {
  Worker& worker = workers_.at(key);
  const auto found = std::find_if(worker.tasks.begin(), worker.tasks.end(),
                                  [&](const Given& task) { return task.order == order; });
  if (found == worker.tasks.end()) return false;
  worker.tasks.erase(found);
  note_holder(key, worker);
  return true;
}

void GivenTasks::answered(WorkerKey key, std::uint64_t order, Instant now) {
  Worker& worker = workers_.at(key);
  if (!erase(key, order)) return;
  stop_watching(key, worker);
  const Duration took = now - worker.since;
  const Duration before = worker.is_quick ? worker.pace : options_.quick;
  worker.is_quick = worker.gives_back && took <= options_.quick;
  worker.pace = (3 * before + took) / 4;  // answers that came together look as if they took no time
  begin(key, worker, now);
}

void GivenTasks::withdrawn(WorkerKey key, std::uint64_t order, Instant now) {
  Worker& worker = workers_.at(key);
  const bool is_first = !worker.tasks.empty() && worker.tasks.front().order == order;
  if (!erase(key, order) || !is_first) return;
  stop_watching(key, worker);
  begin(key, worker, now);
}

void GivenTasks::recalled(WorkerKey key, std::uint64_t order) {
  for (Given& task : workers_.at(key).tasks)
    if (task.order == order) task.is_recalled = true;
}

/// The first task, if there is one, runs from now on.
void GivenTasks::begin(WorkerKey key, Worker& worker, Instant now) {
  worker.since = now;
  if (worker.is_quick && !worker.tasks.empty()) watched_.emplace(now, key);
}

void GivenTasks::stop_watching(WorkerKey key, const Worker& worker) {
  watched_.erase({worker.since, key});
}

void GivenTasks::note_holder(WorkerKey key, const Worker& worker) {
  if (worker.gives_back && options_.hwm > 0 && worker.tasks.size() > options_.hwm)
    holders_.insert(key);
  else
    holders_.erase(key);
}

std::vector<WorkerKey> GivenTasks::take_slow(Instant now) {
  std::vector<WorkerKey> slow;
  while (!watched_.empty() && watched_.begin()->first + options_.quick < now) {
    slow.push_back(watched_.begin()->second);
    watched_.erase(watched_.begin());
    workers_.at(slow.back()).is_quick = false;
  }
  return slow;
}

std::optional<Instant> GivenTasks::next_deadline() const {
  if (watched_.empty()) return std::nullopt;
  return watched_.begin()->first + options_.quick + Duration{1};
}

std::size_t GivenTasks::room_ahead(WorkerKey key) const {
  const Worker& worker = workers_.at(key);
  if (!worker.is_quick || std::any_of(worker.tasks.begin(), worker.tasks.end(),
                                      [](const Given& task) { return task.is_recalled; }))
    return 0;
  const auto lasting = options_.ahead_lasts / std::max(worker.pace, Duration{1});
  return std::min(static_cast<std::size_t>(std::max<Duration::rep>(lasting, 1)), options_.ahead);
}

std::vector<GivenTasks::Ahead> GivenTasks::ahead_of(WorkerKey key) const {
  std::vector<Ahead> ahead;
  if (!holders_.contains(key)) return ahead;
  const std::deque<Given>& tasks = workers_.at(key).tasks;
  for (std::size_t i = options_.hwm; i < tasks.size(); ++i) ahead.push_back({key, tasks[i]});
  return ahead;
}

std::vector<GivenTasks::Ahead> GivenTasks::ahead() const {
  std::vector<Ahead> all;
  for (const WorkerKey key : holders_)
    for (const Ahead& each : ahead_of(key)) all.push_back(each);
  std::sort(all.begin(), all.end(),
            [](const Ahead& a, const Ahead& b) { return a.task.order < b.task.order; });
  return all;
}

}  // namespace px::controller
