#pragma once

#include <optional>
#include <vector>

#include "controller/scheduler/task_digest.hpp"
#include "controller/scheduler/task_request.hpp"
#include "wire/frames.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// One attempt at a task on several engines, from when they were given it until each of them has
/// replied or left. Decides what the attempt ends with, and which engines are to be interrupted
/// because another one has failed. Sees no socket and no clock.
class GangRun {
 public:
  /// The result of an attempt.
  struct End {
    TaskOutcome outcome = TaskOutcome::ok;
    WorkerKey worker = 0;  ///< Whose reply it is, or the engine that has left.
    SharedFrames reply;    ///< Null: it has left.
  };

  /// members  in the order of their ranks in the gang, one at least.
  /// grace    so long after the first failure the others may go on: longer than ranks wait in MPI
  ///          for one that has failed, so that their errors name it.
  GangRun(std::vector<WorkerKey> members, Duration grace);

  /// An engine of the gang has replied; it is free. A second reply changes nothing.
  /// outcome  any but given_back.
  void replied(WorkerKey worker, TaskOutcome outcome, SharedFrames reply, Instant now);
  /// An engine has left without a reply, and none is to be expected any more.
  void left(WorkerKey worker, Instant now);

  /// The engines that have neither replied nor left, by rank.
  std::vector<WorkerKey> running() const;
  bool is_over() const { return running().empty(); }
  /// The engines to interrupt, as others have failed. It names them again after each further
  /// `grace`, because an interrupt may be lost, or arrive before the task.
  std::vector<WorkerKey> take_overdue(Instant now);
  /// When take_overdue() next has some.
  std::optional<Instant> next_deadline() const;

  /// Precondition: is_over(). In this order: the first engine that has left, the first one whose
  /// outcome was not ok, the one of rank 0. Ranks that wait for a failed one fail later than that.
  const End& end() const;
  /// The replies of ranks that have succeeded. Precondition: is_over().
  std::vector<SharedFrames> take_results();

 private:
  struct Member {
    WorkerKey worker;
    std::optional<End> end;
  };
  void ended(WorkerKey worker, End end, Instant now);

  std::vector<Member> members_;
  const Duration grace_;
  std::optional<Instant> failed_at_;  // until the others were interrupted
  WorkerKey first_failed_ = 0, first_left_ = 0;
};

}  // namespace px::controller
