#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "controller/scheduler/task_digest.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// The tasks that each engine was given and has not answered, and its speed. An engine runs them in
/// the order of their arrival: tasks beyond the high-water mark wait behind the others, were given
/// *ahead*, and may be recalled. Tasks are given ahead so that an engine with short tasks does not
/// wait for the controller between two of them; they are recalled so that none waits behind a long
/// task while another engine is free.
///
/// The TaskQueue owns it and reports what happens; it counts and measures, and assigns no tasks
/// itself. Uses no clock.
class GivenTasks {
 public:
  /// One task of an engine.
  struct Given {
    std::uint64_t order;       ///< Lower ones were submitted earlier.
    std::string_view msg_id;   ///< Owned by the queue: valid as long as the task exists.
    bool is_recalled = false;  ///< Recalled; neither given back nor answered since.
  };
  /// A task that was given ahead.
  struct Ahead {
    WorkerKey worker;
    Given task;
  };

  struct Options {
    std::size_t hwm;  ///< The tasks that an engine may run or begin at once; 0: no limit.
    /// A task that takes no longer is quick; an engine that runs a longer one gets none ahead.
    Duration quick;
    std::size_t ahead;     ///< The most tasks that an engine may hold ahead.
    Duration ahead_lasts;  ///< An engine may hold ahead as many as it answers in this time.
  };
  explicit GivenTasks(const Options& options) : options_(options) {}

  /// An engine has joined; it has no task yet.
  void add(WorkerKey worker) { workers_.try_emplace(worker); }
  /// The engine gives back recalled tasks, until it leaves.
  void set_gives_back(WorkerKey worker, bool gives_back);
  /// The engine is gone, and its tasks have been dealt with.
  void remove(WorkerKey worker);

  /// Precondition of these: the engine was added.
  void given(WorkerKey worker, std::uint64_t order, std::string_view msg_id, Instant now);
  /// The engine has answered the task.
  void answered(WorkerKey worker, std::uint64_t order, Instant now);
  /// The task no longer belongs to the engine, which has not answered it.
  void withdrawn(WorkerKey worker, std::uint64_t order, Instant now);
  void recalled(WorkerKey worker, std::uint64_t order);
  /// The tasks of the engine, in the order in which it got them. Precondition: the engine was
  /// added.
  const std::deque<Given>& of(WorkerKey worker) const { return workers_.at(worker).tasks; }

  /// Whether a task may be given ahead: the engine gives tasks back, its last one was quick, and
  /// the present one is not known to be longer.
  bool is_quick(WorkerKey worker) const { return workers_.at(worker).is_quick; }
  /// Forgets and returns the engines that run a task for longer than a quick one takes.
  std::vector<WorkerKey> take_slow(Instant now);
  /// When take_slow() will next return one.
  std::optional<Instant> next_deadline() const;

  /// How many tasks the engine may hold ahead according to the pace of its last ones: the first
  /// quick task allows one, and each further one may allow more, up to what `ahead` and
  /// `ahead_lasts` say. None while the engine has a task that is recalled: later tasks could run
  /// before it.
  std::size_t room_ahead(WorkerKey worker) const;
  /// Whether ahead() would return any.
  bool has_ahead() const { return !holders_.empty(); }
  /// The tasks given ahead to engines that give back; the oldest first.
  std::vector<Ahead> ahead() const;
  /// The tasks given ahead to one engine.
  std::vector<Ahead> ahead_of(WorkerKey worker) const;

 private:
  struct Worker {
    std::deque<Given> tasks;  // the first `hwm` may have begun
    Instant since{};          // the first one runs
    bool gives_back = false;
    bool is_quick = false;
    Duration pace{};  // while is_quick: the time for one task, smoothed
  };
  /// False if the engine does not have it.
  bool erase(WorkerKey worker, std::uint64_t order);
  void begin(WorkerKey key, Worker& worker, Instant now);
  void stop_watching(WorkerKey key, const Worker& worker);
  void note_holder(WorkerKey key, const Worker& worker);

  Options options_;
  std::unordered_map<WorkerKey, Worker> workers_;
  std::set<WorkerKey> holders_;                      // engines that have tasks ahead, and give them
                                                     // back
  std::set<std::pair<Instant, WorkerKey>> watched_;  // quick ones that run a task, and since when
};

}  // namespace px::controller
