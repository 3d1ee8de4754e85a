#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/journal/journal.hpp"
#include "controller/journal/task_backlog.hpp"
#include "controller/relay/client_link.hpp"
#include "controller/relay/engine_link.hpp"
#include "controller/relay/relay_context.hpp"
#include "controller/scheduler/sent_replies.hpp"
#include "controller/scheduler/stocktaking.hpp"
#include "controller/scheduler/task_queue.hpp"
#include "net/socket.hpp"
#include "wire/replay_history.hpp"

namespace px::controller {

/// The channel of load-balanced tasks: receives requests and replies, has the TaskQueue decide
/// which engine gets which task, and does what it says: sends, writes into the journal, answers,
/// tells the hub. What is promised: a task that was accepted ends with one answer, its engine's
/// reply or an error, under a later controller too if there is a journal. A second attempt follows
/// only if its client allowed retries, if its engine said that it cannot run it, or if no engine
/// has begun it as far as is known here. The order of answers is not that of requests.
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
/// The I/O thread owns it. With the schemes `pure` and `none` the server makes one as well, and
/// tells it of no engine.
class TaskRelay {
 public:
  /// shared, client, engines  outlive it.
  /// random   for the schemes that draw lots.
  /// stock    what the engines have in hand of an earlier controller.
  /// journal  where tasks are written down; null: nowhere.
  /// backlog  where tasks wait that the queue has no room for.
  TaskRelay(RelayContext& shared, const TaskQueueOptions& options, RandomSource random,
            ClientLink& client, EngineLink& engines, Stocktaking stock,
            std::unique_ptr<Journal> journal, TaskBacklog backlog);

  /// Goes on with what an earlier controller wrote down: unfinished tasks wait for the stocktaking,
  /// finished ones can be asked for again. A record whose signature is wrong is dropped and
  /// counted. Call it once, when those of its engines that are known have joined, and before
  /// anything is received.
  void restore();
  /// The clients' socket, or the engines', is readable: takes up to messages_per_turn. What is
  /// taken in one turn is written to the journal together.
  void receive_requests();
  void receive_replies();

  // What Membership tells of engines; see the functions of TaskQueue.
  /// gives_back  see TaskQueue.
  void engine_joined(const EngineUuid& engine, bool gives_back);
  /// An engine that an earlier controller knew says which tasks it has in hand: those are handed to
  /// it again and not to another one.
  /// gives_back  as above: it was not known when the engine joined.
  void engine_holds(const EngineUuid& engine, const HeldTasks& held, bool gives_back);
  void engine_left(const EngineUuid& engine, EngineEnd end = {});
  void engine_silent(const EngineUuid& engine);
  void engine_returned(const EngineUuid& engine);
  void engine_reconnected(const EngineUuid& engine);
  /// A task that the hub submits anew for a client (resubmit_request): [delimiter, ...], signed.
  /// Only the hub's records get its answer.
  void resubmit(SharedFrames frames);
  /// Does what is due in the queue, moves tasks on from waiting_ and the backlog, and writes what
  /// may be written late: which engine was given what.
  void on_time(Instant now);
  /// More of the journal may be on the disk, or the disk may be in trouble: passes on what is due.
  /// If the disk has failed, tasks that it does not have are refused as Overloaded.
  void on_journal();
  /// Why nothing of the journal has reached the disk for a while, in a sentence; nothing: all is
  /// well.
  std::optional<std::string> journal_trouble() const {
    return journal_ ? journal_->trouble() : std::nullopt;
  }
  std::optional<Instant> next_deadline() const;

 private:
  /// The final answer to a task.
  struct Answer {
    MessageId msg_id;
    EngineUuid engine;  ///< Empty where it did not run.
    SharedFrames request;
    std::size_t delimiter_index;  ///< Of the request.
    SharedFrames reply;           ///< As in TaskFinished.
    TaskOutcome outcome = TaskOutcome::failed;
    bool is_own = false;  ///< It was made here, in the place of a reply.
  };
  using Answers = std::vector<Answer>;
  /// A request, verified.
  struct Request {
    SharedFrames frames;
    MessageId msg_id;
    bool is_question = false;  ///< See answer_question().
    bool is_cell = false;      ///< See TaskRequest.
    EngineUuid given = {};     ///< Who was given it, by the journal.
  };
  /// What is to happen once the journal is on the disk.
  template <class What>
  struct Held {
    Journal::Ticket ticket;
    What what;
  };

  void answer_again(const Frames& frames, const Envelope& envelope, std::string_view signature);
  bool answer_question(const Frames& frames, const Envelope& envelope, const MessageId& msg_id,
                       bool is_held);
  Request read(const SharedFrames& frames, const Envelope& envelope) const;
  void tell_lost(const Frames& frames, const Envelope& envelope, const std::string& error_name,
                 const std::string& sentence);
  void accept(std::vector<Request> requests);
  void begin(Request request);
  bool must_wait(const Request& request) const;
  void put_back(Request request);
  void refill();
  TaskBacklog::Load load() const;
  void submit_waiting();
  void forward_unknown();
  void take_unknown();
  bool finish_by_unknown(const MessageId& msg_id, const SharedFrames& request,
                         const Envelope& envelope);
  void restore_one(ReplayedTask task);
  void submit(Request request);
  bool is_given_up(const EngineUuid& given, TaskRules& rules, EngineUuid& holder);
  void refuse(const SharedFrames& frames, const Envelope& envelope, MessageId msg_id,
              const std::string& error_name, const std::string& why, EngineUuid engine = {});
  void perform(TaskEffects effects);
  void collect(TaskEffects effects, Answers& answers);
  void finish(Answers answers);
  void deliver(Answer& answer);
  void take_reply(const SharedFrames& frames, const MessageId& parent, TaskOutcome outcome,
                  Answers& answers);
  void take_back(const Frames& frames, const Envelope& envelope);
  void recall(const RecallTask& effect);
  void assign(AssignTask& effect);
  void assign_again(const AssignTask& effect, const Envelope& envelope, std::string_view client);
  Answer failure(FailTask& effect) const;
  void commit_journal();
  void tell_of_journal(const Result<Journal::Ticket>& committed);
  RelayContext& shared_;
  TaskQueue queue_;
  Stocktaking stock_;
  std::unique_ptr<Journal> journal_;  // null: there is none
  Journal::Ticket written_ = 0;
  bool is_journal_refused_ = false;  // the log says so
  // Where tasks and answers lie: see the class.
  std::deque<Held<Request>> arrived_;
  std::deque<Held<Answers>> answered_;
  std::vector<Request> waiting_;       // for the end of the stocktaking
  TaskBacklog backlog_;                // what came behind them, or behind a full queue
  std::vector<SharedFrames> unknown_;  // replies to what an earlier controller was asked for
  Instant clients_are_back_;  // until then replies of unknown_ are not forwarded
  bool are_clients_back_ = false;
  ClientLink& client_;
  EngineLink& engines_;
  ReplayHistory history_;  // of the requests that came: a repeat does not run again
  SentReplies replies_;    // to them
};

}  // namespace px::controller
