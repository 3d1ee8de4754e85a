#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "controller/scheduler/task_digest.hpp"
#include "controller/scheduler/worker_list.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// An engine that may be given tasks. Those that are silent, drained or suspended are left out.
struct GangEngine {
  static constexpr int no_world = -1;

  WorkerKey worker = 0;
  int world = no_world;  ///< Of MPI. Only engines of one world can form a gang.
  int rank = 0;          ///< In the world.
  int host = 0;
  bool is_free = false;
};

/// A task that is ready to run and has no engines yet.
struct WaitingTask {
  std::uint64_t order = 0;  ///< Lower ones came earlier.
  Instant since{};          ///< When it came. Not decreasing with `order`.
  /// It runs on at least `least` ranks, 1 <= least <= most, and on more of them, up to `most`, if
  /// nothing else can use the engines.
  std::size_t least = 1, most = 1;
  Restriction restriction = {};
};

/// Engines that are held back for a task until enough of them are free.
struct GangPromise {
  std::uint64_t order = 0;  ///< Of the task.
  std::vector<WorkerKey> workers;
};

struct GangStart {
  std::uint64_t order = 0;
  std::vector<WorkerKey> workers;  ///< By rank: the first one is rank 0 of the gang.
};

struct GangDecision {
  std::vector<GangStart> starts;
  std::optional<GangPromise> promise;  ///< To the oldest task that can run but does not fit now.
};

/// Decides which tasks start on which engines, if tasks need one rank or several at the same time.
///
/// Tasks that came within `patience` of the oldest waiting one form a *window* and are treated
/// alike: the largest ones that fit start first, because small ones fill the gaps that are left.
/// If none of them fits, the oldest task gets a *promise*: engines of one world that are
/// held back for it. Tasks that came later than the window start only on engines that are not held.
///
/// So no task starves: once it is the oldest one, a task that came at `t` waits only for tasks that
/// came before `t + patience` and for what runs on the engines that are promised to it.
///
/// Engines of a gang are ranks of one world, of one host if possible. The owner calls decide()
/// whenever an engine is free or a task is ready. Sees no socket and no clock.
class GangPlan {
 public:
  /// patience  >= 0; 0: the oldest task starts first, whatever its size.
  explicit GangPlan(Duration patience) : patience_(patience) {}

  /// The engines of each start count as busy in the next call.
  /// engines  all that may be given tasks, free or busy.
  /// waiting  in the order in which they came. Of each size the oldest ones suffice, as many as
  ///          there are engines.
  GangDecision decide(const std::vector<GangEngine>& engines,
                      const std::vector<WaitingTask>& waiting);

  /// Whether the task fits on these engines when all of them are free. Tasks that do not are passed
  /// by all others.
  static bool can_run(const std::vector<GangEngine>& engines, const WaitingTask& task);

 private:
  class Round;

  Duration patience_;
  std::optional<GangPromise> promise_;
};

}  // namespace px::controller
