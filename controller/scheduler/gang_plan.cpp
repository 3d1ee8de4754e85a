#include "controller/scheduler/gang_plan.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

namespace px::controller {
namespace {

using GangEngines = std::vector<const GangEngine*>;

bool has_lower_rank(const GangEngine* one, const GangEngine* other) {
  return std::tuple(one->world, one->rank, one->worker) <
         std::tuple(other->world, other->rank, other->worker);
}

std::vector<WorkerKey> workers_by_rank(GangEngines engines) {
  std::sort(engines.begin(), engines.end(), has_lower_rank);
  std::vector<WorkerKey> workers;
  for (const GangEngine* engine : engines) workers.push_back(engine->worker);
  return workers;
}

/// The engines on which one task may run together: those of one world, or one engine without a
/// world.
std::vector<GangEngines> split_by_world(const GangEngines& engines) {
  std::vector<GangEngines> groups;
  std::map<int, GangEngines> worlds;
  for (const GangEngine* engine : engines) {
    if (engine->world == GangEngine::no_world)
      groups.push_back({engine});
    else
      worlds[engine->world].push_back(engine);
  }
  for (auto& [world, members] : worlds) groups.push_back(std::move(members));
  return groups;
}

/// `count` engines of a group that has as many, on as few hosts as possible. Leaves the hosts with
/// the most engines to others.
struct HostChoice {
  HostChoice(const GangEngines& group, std::size_t count) {
    std::map<int, GangEngines> by_host;
    for (const GangEngine* engine : group) by_host[engine->host].push_back(engine);
    std::vector<GangEngines> all;
    for (auto& [host, members] : by_host) all.push_back(std::move(members));
    std::stable_sort(all.begin(), all.end(), [](const GangEngines& one, const GangEngines& other) {
      return one.size() > other.size();
    });
    for (auto next = all.begin(); chosen.size() < count; ++next) {
      const std::size_t missing = count - chosen.size();
      // The smallest one that suffices, or the largest one.
      while (std::next(next) != all.end() && std::next(next)->size() >= missing) ++next;
      std::sort(next->begin(), next->end(), has_lower_rank);
      const std::size_t taken = std::min(missing, next->size());
      chosen.insert(chosen.end(), next->begin(),
                    next->begin() + static_cast<std::ptrdiff_t>(taken));
      ++hosts;
    }
    unused = group.size() - count;
  }

  GangEngines chosen;
  std::size_t hosts = 0;
  std::size_t unused = 0;  ///< Engines of the group.
};

/// Nothing if no world has `count` of these engines.
std::optional<GangEngines> pick_together(const GangEngines& engines, std::size_t count) {
  std::optional<HostChoice> best;
  for (const GangEngines& group : split_by_world(engines)) {
    if (group.size() < count) continue;
    HostChoice choice{group, count};
    if (!best || std::tuple(choice.hosts, choice.unused) < std::tuple(best->hosts, best->unused))
      best = std::move(choice);
  }
  return best ? std::optional(std::move(best->chosen)) : std::nullopt;
}

/// Groups of at least `count` engines that may form a gang: those of one host, and those of a world
/// that has no such host.
std::vector<GangEngines> groups_for(const GangEngines& engines, std::size_t count) {
  std::vector<GangEngines> groups;
  for (GangEngines world : split_by_world(engines)) {
    if (world.size() < count) continue;
    std::map<int, GangEngines> by_host;
    for (const GangEngine* engine : world) by_host[engine->host].push_back(engine);
    const std::size_t before = groups.size();
    for (auto& [host, members] : by_host)
      if (members.size() >= count) groups.push_back(std::move(members));
    if (groups.size() == before) groups.push_back(std::move(world));
  }
  return groups;
}

}  // namespace

/// One call of decide().
class GangPlan::Round {
 public:
  Round(const std::vector<GangEngine>& engines, const std::vector<WaitingTask>& waiting,
        Duration patience, std::optional<GangPromise>& promise)
      : engines_(engines), patience_(patience), promise_(promise) {
    for (const GangEngine& engine : engines)
      if (engine.is_free) free_.push_back(&engine);
    for (const WaitingTask& task : waiting)
      if (can_run(engines, task)) waiting_.push_back(&task);
  }

  GangDecision decide() {
    while (start_in_window()) continue;
    renew_promise();
    start_behind_window();
    grow();
    return {std::move(starts_), promise_};
  }

 private:
  using Usable = std::function<bool(const GangEngine&)>;

  bool is_promised(const GangEngine& engine) const {
    return promise_ &&
           std::count(promise_->workers.begin(), promise_->workers.end(), engine.worker) > 0;
  }

  GangEngines free_for(const WaitingTask& task, const Usable& is_usable) const {
    GangEngines found;
    for (const GangEngine* engine : free_)
      if (task.restriction.allows(engine->worker) && is_usable(*engine)) found.push_back(engine);
    return found;
  }

  /// True: the task has started and is not in `waiting_` any more.
  bool start(const WaitingTask& task, const Usable& is_usable) {
    const auto chosen = pick_together(free_for(task, is_usable), task.least);
    if (!chosen) return false;
    starts_.push_back({task.order, workers_by_rank(*chosen)});
    started_.push_back(&task);
    for (const GangEngine* engine : *chosen) std::erase(free_, engine);
    if (promise_ && promise_->order == task.order) promise_.reset();
    std::erase(waiting_, &task);
    return true;
  }

  /// Starts the largest task of the window that fits, the oldest of these.
  bool start_in_window() {
    if (waiting_.empty() || free_.empty()) return false;
    const Instant end = waiting_.front()->since + patience_;
    std::vector<const WaitingTask*> window;
    for (const WaitingTask* task : waiting_)
      if (task->since <= end) window.push_back(task);
    std::stable_sort(
        window.begin(), window.end(),
        [](const WaitingTask* one, const WaitingTask* other) { return one->least > other->least; });
    for (const WaitingTask* task : window) {
      const auto is_not_promised = [this](const GangEngine& engine) {
        return !is_promised(engine);
      };
      if (start(*task, is_not_promised) || start(*task, [](const GangEngine&) { return true; }))
        return true;
    }
    return false;
  }

  /// To the oldest task. One that was made before stays, so that its engines go on to become free.
  void renew_promise() {
    if (waiting_.empty()) return promise_.reset();
    const WaitingTask& task = *waiting_.front();
    GangEngines allowed;
    for (const GangEngine& engine : engines_)
      if (task.restriction.allows(engine.worker)) allowed.push_back(&engine);
    if (promise_ && promise_->order == task.order) {
      const auto promised = std::count_if(allowed.begin(), allowed.end(),
                                          [&](const auto* engine) { return is_promised(*engine); });
      if (static_cast<std::size_t>(promised) == promise_->workers.size()) return;
    }
    promise_.reset();
    std::optional<GangEngines> best;
    for (const GangEngines& group : groups_for(allowed, task.least)) {
      GangEngines chosen = free_first(group, task.least);
      if (!best || free_count(chosen) > free_count(*best)) best = std::move(chosen);
    }
    promise_ = GangPromise{task.order, workers_by_rank(*best)};
  }

  bool is_free(const GangEngine* engine) const {
    return std::count(free_.begin(), free_.end(), engine) > 0;
  }

  std::size_t free_count(const GangEngines& engines) const {
    return static_cast<std::size_t>(std::count_if(
        engines.begin(), engines.end(), [this](const auto* engine) { return is_free(engine); }));
  }

  /// `count` engines of a group, those that are free first.
  GangEngines free_first(GangEngines group, std::size_t count) const {
    const auto key = [&](const GangEngine* engine) {
      return std::tuple(!is_free(engine), engine->rank, engine->worker);
    };
    std::sort(group.begin(), group.end(), [&](const GangEngine* one, const GangEngine* other) {
      return key(one) < key(other);
    });
    group.resize(count);
    return group;
  }

  /// All other tasks, in the order in which they came.
  void start_behind_window() {
    const std::vector<const WaitingTask*> tasks = waiting_;
    for (const WaitingTask* task : tasks) {
      if (free_.empty()) return;
      start(*task, [this](const GangEngine& engine) { return !is_promised(engine); });
    }
  }

  /// Gives tasks that may run on more ranks the engines that nothing else can use.
  void grow() {
    for (std::size_t i = 0; i < starts_.size(); ++i) {
      const WaitingTask& task = *started_[i];
      GangEngines members;
      for (const GangEngine& engine : engines_)
        if (std::count(starts_[i].workers.begin(), starts_[i].workers.end(), engine.worker) > 0)
          members.push_back(&engine);
      const int world = members.front()->world;
      if (world == GangEngine::no_world) continue;
      const int host = members.front()->host;
      GangEngines more = free_for(task, [&](const GangEngine& engine) {
        return engine.world == world && !is_promised(engine);
      });
      std::stable_sort(more.begin(), more.end(), [&](const GangEngine* one, const auto* other) {
        return (one->host == host) > (other->host == host);
      });
      more.resize(std::min(more.size(), task.most - task.least));
      for (const GangEngine* engine : more) std::erase(free_, engine);
      members.insert(members.end(), more.begin(), more.end());
      starts_[i].workers = workers_by_rank(members);
    }
  }

  const std::vector<GangEngine>& engines_;
  const Duration patience_;
  std::optional<GangPromise>& promise_;
  GangEngines free_;
  std::vector<const WaitingTask*> waiting_;  // those that can run
  std::vector<const WaitingTask*> started_;  // in the order of starts_
  std::vector<GangStart> starts_;
};

GangDecision GangPlan::decide(const std::vector<GangEngine>& engines,
                              const std::vector<WaitingTask>& waiting) {
  return Round{engines, waiting, patience_, promise_}.decide();
}

bool GangPlan::can_run(const std::vector<GangEngine>& engines, const WaitingTask& task) {
  std::map<int, std::size_t> allowed;  // by world
  for (const GangEngine& engine : engines) {
    if (!task.restriction.allows(engine.worker)) continue;
    if (task.least == 1) return true;
    if (engine.world != GangEngine::no_world && ++allowed[engine.world] == task.least) return true;
  }
  return false;
}

}  // namespace px::controller
