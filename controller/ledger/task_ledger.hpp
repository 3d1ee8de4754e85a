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

/// A balanced task that came, its signature right.
struct ArrivedTask {
  SharedFrames frames;              ///< As in TaskRequest.
  std::size_t delimiter_index = 0;  ///< Of `frames`; 0: it is the hub's own.
  MessageId msg_id;
  bool is_cell = false;  ///< See TaskRequest.
  /// It only asks for the answer to an earlier request, which was too long for its client to keep:
  /// the signature of that one.
  std::optional<std::string> asks_for = {};
  EngineUuid given = {};  ///< Who was given it by an earlier controller, as the journal says.

  std::string_view signature() const { return frames->at(delimiter_index + 1); }
};

/// An engine's reply to a task, its signature right.
struct ArrivedReply {
  SharedFrames frames;  ///< [engine, client, delimiter, ...]
  MessageId msg_id;     ///< Of the task.
  TaskOutcome outcome = TaskOutcome::ok;

  EngineUuid engine() const { return EngineUuid{frames->at(0)}; }
};

/// The final answer to a task.
struct TaskAnswer {
  MessageId msg_id;
  EngineUuid engine;  ///< Empty where it did not run.
  SharedFrames request;
  std::size_t delimiter_index = 0;  ///< Of the request; 0: only the records get the answer.
  SharedFrames reply;               ///< As in TaskFinished.
  TaskOutcome outcome = TaskOutcome::failed;
  bool is_own = false;  ///< It was made by the controller, in the place of a reply.
};

/// Reads, sends and records messages for a TaskLedger. The TaskRelay does it with sockets, and
/// tests/simulation with a network of its own. The ledger's functions call it, on their thread; it
/// must not call the ledger.
class TaskTransport {
 public:
  virtual ~TaskTransport() = default;

  /// A request as it lies in the journal or in a file; nothing where its signature is not right: it
  /// was changed there.
  virtual std::optional<ArrivedTask> open_request(const SharedFrames& frames) = 0;
  /// Whether the reply of the journal is as its engine has sent it.
  virtual bool is_right_reply(const Frames& frames) = 0;
  /// errors  bad_input: as read_task_rules().
  virtual Result<TaskRules> rules_of(const ArrivedTask& task) = 0;
  /// The message with what it names in shared memory: see SharedMemory::whole().
  virtual SharedFrames whole(const SharedFrames& frames) = 0;
  /// The answer that says this failure: [engine, client, delimiter, ...], or without the engine.
  virtual SharedFrames error_reply(const FailTask& failure) = 0;

  virtual void assign(AssignTask& task) = 0;
  virtual void recall(const RecallTask& task) = 0;
  /// Sends an answer to its client and tells the records. Returns the reply in memory of its own,
  /// for the client that asks again; null: it is not to be sent again.
  virtual SharedFrames answer(TaskAnswer& answer) = 0;
  /// Sends the client of this request a reply that it was sent before.
  virtual void answer_again(const ArrivedTask& request, const SharedFrames& reply) = 0;
  /// Answers a request by an error that is neither written down nor recorded.
  virtual void refuse(const ArrivedTask& request, const Problem& problem) = 0;
  /// Sends a reply to a client that an earlier controller knew.
  virtual void forward(const SharedFrames& reply) = 0;
  /// The controller answers for this task from now on: what was promised for it holds.
  virtual void accepted(const ArrivedTask&) {}
  /// Tells the records. Returns what HubThread::post() does.
  virtual SharedFrames record(HubEvent event) = 0;
};

/// The life of each balanced task in the controller, from the moment in which it came until its
/// answer was sent: accepted, written, placed, answered, written, delivered. It has the TaskQueue
/// decide which engine gets which task, and the Journal write down what is promised. What is
/// promised: a task that was accepted ends with one answer, its engine's reply or an error, under a
/// later controller too if there is a journal. A second attempt follows only if its client allowed
/// retries, if its engine said that it cannot run it, or if no engine has begun it as far as is
/// known here. The order of answers is not that of requests.
///
/// Where an unfinished task lies, in this order; each place but the queue is mostly empty:
///   arrived_    written into the journal, until that is durable (only with --journal=power).
///   waiting_    in the first seconds of a controller that follows another one, until all of its
///               engines have said which tasks they hold (Stocktaking), or are late.
///   backlog_    in files (long ones in memory), while the queue has as many tasks as it may have,
///               or others wait there already.
///   queue_      from submit() until it is answered: it waits for dependencies or for an engine, or
///               was given to one. Then the EngineLink has its message until that engine's
///               connection takes it, and the queue keeps the request.
///   answered_   the answer is written into the journal, until that is durable (only with
///               --journal=power; not while the disk is in trouble).
///   unknown_    not the task but its reply: it came from an engine before this controller knows
///               that an earlier one was asked for the task. Until the task is submitted, or, if
///               its client does not send it again, for 2 s after the start; then it goes to the
///               client.
/// A journal has a task, unless it is very long, from before it enters the queue until its answer
/// is forgotten. An answer that was delivered is kept for a while in SentReplies, for a client that
/// asks again.
///
/// The TaskRelay owns it, on the I/O thread. Sees no socket and no clock; files only behind Journal
/// and TaskBacklog.
class TaskLedger {
 public:
  /// random     for the schemes that draw lots.
  /// stock      what the engines have in hand of an earlier controller.
  /// journal    where tasks are written down; null: nowhere.
  /// backlog    where tasks wait that the queue has no room for.
  /// transport  outlives the ledger.
  TaskLedger(const TaskQueueOptions& options, RandomSource random, Stocktaking stock,
             std::unique_ptr<Journal> journal, TaskBacklog backlog, TaskTransport& transport,
             Instant now);

  /// Goes on with what an earlier controller wrote down: unfinished tasks wait for the stocktaking,
  /// finished ones can be asked for again. Call it once, when those of its engines that are known
  /// have joined, and before all else.
  void restore(Instant now);

  /// A client asks. A request that came before is not run again: it is answered again, or goes on.
  void requested(ArrivedTask task, Instant now);
  /// A task that the hub submits anew for a client; only the records get its answer.
  void resubmitted(ArrivedTask task, Instant now);
  /// An engine answers.
  void replied(ArrivedReply reply, Instant now);
  /// An engine gives back what it was recalled for, or has not begun as it ends.
  void given_back(const EngineUuid& engine, const GivenBack& task, Instant now);
  /// Writes what requested() and replied() have put aside where there is a journal, and goes on
  /// with it. To be called when all messages of a turn were told, so that they are written
  /// together.
  void commit(Instant now);

  // What Membership tells of engines; see the functions of TaskQueue.
  /// gives_back  see TaskQueue.
  void engine_joined(const EngineUuid& engine, bool gives_back, Instant now);
  /// An engine that an earlier controller knew says which tasks it has in hand: those are handed to
  /// it again and not to another one.
  /// gives_back  as above: it was not known when the engine joined.
  void engine_holds(const EngineUuid& engine, const HeldTasks& held, bool gives_back, Instant now);
  void engine_left(const EngineUuid& engine, EngineEnd end, Instant now);
  void engine_silent(const EngineUuid& engine, Instant now);
  void engine_returned(const EngineUuid& engine, Instant now);
  void engine_drained(const EngineUuid& engine, bool is_drained, Instant now);
  void engine_reconnected(const EngineUuid& engine, Instant now);

  /// Does what is due in the queue, moves tasks on from waiting_ and the backlog, and writes what
  /// may be written late: which engine was given what.
  void on_time(Instant now);
  /// More of the journal may be on the disk, or the disk may be in trouble: goes on with what is
  /// due. If the disk has failed, tasks that it does not have are refused as Overloaded.
  void on_journal(Instant now);
  std::optional<Instant> next_deadline(Instant now) const;
  /// Why nothing of the journal has reached the disk for a while, in a sentence; nothing: all is
  /// well.
  std::optional<std::string> journal_trouble() const {
    return journal_ ? journal_->trouble() : std::nullopt;
  }

  /// Tasks whose answers were not sent yet, wherever they lie.
  std::size_t unfinished() const;
  /// Those of them that the queue has no room for.
  std::size_t in_backlog() const { return backlog_.size(); }

 private:
  using Answers = std::vector<TaskAnswer>;

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
  bool is_given_up(const EngineUuid& given, TaskRules& rules, EngineUuid& holder) const;
  bool finish_by_unknown(const ArrivedTask& task, const SharedFrames& frames);
  void forward_unknown(Instant now);
  void take_unknown(Instant now);
  void restore_one(ReplayedTask task);
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
  // Where tasks and answers lie: see the class.
  JournalWait<ArrivedTask> arrived_;
  JournalWait<Answers> answered_;
  std::vector<ArrivedTask> waiting_;   // for the end of the stocktaking
  TaskBacklog backlog_;                // what came behind them, or behind a full queue
  std::vector<ArrivedReply> unknown_;  // to what an earlier controller was asked for
  const Instant clients_are_back_;     // until then replies of unknown_ are not forwarded
  bool are_clients_back_ = false;
  ReplayHistory history_;  // of the requests that came: a repeat does not run again
  SentReplies replies_;    // to them
};

}  // namespace px::controller
