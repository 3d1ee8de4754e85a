#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/hub/hub_events.hpp"
#include "controller/journal/journal.hpp"
#include "controller/journal/task_backlog.hpp"
#include "controller/ledger/journal_wait.hpp"
#include "controller/ledger/stand_in_reply.hpp"
#include "controller/scheduler/sent_replies.hpp"
#include "controller/scheduler/stocktaking.hpp"
#include "controller/scheduler/task_queue.hpp"
#include "wire/replay_history.hpp"

namespace px::controller {

/// A balanced task that arrived with a right signature.
struct ArrivedTask {
  SharedFrames frames;              ///< As in TaskRequest.
  std::size_t delimiter_index = 0;  ///< Of `frames`; 0: the hub submitted it.
  MessageId msg_id;
  bool is_cell = false;  ///< See TaskRequest.
  /// Set if it only asks for the answer to an earlier request, which was too long for its client to
  /// keep: the signature of that request.
  std::optional<std::string> asks_for = {};
  EngineUuid given = {};  ///< The engine that an earlier controller gave it to, according to the
                          ///< journal.

  std::string_view signature() const { return frames->at(delimiter_index + 1); }
};

/// An engine's reply to a task, with a right signature.
struct ArrivedReply {
  SharedFrames frames;  ///< [engine, client, delimiter, ...]
  MessageId msg_id;     ///< Id of the task.
  TaskOutcome outcome = TaskOutcome::ok;
  int repetition = 0;  ///< As in AssignTask: the attempt to which it belongs.

  EngineUuid engine() const { return EngineUuid{frames->at(0)}; }
};

/// The final answer to a task.
struct TaskAnswer {
  MessageId msg_id;
  EngineUuid engine;  ///< Empty if it did not run.
  SharedFrames request;
  std::size_t delimiter_index = 0;  ///< Of the request; 0: only the records get the answer.
  SharedFrames reply;               ///< As in TaskFinished.
  TaskOutcome outcome = TaskOutcome::failed;
  bool is_own = false;  ///< Whether the controller made it instead of an engine.
};

/// Reads, sends and records messages for a TaskLedger. The TaskRelay does it with sockets,
/// tests/simulation with a simulated network. The ledger's functions call it, on their thread; it
/// must not call the ledger.
class TaskTransport {
 public:
  virtual ~TaskTransport() = default;

  /// A request from the journal or from a file; nothing if its signature is wrong because it was
  /// changed there.
  virtual std::optional<ArrivedTask> open_request(const SharedFrames& frames) = 0;
  /// Whether the reply in the journal is the one that its engine has sent.
  virtual bool is_right_reply(const Frames& frames) = 0;
  /// errors  bad_input: as read_task_rules().
  virtual Result<TaskRules> rules_of(const ArrivedTask& task) = 0;
  /// The message together with its data in shared memory: see SharedMemory::whole().
  virtual SharedFrames whole(const SharedFrames& frames) = 0;
  /// An answer with this failure: [engine, client, delimiter, ...], or without the engine.
  virtual SharedFrames error_reply(const FailTask& failure) = 0;

  virtual void assign(AssignTask& task) = 0;
  virtual void recall(const RecallTask& task) = 0;
  virtual void interrupt(const InterruptTask& task) = 0;
  /// No process gets this reply: its data in shared memory are removed.
  virtual void drop(const SharedFrames& /*reply*/) {}
  /// Sends an answer to its client and reports it to the records. Returns a separate copy of the
  /// reply, for clients that ask again; null: it must not be sent again.
  virtual SharedFrames answer(TaskAnswer& answer) = 0;
  /// Sends the client of this request a reply that was sent to it before.
  virtual void answer_again(const ArrivedTask& request, const SharedFrames& reply) = 0;
  /// Answers a request with an error that is neither in the journal nor in the records.
  virtual void refuse(const ArrivedTask& request, const Problem& problem) = 0;
  /// Sends a reply to a client of an earlier controller.
  virtual void forward(const SharedFrames& reply) = 0;
  /// The controller is responsible for this task from now on: the ledger's promise holds for it.
  virtual void accepted(const ArrivedTask&) {}
  /// Reports to the records. Returns the result of HubThread::post().
  virtual SharedFrames record(HubEvent event) = 0;
};

/// The life of each balanced task in the controller, from its arrival until its answer was sent:
/// accepted, recorded, placed, answered, recorded, delivered. The TaskQueue decides which engine
/// gets which task, and the Journal records what is promised: an accepted task ends with one
/// answer, its engine's reply or an error, also under a later controller if there is a journal. A
/// second attempt is made only if its client allowed retries, if its engine said that it cannot run
/// it, or if no engine is known to have begun it. The order of answers is not that of requests.
///
/// The places of an unfinished task, in this order; all except the queue are usually empty:
///   arrived_    written into the journal, until that is durable (only with --journal=power).
///   waiting_    in the first seconds after a restart of the controller, until all engines have
///               said which tasks they hold (Stocktaking), or are late.
///   backlog_    in files (long ones in memory), while the queue has as many tasks as it may have,
///               or others wait there already.
///   queue_      from submit() until it is answered: it waits for dependencies or for an engine, or
///               was given to one. Then the EngineLink has its message until that engine's
///               connection takes it, and the queue keeps the request.
///   answered_   the answer is written into the journal, until that is durable (only with
///               --journal=power; not while the disk is in trouble).
///   unknown_    not the task but its reply: it came from an engine before this controller knows
///               of the task, which an earlier one accepted. Until the task is submitted, or, if
///               its client does not send it again, until 2 s after the start, when the client
///               gets it.
/// A journal has a task, unless it is very long, from before it enters the queue until its answer
/// is forgotten. An answer that was delivered is kept for a while in SentReplies, for a client that
/// asks again.
///
/// The TaskRelay owns it, on the I/O thread. Uses no socket and no clock; files only through
/// Journal and TaskBacklog.
class TaskLedger {
 public:
  /// random     for the schemes that choose at random.
  /// stock      the tasks of an earlier controller that engines hold.
  /// journal    records tasks; null: tasks are not recorded.
  /// backlog    keeps tasks for which the queue has no room.
  /// transport  outlives the ledger.
  TaskLedger(const TaskQueueOptions& options, RandomSource random, Stocktaking stock,
             std::unique_ptr<Journal> journal, TaskBacklog backlog, TaskTransport& transport,
             Instant now);

  /// Continues with the tasks that an earlier controller recorded: unfinished ones wait for the
  /// stocktaking, the results of finished ones can be requested again. Call it once, after the
  /// known engines have joined, and before all other functions.
  void restore(Instant now);

  /// A client's request. One that arrived before is not run again: it is answered again, or
  /// continues.
  void requested(ArrivedTask task, Instant now);
  /// A task that the hub submits again for a client; only the records get its answer.
  void resubmitted(ArrivedTask task, Instant now);
  /// An engine answers.
  void replied(ArrivedReply reply, Instant now);
  /// An engine returns a task that was recalled, or one that it has not begun when it ends.
  void given_back(const EngineUuid& engine, const GivenBack& task, Instant now);
  /// Records what requested() and replied() have collected, if there is a journal, and continues
  /// with it. Call it after all messages of a turn were reported, so that they are written
  /// together.
  void commit(Instant now);

  // Membership's reports about engines; see the functions of TaskQueue.
  void engine_placed(const EngineUuid& engine, const WorldPlace& place);
  /// gives_back  see TaskQueue.
  void engine_joined(const EngineUuid& engine, bool gives_back, Instant now);
  /// An engine that an earlier controller knew says which tasks it holds: those are given to it
  /// again and to no other engine.
  /// gives_back  as above: it was unknown when the engine joined.
  void engine_holds(const EngineUuid& engine, const HeldTasks& held, bool gives_back, Instant now);
  void engine_left(const EngineUuid& engine, EngineEnd end, Instant now);
  void engine_silent(const EngineUuid& engine, Instant now);
  void engine_returned(const EngineUuid& engine, Instant now);
  void engine_drained(const EngineUuid& engine, bool is_drained, Instant now);
  void engine_reconnected(const EngineUuid& engine, Instant now);

  /// Does what is due in the queue, moves tasks on from waiting_ and the backlog, and writes
  /// records that may be written late: which engine was given which task.
  void on_time(Instant now);
  /// More of the journal may be on the disk, or the disk may fail: continues with what is due. If
  /// the disk has failed, tasks that it does not have are refused with Overloaded.
  void on_journal(Instant now);
  std::optional<Instant> next_deadline(Instant now) const;
  /// The reason why nothing of the journal has reached the disk for some time, in a sentence;
  /// nothing if there is no problem.
  std::optional<std::string> journal_trouble() const {
    return journal_ ? journal_->trouble() : std::nullopt;
  }

  /// The number of tasks whose answers were not sent yet.
  std::size_t unfinished() const;
  /// The number of tasks for which the queue has no room.
  std::size_t in_backlog() const { return backlog_.size(); }

 private:
  using Answers = std::vector<TaskAnswer>;
  /// After a restart of the controller so much time passes at most until clients have noticed it
  /// and have sent their unanswered tasks again.
  static constexpr Duration return_of_tasks = std::chrono::seconds(30);

  void answer_again(const ArrivedTask& task, std::string_view signature);
  bool is_question_settled(const ArrivedTask& task, bool is_held);
  void write(std::vector<ArrivedTask> tasks, Instant now);
  void begin(ArrivedTask task, Instant now);
  bool must_wait(const ArrivedTask& task) const;
  void put_back(ArrivedTask task);
  void refill(Instant now);
  TaskBacklog::Load load() const;
  void submit_waiting(Instant now);
  void submit(ArrivedTask task, Instant now);
  bool give_up_gang(const ArrivedTask& task, const SharedFrames& frames, TaskRules& rules,
                    const std::vector<EngineUuid>& holders, Instant now);
  void stop_strange_ranks(const EngineUuid& engine, const HeldTasks& held);
  void stop_unclaimed_ranks(Instant now);
  bool is_given_up(const EngineUuid& given, TaskRules& rules, EngineUuid& holder) const;
  bool finish_by_unknown(const ArrivedTask& task, const SharedFrames& frames, Instant now);
  void forward_unknown(Instant now);
  void take_unknown(Instant now);
  void take_unknown_of_gang(const MessageId& msg_id, Instant now);
  void restore_one(ReplayedTask task, Instant now);
  void fail(const ArrivedTask& task, const SharedFrames& frames, const Problem& problem,
            EngineUuid engine = {});
  void perform(TaskEffects effects);
  void collect(TaskEffects effects, Answers& answers);
  void assign(AssignTask& task);
  TaskAnswer failure(FailTask& failed);
  void finish(Answers answers);
  void deliver(TaskAnswer& answer);
  void commit_late();
  void note_journal(const Result<Journal::Ticket>& committed);

  TaskTransport& transport_;
  TaskQueue queue_;
  Stocktaking stock_;
  const std::unique_ptr<Journal> journal_;
  Journal::Ticket written_ = 0;
  bool is_journal_refused_ = false;     // the log says so
  std::vector<ArrivedTask> requested_;  // until commit()
  Answers replied_;                     // the same
  // The places of tasks and answers: see the class.
  JournalWait<ArrivedTask> arrived_;
  JournalWait<Answers> answered_;
  std::vector<ArrivedTask> waiting_;   // until the end of the stocktaking
  TaskBacklog backlog_;                // tasks that arrived after them, or when the queue was full
  std::vector<ArrivedReply> unknown_;  // replies to tasks of an earlier controller
  const Instant clients_are_back_;     // replies of unknown_ are not forwarded before
  bool are_clients_back_ = false;
  const Instant tasks_are_back_;  // their clients have sent them again
  bool are_ranks_claimed_ = false;
  ReplayHistory history_;  // of the requests that arrived: a repeat does not run again
  SentReplies replies_;    // to these requests
};

}  // namespace px::controller
