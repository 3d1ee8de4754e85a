#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "controller/scheduler/dependency.hpp"
#include "controller/scheduler/gang_places.hpp"
#include "controller/scheduler/gang_plan.hpp"
#include "controller/scheduler/given_tasks.hpp"
#include "controller/scheduler/task_digest.hpp"
#include "controller/scheduler/task_failures.hpp"
#include "controller/scheduler/task_request.hpp"
#include "controller/scheduler/worker_list.hpp"
#include "wire/engine_end.hpp"
#include "wire/frames.hpp"
#include "wire/ids.hpp"
#include "wire/recent_map.hpp"
#include "wire/time.hpp"

namespace px::controller {

// The effects that the owner, the TaskLedger, performs in their order.

/// Send this request to the engine.
struct AssignTask {
  MessageId msg_id;
  EngineUuid engine;
  SharedFrames request;
  std::size_t delimiter_index;
  int repetition;  ///< 0: the engine never saw it; otherwise the copy must differ, or it is a
                   ///< replay.
  /// This message was sent before, and may be lost because a connection broke: it is sent again
  /// unchanged, so that the engine recognizes it if it has it, and runs it once.
  bool is_resent = false;
  /// It runs before the engine's queued tasks, and is sent as a repetition.
  bool goes_first = false;
  int failures = 0;  ///< The number of failed attempts before this one.
  /// Of a task of several ranks, whose other ranks are assigned by further effects; null: of one.
  std::shared_ptr<const GangSeats> gang = nullptr;

  /// Whether this is the only engine that gets the task, or rank 0 of those.
  bool is_first_rank() const { return !gang || gang->engines.front() == engine; }
};
/// Send the engine's reply to the client: the task has ended with it.
struct DeliverReply {
  MessageId msg_id;
  EngineUuid engine;
  SharedFrames request;
  std::size_t delimiter_index;  ///< of the request
  SharedFrames reply;
  TaskOutcome outcome;
};
/// Answer the client with an error: the task has ended without a reply.
struct FailTask {
  MessageId msg_id;
  EngineUuid engine;  ///< The engine that died with it; empty if it did not run.
  SharedFrames request;
  std::size_t delimiter_index;
  std::string error_name;   ///< "EngineError", "TaskTimeout" and so on.
  std::string error_value;  ///< A sentence for the user.
};
/// Ask the engine to return a task that it has not begun as far as the queue knows. The engine
/// answers by giving it back, which the owner reports by given_back(), or it has begun the task and
/// sends its reply.
struct RecallTask {
  MessageId msg_id;
  EngineUuid engine;
  int repetition;  ///< As in AssignTask.
};
/// The engine has given the task back: no engine has it any more. The owner records that.
struct TaskReturned {
  MessageId msg_id;
};
/// Stop this task on the engine, whether it runs or waits there: another rank has failed.
struct InterruptTask {
  MessageId msg_id;
  EngineUuid engine;
  bool is_final = false;  ///< The engine gets no further attempt at this task.
};
/// A rank has succeeded with this reply, but its task has failed on another rank: the reply is
/// dropped.
struct DropResult {
  SharedFrames reply;
};
using TaskEffect = std::variant<AssignTask, DeliverReply, FailTask, RecallTask, TaskReturned,
                                InterruptTask, DropResult>;
using TaskEffects = std::vector<TaskEffect>;

/// The defaults are those of pxcontroller, except for `ahead` and max_bytes, which its options set.
struct TaskQueueOptions {
  TaskScheme scheme = TaskScheme::leastload;
  std::size_t hwm = 1;  ///< Outstanding tasks per engine; 0: no limit.
  /// The most further tasks given to an engine that gives them back when another one is free.
  std::size_t ahead = 0;
  /// An engine gets no more ahead than it answers in this time, which is longer than the round trip
  /// of a message.
  Duration ahead_lasts = std::chrono::milliseconds(2);
  /// Only engines whose last task took no longer get tasks ahead; tasks behind a longer one are
  /// recalled.
  Duration quick_task = std::chrono::milliseconds(5);
  /// How long a reply may still arrive after its engine left; after that the task counts as failed.
  Duration engine_grace = std::chrono::seconds(5);
  /// The same for an engine whose process has ended: only messages in transit are awaited.
  Duration last_words_grace = std::chrono::milliseconds(300);
  /// How long a task that failed on all engines waits before it is tried again.
  Duration pause = std::chrono::milliseconds(500);
  /// Of all unfinished tasks together; a task beyond it fails with Overloaded. 0: no limit.
  std::size_t max_bytes = 0;
  /// See GangPlan.
  Duration gang_patience = std::chrono::seconds(2);
  /// See GangRun: longer than the 2 s after which MPI calls that wait for a failed rank are
  /// stopped.
  Duration gang_grace = std::chrono::seconds(3);
  std::size_t gang_communicators = 256;  ///< See GangPlaces.
  /// How long a task waits for one on which it depends and which has not come: its client may be
  /// about to send that one again, after the connection broke on which it was sent.
  Duration unknown_grace = std::chrono::seconds(3);
  std::size_t finished_limit = 65536;  ///< The number of finished tasks on which later tasks may
                                       ///< depend.
};

/// Decides which task runs where and when (protocol 8). It holds each unfinished task, with its
/// request, from submit() until it is answered: while the task waits for its dependencies (parked),
/// for an engine (ready) or for another try after all engines failed (paused), and also while an
/// engine has it, so that it can be given to another one. Earlier tasks are assigned first, as far
/// as their rules allow.
///
/// The owner reports what happens and when, performs the effects that each function returns, and
/// calls on_time() at next_deadline(). The TaskLedger owns it, on the I/O thread. Uses no socket
/// and no clock.
///
/// A task of several ranks waits until the GangPlan has engines for it. While one waits, the plan
/// also decides where other tasks start. It ends when all its engines have replied or left: see
/// GangRun, which says with what. A retry takes all ranks again.
///
/// An engine that leaves is not given up at once: during engine_grace its replies may still arrive
/// (during last_words_grace if its process has ended). After that each of its tasks goes to another
/// engine if it has retries left; otherwise it ends with an EngineError.
///
/// Differences from ipyparallel: a task that failed on every engine may, after a pause, be given to
/// them again while it has retries left; one whose dependencies no engine can meet ends with
/// ImpossibleDependency; an aborted task is not tried again; a task that must follow another to an
/// engine that is gone ends with ImpossibleDependency.
class TaskQueue {
 public:
  /// options  `scheme` is neither pure nor none, which have no queue.
  TaskQueue(const TaskQueueOptions& options, RandomSource random);
  ~TaskQueue();

  /// The engine can be given tasks from now on.
  /// gives_back  whether tasks that it has not begun can be recalled. It may join again to say so.
  TaskEffects engine_joined(const EngineUuid& engine, Instant now, bool gives_back = false);
  /// The engine can run ranks of tasks of several ranks. Reported before engine_joined(), and
  /// forgotten when it leaves.
  void engine_placed(const EngineUuid& engine, const WorldPlace& place) {
    places_.placed(engine, place);
  }
  /// The engine has left: it gets no further tasks, and its tasks are given up after the grace
  /// time.
  TaskEffects engine_left(const EngineUuid& engine, Instant now, EngineEnd end = {});
  /// The engine is not heard, though it may be alive: it gets no further tasks, and its tasks with
  /// retries left go to other engines. The others wait for it.
  TaskEffects engine_silent(const EngineUuid& engine, Instant now);
  /// A silent engine is heard again.
  TaskEffects engine_returned(const EngineUuid& engine, Instant now);
  /// A user wants the engine to get no further tasks, or to get them again. It finishes the tasks
  /// that it has.
  TaskEffects engine_drained(const EngineUuid& engine, bool is_drained, Instant now);
  /// The engine's connection broke and was restored: messages in transit to or from it may be lost.
  /// All tasks that it has are sent again, unchanged.
  TaskEffects engine_reconnected(const EngineUuid& engine, Instant now);
  /// A task arrived. A msg_id that is already in the queue is ignored. If its held_by has joined,
  /// it goes to that engine, and is not refused for lack of room. It ends at once, with FailTask,
  /// if there is no room for it (Overloaded), if it depends on itself (InvalidDependency) or if no
  /// MPI world has as many engines as it has ranks (ImpossibleDependency). If it still waits for an
  /// unknown task when unknown_grace is over, it ends with InvalidDependency.
  /// An attempt of an earlier controller at a task of several ranks (held_gang) continues: all its
  /// engines get the task in the same form, and one that has not come yet begins its rank. An
  /// engine that is not there, or that holds no rank and was given other tasks since, counts as one
  /// that has left.
  /// Precondition: a task of several ranks has no held_by.
  TaskEffects submit(TaskRequest request, Instant now);
  /// An engine's reply arrived. `msg_id`: of the request. Ignored unless that engine has the task.
  /// A failure is final only if no retry is left.
  /// repetition  as in AssignTask: for tasks of several ranks, replies to earlier attempts, which
  ///             engines send again after their connection broke, are ignored.
  TaskEffects reply(std::string_view engine, std::string_view msg_id, TaskOutcome outcome,
                    SharedFrames reply, Instant now, int repetition = 0);
  /// The engine will not run the task that it was given with this repetition: the task waits for an
  /// engine again, which does not count as an attempt. Ignored unless the engine has it with that
  /// repetition.
  TaskEffects given_back(std::string_view engine, std::string_view msg_id, int repetition,
                         Instant now);
  /// The engine is about to leave: it gets no further tasks.
  void engine_ending(const EngineUuid& engine);
  /// A task ended under an earlier controller, or before it arrived here: later ones may depend on
  /// it.
  /// engine  on which it ran; empty: none.
  TaskEffects ended_before(std::string_view msg_id, bool is_ok, const EngineUuid& engine,
                           Instant now);
  /// Until then clients may send again what an earlier controller knew: no task is refused sooner
  /// because it depends on an unknown one.
  void expect_returns(Instant until) { returns_until_ = until; }
  /// Does what is due: timeouts of tasks, the end of pauses and of grace times, recalls from slow
  /// engines.
  TaskEffects on_time(Instant now);
  /// When on_time() has work; nothing if no timer runs.
  std::optional<Instant> next_deadline() const;

  /// Whether the task waits, runs, or is one of the latest that ended.
  bool knows(std::string_view msg_id) const;
  /// Whether the engine was given a rank of this attempt at the task, and has not replied.
  bool runs_rank(const EngineUuid& engine, std::string_view msg_id, int repetition) const;
  /// Whether the engine has joined and not left.
  bool has_engine(const EngineUuid& engine) const { return key_by_uuid_.contains(engine); }

  /// Tasks that wait or run.
  std::size_t size() const { return tasks_.size(); }
  /// The bytes of their requests.
  std::size_t bytes() const { return bytes_; }

 private:
  struct Worker;
  struct Task;
  struct Rules;
  struct Gang;
  using Ready = std::map<std::uint64_t, Task*>;  // by the order of arrival
  struct Group;
  struct Ended {
    TaskDigest digest;
    FinishedTask task;
  };
  enum class Place { nowhere, parked, ready, paused, running };

  // the life of a task
  void settle(Task& task);
  void assign(Task& task, WorkerKey worker);
  void hand_back(Task& task, const TaskRules& rules, WorkerKey holder);
  void fail(Task& task, std::string_view name, std::string value, EngineUuid engine = {});
  static WaitingFor waiting_for(const Task& task);
  void end(Task& task, FinishedTask result);
  void note_end(const TaskDigest& digest, FinishedTask result);
  void refuse_overload(Task& task);
  void attempt_ended(Task& task, bool is_unmet);
  void let_first_pass(const std::vector<Task*>& lost);
  std::vector<Task*> running_on(WorkerKey worker) const;
  void withdraw(Task& task);
  AssignTask assignment(const Task& task, WorkerKey worker) const;
  Rules& rules_of(Task& task);
  bool watch_dependencies(Task& task, const TaskRules& rules);
  const std::string* unknown_dependency(const Rules& rules) const;
  void forget_dependent(const TaskDigest& digest, std::uint64_t order);
  void wake_dependents();

  // where a task may run
  TaskVerdict find_restriction(Task& task, Restriction& restriction);
  TaskVerdict find_allowed(const Task& task, Restriction& allowed) const;
  Restriction without(Restriction allowed, const std::vector<WorkerKey>& excluded) const;

  // tasks of several ranks
  struct GangGroup {
    std::size_t least;
    Restriction restriction;
    auto operator<=>(const GangGroup&) const = default;
  };
  bool has_possible_ranks(Task& task, const TaskRules& rules);
  void settle_gang(Task& task);
  void leave_gangs(const Task& task);
  std::vector<GangEngine> gang_engines(bool with_unavailable) const;
  std::size_t largest_gang(const Restriction& restriction) const;
  std::vector<WaitingTask> waiting_tasks(std::size_t of_each,
                                         std::unordered_map<std::uint64_t, Task*>& by_order) const;
  void start_gangs();
  void assign_gang(Task& task, const std::vector<WorkerKey>& workers);
  void hand_back_gang(Task& task, const TaskRules& rules, const HeldGang& held);
  void begin_gang(Task& task, GangSeats seats, std::vector<WorkerKey> members);
  std::optional<WorkerKey> running_member(const Task& task, std::string_view engine) const;
  void gang_replied(Task& task, std::string_view engine, TaskOutcome outcome, SharedFrames reply);
  void gang_given_back(Task& task, std::string_view engine);
  void gang_left(Task& task, WorkerKey worker, const EngineEnd& end);
  void after_gang_news(Task& task);
  void finish_gang(Task& task);
  void interrupt_failed_gangs();

  // what is given ahead
  bool gives_ahead() const { return options_.ahead > 0 && options_.hwm > 0; }
  std::optional<WorkerKey> find_worker(const Task& task, const Restriction& restriction) const;
  int repetition_of(const Task& task) const;
  static bool is_copy_for(WorkerKey worker, const Rules& rules);
  void recall(const GivenTasks::Ahead& ahead);
  bool can_move(const Task& task) const;
  void recall_for_free_engines();
  void recall_from_slow_engines();
  void recall_again(WorkerKey worker);

  // the place where a task waits
  static void compact(Task& task);
  void park(Task& task, Place place);
  void make_ready(Task& task, const Restriction& restriction);
  void unpark(Task& task);
  void fill(WorkerKey worker);
  Group* oldest_group(WorkerKey worker);
  void link(Group& group);
  void unlink(Group& group);
  void settle_restricted();
  void start_timer(Task& task);

  TaskEffects finish_event();

  TaskQueueOptions options_;
  WorkerList workers_;
  GivenTasks given_;
  WorkerKey last_key_ = 0;
  std::uint64_t last_order_ = 0;
  std::size_t bytes_ = 0;
  Instant now_{};
  std::unordered_map<WorkerKey, std::unique_ptr<Worker>> worker_by_key_;  // including the dying
                                                                          // ones
  std::unordered_map<EngineUuid, WorkerKey, StringIdHash, StringIdEqual> key_by_uuid_;
  std::unordered_map<std::string_view, std::unique_ptr<Task>> tasks_;  // by their own msg_id
  std::map<std::uint64_t, Task*> restricted_;  // all tasks with rules, waiting or running
  std::map<Restriction, std::unique_ptr<Group>> groups_;
  std::set<Group*> open_groups_;  // groups that do not list their engines, but may exclude some
  Group* plain_ = nullptr;
  GangPlaces places_;
  GangPlan plan_;
  std::map<GangGroup, Ready> waiting_gangs_;
  bool plans_gangs_ = false;                     // waiting_gangs_ has had tasks since start_gangs()
  std::map<std::uint64_t, Task*> failed_gangs_;  // running, after a failure of one of their ranks
  std::set<std::pair<Instant, std::uint64_t>> timers_;  // by order of arrival, of restricted_
  std::set<std::pair<Instant, WorkerKey>> dying_;
  /// Later ones may depend on them; a dependency on what is forgotten is invalid.
  RecentMap<TaskDigest, FinishedTask, TaskDigestHash> finished_;
  std::unordered_map<TaskDigest, std::vector<std::uint64_t>, TaskDigestHash> dependents_;
  std::vector<Ended> ended_;
  Instant returns_until_{};
  TaskEffects effects_;
};

}  // namespace px::controller
