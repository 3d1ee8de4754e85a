#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "controller/scheduler/task_digest.hpp"
#include "wire/error.hpp"

namespace px::controller {

/// How the queue chooses among the engines that may run a task (protocol 8.3).
enum class TaskScheme { leastload, lru, plainrandom, weighted, twobin, pure, none };
/// Whether tasks wait in a TaskQueue, which chooses their engines.
inline bool has_task_queue(TaskScheme scheme) {
  return scheme != TaskScheme::pure && scheme != TaskScheme::none;
}

/// errors  bad_input: the message lists the existing names.
Result<TaskScheme> task_scheme_by_name(std::string_view name);

/// Uniform in [0, 1).
using RandomSource = std::function<double()>;

/// The engines on which a task may run: one of these (is_only), or any except these. The default
/// allows all.
struct Restriction {
  bool is_only = false;
  std::vector<WorkerKey> workers;  ///< Sorted.
  auto operator<=>(const Restriction&) const = default;
  bool allows(WorkerKey worker) const;
  bool allows_all() const { return !is_only && workers.empty(); }
};

/// The live engines with their loads, and the choice among them. The load of an engine is the
/// number of tasks that it was given and has not answered. The schemes see the engines in an order:
/// new ones are put at the front, one that gets a task at the back, so that `lru` takes the first
/// with room and `leastload` the first of those with the lowest load. The TaskQueue owns it and
/// reports each task that is given or ends. Uses no socket and no clock; random numbers come from
/// `random`.
class WorkerList {
 public:
  /// limit  Outstanding tasks per engine; 0: no limit. Precondition: a scheme that chooses.
  WorkerList(TaskScheme scheme, std::size_t limit, RandomSource random);

  /// A new engine, with the load 0.
  void add(WorkerKey worker);
  /// Ignored if it is not live.
  void remove(WorkerKey worker);
  /// Chooses an engine with room that `restriction` allows; nothing if there is none.
  std::optional<WorkerKey> pick(const Restriction& restriction) const;
  /// Chooses the least loaded of the allowed engines that take tasks ahead and have room for one.
  std::optional<WorkerKey> pick_ahead(const Restriction& restriction) const;
  /// The engine got a task. Precondition: it is live.
  void assigned(WorkerKey worker);
  /// A task of the engine ended; ignored if it is not live.
  void released(WorkerKey worker);
  /// A suspended engine gets no tasks until it is resumed; it stays live.
  void suspend(WorkerKey worker) { set_suspended(worker, true); }
  void resume(WorkerKey worker) { set_suspended(worker, false); }
  /// A drained engine gets no tasks either, suspended or resumed, until it is no longer drained.
  void set_drained(WorkerKey worker, bool is_drained);
  /// From now on the engine takes this many tasks beyond the limit; ignored if it is not live.
  void set_ahead(WorkerKey worker, std::size_t ahead);
  /// Whether the engine is live, neither suspended nor drained, and below the limit; the other
  /// function: below the sum of the limit and the tasks that it takes ahead.
  bool has_room(WorkerKey worker) const;
  bool has_room_ahead(WorkerKey worker) const;
  /// The number of engines with room, without room for tasks ahead.
  std::size_t room_count() const { return room_count_; }
  /// Whether the engine is live, and neither suspended nor drained.
  bool gets_tasks(WorkerKey worker) const;
  bool is_live(WorkerKey worker) const { return find(worker) < slots_.size(); }
  bool empty() const { return slots_.empty(); }
  /// Whether any live engine is allowed, busy or not.
  bool any_allowed(const Restriction& restriction) const;

 private:
  struct Slot {
    WorkerKey worker;
    std::size_t load;
    bool is_suspended = false;
    std::size_t ahead = 0;
    bool is_drained = false;
    bool gets_tasks() const { return !is_suspended && !is_drained; }
  };
  std::size_t find(WorkerKey worker) const;
  bool has_room(const Slot& slot) const {
    return slot.gets_tasks() && (limit_ == 0 || slot.load < limit_);
  }
  bool has_room_ahead(const Slot& slot) const {
    return slot.ahead > 0 && slot.gets_tasks() && slot.load < limit_ + slot.ahead;
  }
  void set_suspended(WorkerKey worker, bool is_suspended);
  void count(const Slot& slot);
  void discount(const Slot& slot);
  std::size_t pick_random(const std::vector<std::size_t>& candidates) const;
  TaskScheme scheme_;
  std::size_t limit_;
  RandomSource random_;
  std::vector<Slot> slots_;      // contiguous: a thousand are scanned in a microsecond
  std::size_t room_count_ = 0;   // slots with room
  std::size_t ahead_count_ = 0;  // slots with room ahead
};

}  // namespace px::controller
