#include "controller/ledger/task_ledger.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "wire/time.hpp"

namespace px::controller {
namespace {

/// After the start of a controller so much time passes until clients of an earlier one have all
/// their connections again. What is sent to them before that is lost.
constexpr Duration return_of_clients = std::chrono::seconds(2);
/// So many tasks at most go from the backlog to the queue in one turn.
constexpr int refilled_per_turn = 256;

}  // namespace

TaskLedger::TaskLedger(const TaskQueueOptions& options, RandomSource random, Stocktaking stock,
                       std::unique_ptr<Journal> journal, TaskBacklog backlog,
                       TaskTransport& transport, Instant now)
    : transport_(transport),
      queue_(options, std::move(random)),
      stock_(std::move(stock)),
      journal_(std::move(journal)),
      backlog_(std::move(backlog)),
      clients_are_back_(now + return_of_clients),
      tasks_are_back_(now + return_of_tasks),
      are_ranks_claimed_(!stock_.has_predecessor()) {
  if (stock_.has_predecessor()) queue_.expect_returns(tasks_are_back_);
}

// ---------------------------------------------------------------- accepted, written

void TaskLedger::requested(ArrivedTask task, Instant now) {
  const std::string_view signature = task.signature();
  if (!history_.is_new(signature) || replies_.was_answered(signature))
    answer_again(task, signature);
  else if (journal_)
    requested_.push_back(std::move(task));
  else
    begin(std::move(task), now);
}

void TaskLedger::resubmitted(ArrivedTask task, Instant now) {
  if (!journal_) return begin(std::move(task), now);
  requested_.push_back(std::move(task));
  commit(now);
}

void TaskLedger::commit(Instant now) {
  finish(std::exchange(replied_, {}));
  write(std::exchange(requested_, {}), now);
}

/// A client whose connection broke does not know whether its request came, nor whether the reply
/// was lost.
/// signature  of the request.
void TaskLedger::answer_again(const ArrivedTask& task, std::string_view signature) {
  if (const SharedFrames reply = replies_.find(signature))
    transport_.answer_again(task, reply);
  else if (replies_.was_answered(signature))
    transport_.refuse(
        task, {"ResultLost",
               "the request was done, but its reply was lost in transit: the controller keeps "
               "only short and recent replies to send them again; fetch it with "
               "get_result(msg_ids)"});
  // else it waits or runs
}

/// Precondition: the task asks for the answer to another one.
/// is_held  an engine holds that one.
bool TaskLedger::is_question_settled(const ArrivedTask& task, bool is_held) {
  if (replies_.was_answered(*task.asks_for))
    answer_again(task, *task.asks_for);
  else if (is_held)
    return false;
  else if (!queue_.knows(task.msg_id.text))
    transport_.refuse(task, {"ConnectionLost",
                             "the request was lost in transit to the controller and is longer "
                             "than 1 MiB, so it is not sent again automatically: send it again"});
  return true;
}

/// What is accepted is written down first. Precondition: there is a journal, or no task.
void TaskLedger::write(std::vector<ArrivedTask> tasks, Instant now) {
  if (tasks.empty()) return;
  for (const ArrivedTask& each : tasks)
    if (!each.asks_for) journal_->submitted(each.msg_id, *transport_.whole(each.frames));
  const Result<Journal::Ticket> ticket = journal_->commit();
  note_journal(ticket);
  for (ArrivedTask& each : tasks) {
    if (!ticket && !each.asks_for) {
      transport_.record(TaskSubmitted{each.msg_id, each.frames});
      fail(each, each.frames, {"Overloaded", ticket.error().what});
    } else if (!ticket || (arrived_.empty() && journal_->is_durable(*ticket))) {
      begin(std::move(each), now);
    } else {
      arrived_.push(*ticket, std::move(each));
    }
  }
}

void TaskLedger::begin(ArrivedTask task, Instant now) {
  transport_.accepted(task);
  const bool is_stock_done = stock_.is_done(now);
  if (is_stock_done) submit_waiting(now);  // an engine may have left just now: they came before
  if (must_wait(task))
    put_back(std::move(task));
  else if (is_stock_done)
    submit(std::move(task), now);
  else
    waiting_.push_back(std::move(task));
}

/// Once when it begins and once when it is over.
void TaskLedger::note_journal(const Result<Journal::Ticket>& committed) {
  if (committed && std::exchange(written_, *committed) == *committed) return;  // nothing was to be
  if (is_journal_refused_ != committed.has_value()) return;
  is_journal_refused_ = !committed;
  if (committed)
    spdlog::warn("the journal of tasks is written again");
  else
    spdlog::error("{}", committed.error().what);
}

void TaskLedger::on_journal(Instant now) {
  if (!journal_) return;
  const auto is_due = [this](Journal::Ticket ticket) {
    return journal_->failure() || journal_->is_durable(ticket);
  };
  while (auto arrived = arrived_.pop(is_due)) {
    if (journal_->is_durable(arrived->ticket))
      begin(std::move(arrived->what), now);
    else
      write({std::move(arrived->what)}, now);  // the disk has failed: it is refused
  }
  // As where the disk is full: what is answered waits for no disk that is in trouble.
  const auto may_go = [&](Journal::Ticket ticket) { return is_due(ticket) || journal_->trouble(); };
  while (auto answered = answered_.pop(may_go))
    for (TaskAnswer& answer : answered->what) deliver(answer);
}

// ---------------------------------------------------------------- placed

TaskBacklog::Load TaskLedger::load() const {
  return {queue_.size() + waiting_.size(), queue_.bytes()};
}

/// Not what an engine may have, nor what is there already.
bool TaskLedger::must_wait(const ArrivedTask& task) const {
  const std::string_view msg_id = task.msg_id.text;
  if (backlog_.knows(msg_id)) return true;
  return backlog_.takes(load()) && !task.asks_for && task.given.empty() &&
         !stock_.is_held(msg_id) && !queue_.knows(msg_id);
}

void TaskLedger::put_back(ArrivedTask task) {
  if (backlog_.knows(task.msg_id.text)) return;
  // What lies in shared memory is not to be copied.
  const bool may_write = transport_.whole(task.frames) == task.frames;
  const Result<void> put = backlog_.push({task.msg_id, task.frames}, may_write, load());
  if (put) return;
  transport_.record(TaskSubmitted{task.msg_id, task.frames});
  fail(task, task.frames, {"Overloaded", put.error().what});
}

/// As many of those that wait as the queue has room for, and no more than others can wait for.
void TaskLedger::refill(Instant now) {
  if (backlog_.empty() || !stock_.is_done(now)) return;
  for (int i = 0; i < refilled_per_turn; ++i) {
    auto next = backlog_.pop(load(), now);
    if (!next) break;
    // It came twice while nothing was given out, and the other one did not wait here.
    if (queue_.knows(next->msg_id.text)) continue;
    if (auto task = transport_.open_request(next->frames)) submit(std::move(*task), now);
  }
  if (!unknown_.empty()) take_unknown(now);
}

void TaskLedger::submit_waiting(Instant now) {
  if (waiting_.empty() || !stock_.is_done(now)) return;
  // First those that have engines, so that nothing else is given to these before.
  std::stable_partition(waiting_.begin(), waiting_.end(), [this](const ArrivedTask& each) {
    return stock_.gang_of(each.msg_id.text) != nullptr;
  });
  for (ArrivedTask& each : std::exchange(waiting_, {})) submit(std::move(each), now);
  take_unknown(now);
  refill(now);
}

void TaskLedger::submit(ArrivedTask task, Instant now) {
  Result<TaskRules> rules = transport_.rules_of(task);
  const std::vector<EngineUuid> holders = stock_.holders_of(task.msg_id.text);
  std::shared_ptr<const HeldGang> gang = stock_.gang_of(task.msg_id.text);
  EngineUuid holder = stock_.take_holder(task.msg_id.text, task.given);
  if (task.asks_for && is_question_settled(task, !holder.empty())) return;
  const SharedFrames frames = transport_.whole(task.frames);
  SharedFrames kept = transport_.record(TaskSubmitted{task.msg_id, frames});
  if (!rules) return fail(task, frames, {"ValueError", rules.error().what});
  // They were met when the earlier controller gave it to an engine.
  if (!task.given.empty()) rules->after = {};
  const bool is_gang = rules->ranks.most > 1;
  if (!is_gang) gang = nullptr;
  if (!is_gang && finish_by_unknown(task, frames, now)) return;
  if (is_gang && !gang && give_up_gang(task, frames, *rules, holders, now)) return;
  const EngineUuid& given = task.given;
  if (!is_gang && !given.empty() && holder.empty() && is_given_up(given, *rules, holder)) {
    // Its reply may still be on its way.
    perform(queue_.ended_before(task.msg_id.text, false, given, now));
    return fail(task, frames,
                {"EngineError", "engine '" + given.text +
                                    "' had this task when the controller ended, and did not come "
                                    "back to the restarted controller"},
                given);
  }
  if (is_gang) holder = {};
  const bool continues = gang != nullptr;
  perform(queue_.submit({task.msg_id, frames, task.delimiter_index, std::move(*rules),
                         std::move(holder), std::move(kept), task.is_cell, std::move(gang)},
                        now));
  if (continues) take_unknown_of_gang(task.msg_id, now);
}

// ---------------------------------------------------------------- engines, time

void TaskLedger::engine_placed(const EngineUuid& engine, const WorldPlace& place) {
  queue_.engine_placed(engine, place);
}

void TaskLedger::engine_joined(const EngineUuid& engine, bool gives_back, Instant now) {
  perform(queue_.engine_joined(engine, now, gives_back));
  stock_.joined(engine);
  submit_waiting(now);
}

void TaskLedger::engine_holds(const EngineUuid& engine, const HeldTasks& held, bool gives_back,
                              Instant now) {
  stock_.reported(engine, held);
  stop_strange_ranks(engine, held);
  if (queue_.has_engine(engine)) perform(queue_.engine_joined(engine, now, gives_back));
  submit_waiting(now);
}

void TaskLedger::engine_left(const EngineUuid& engine, EngineEnd end, Instant now) {
  stock_.left(engine);
  perform(queue_.engine_left(engine, now, std::move(end)));
}

void TaskLedger::engine_silent(const EngineUuid& engine, Instant now) {
  perform(queue_.engine_silent(engine, now));
}

void TaskLedger::engine_returned(const EngineUuid& engine, Instant now) {
  perform(queue_.engine_returned(engine, now));
}

void TaskLedger::engine_drained(const EngineUuid& engine, bool is_drained, Instant now) {
  perform(queue_.engine_drained(engine, is_drained, now));
}

void TaskLedger::engine_reconnected(const EngineUuid& engine, Instant now) {
  perform(queue_.engine_reconnected(engine, now));
}

void TaskLedger::on_time(Instant now) {
  perform(queue_.on_time(now));
  submit_waiting(now);
  refill(now);
  forward_unknown(now);
  stop_unclaimed_ranks(now);
  commit_late();
}

/// Which engine was given what, and what went wrong into the log.
void TaskLedger::commit_late() {
  for (const std::string& error : backlog_.take_errors()) spdlog::error("{}", error);
  if (!journal_) return;
  note_journal(journal_->commit());
  for (const std::string& error : journal_->take_errors()) spdlog::error("the journal: {}", error);
}

std::optional<Instant> TaskLedger::next_deadline(Instant now) const {
  std::optional<Instant> next = queue_.next_deadline();
  if (!waiting_.empty()) next = earlier(next, stock_.deadline());
  if (!backlog_.empty())
    next = earlier(next, stock_.is_done(now) ? backlog_.next_deadline(load()) : stock_.deadline());
  if (!unknown_.empty() && waiting_.empty() && !are_clients_back_)
    next = earlier(next, clients_are_back_);
  if (!are_ranks_claimed_) next = earlier(next, tasks_are_back_);
  return next;
}

std::size_t TaskLedger::unfinished() const {
  return queue_.size() + waiting_.size() + backlog_.size() + arrived_.size() + answered_.size();
}

// ---------------------------------------------------------------- answered, written, delivered

void TaskLedger::replied(ArrivedReply reply, Instant now) {
  if (!queue_.knows(reply.msg_id.text)) unknown_.push_back(reply);
  collect(queue_.reply(reply.frames->at(0), reply.msg_id.text, reply.outcome, reply.frames, now,
                       reply.repetition),
          replied_);
  if (!journal_) finish(std::exchange(replied_, {}));
}

void TaskLedger::given_back(const EngineUuid& engine, const GivenBack& task, Instant now) {
  if (task.is_ending) queue_.engine_ending(engine);
  perform(queue_.given_back(engine.text, task.msg_id.text, task.repetition, now));
}

void TaskLedger::perform(TaskEffects effects) {
  Answers answers;
  collect(std::move(effects), answers);
  finish(std::move(answers));
}

/// Does what the queue wants done. Answers are written down together before they go.
void TaskLedger::collect(TaskEffects effects, Answers& answers) {
  for (TaskEffect& effect : effects) {
    if (auto* task = std::get_if<AssignTask>(&effect))
      assign(*task);
    else if (auto* reply = std::get_if<DeliverReply>(&effect))
      answers.push_back({std::move(reply->msg_id), std::move(reply->engine),
                         std::move(reply->request), reply->delimiter_index, std::move(reply->reply),
                         reply->outcome, false});
    else if (auto* failed = std::get_if<FailTask>(&effect))
      answers.push_back(failure(*failed));
    else if (const auto* recalled = std::get_if<RecallTask>(&effect))
      transport_.recall(*recalled);
    else if (const auto* interrupted = std::get_if<InterruptTask>(&effect))
      transport_.interrupt(*interrupted);
    else if (const auto* dropped = std::get_if<DropResult>(&effect))
      transport_.drop(dropped->reply);
    else if (journal_)
      journal_->assigned(std::get<TaskReturned>(effect).msg_id, {});
  }
}

void TaskLedger::assign(AssignTask& task) {
  transport_.assign(task);
  if (task.is_resent || !task.is_first_rank()) return;
  if (journal_) journal_->assigned(task.msg_id, task.engine);
  transport_.record(
      TaskAssigned{std::move(task.msg_id), std::move(task.engine), task.failures > 0});
}

void TaskLedger::fail(const ArrivedTask& task, const SharedFrames& frames, const Problem& problem,
                      EngineUuid engine) {
  FailTask failed{task.msg_id,          std::move(engine), frames,
                  task.delimiter_index, problem.name,      problem.sentence};
  Answers answers;
  answers.push_back(failure(failed));
  finish(std::move(answers));
}

TaskAnswer TaskLedger::failure(FailTask& failed) {
  SharedFrames reply = transport_.error_reply(failed);
  return {std::move(failed.msg_id),
          std::move(failed.engine),
          std::move(failed.request),
          failed.delimiter_index,
          std::move(reply),
          TaskOutcome::failed,
          true};
}

void TaskLedger::finish(Answers answers) {
  if (answers.empty()) return;
  if (journal_) {
    for (const TaskAnswer& answer : answers)
      journal_->finished(answer.msg_id, answer.engine, answer.outcome, answer.reply);
    const Result<Journal::Ticket> ticket = journal_->commit();
    note_journal(ticket);
    if (ticket && !(answered_.empty() && journal_->is_durable(*ticket)))
      return answered_.push(*ticket, std::move(answers));
  }
  for (TaskAnswer& answer : answers) deliver(answer);
}

void TaskLedger::deliver(TaskAnswer& answer) {
  SharedFrames reply = transport_.answer(answer);
  if (answer.delimiter_index > 0)
    replies_.sent(answer.request->at(answer.delimiter_index + 1), std::move(reply));
}

}  // namespace px::controller
