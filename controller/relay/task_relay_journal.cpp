// What a TaskRelay writes into the journal, and what it makes of the journal of an earlier
// controller.

#include <spdlog/spdlog.h>

#include <utility>

#include "controller/relay/task_relay.hpp"
#include "wire/header.hpp"

namespace px::controller {

// ---------------------------------------------------------------- what is written

/// What is accepted is written down first. Precondition: there is a journal, or nothing to accept.
void TaskRelay::accept(std::vector<Request> requests) {
  if (requests.empty()) return;
  for (const Request& each : requests)
    if (!each.msg_id.empty() && !each.is_question)
      journal_->submitted(each.msg_id, *shared_.memory.whole(each.frames, shared_.packer()));
  const Result<Journal::Ticket> ticket = journal_->commit();
  tell_of_journal(ticket);
  for (Request& each : requests) {
    if (!ticket && !each.is_question) {
      shared_.hub.post(TaskSubmitted{each.msg_id, each.frames});
      refuse(each.frames, *Envelope::locate(*each.frames, 1), std::move(each.msg_id), "Overloaded",
             ticket.error().what);
    } else if (!ticket || (arrived_.empty() && journal_->is_durable(*ticket))) {
      begin(std::move(each));
    } else {
      arrived_.push_back({*ticket, std::move(each)});
    }
  }
}

/// Writes what may be written late: who was given what.
void TaskRelay::commit_journal() {
  if (!journal_) return;
  tell_of_journal(journal_->commit());
  for (const std::string& error : journal_->take_errors()) spdlog::error("the journal: {}", error);
}

/// Once when it begins and once when it is over.
void TaskRelay::tell_of_journal(const Result<Journal::Ticket>& committed) {
  if (committed && std::exchange(written_, *committed) == *committed) return;  // nothing was to be
  if (is_journal_refused_ != committed.has_value()) return;
  is_journal_refused_ = !committed;
  if (committed)
    spdlog::warn("the journal of tasks is written again");
  else
    spdlog::error("{}", committed.error().what);
}

void TaskRelay::on_journal() {
  if (!journal_) return;
  const auto is_due = [this](const auto& held) {
    return !held.empty() && (journal_->failure() || journal_->is_durable(held.front().ticket));
  };
  while (is_due(arrived_)) {
    Request request = std::move(arrived_.front().what);
    const Journal::Ticket ticket = arrived_.front().ticket;
    arrived_.pop_front();
    if (journal_->is_durable(ticket))
      begin(std::move(request));
    else
      accept({std::move(request)});  // the disk has failed: it is refused
  }
  // As where the disk is full: what is answered waits for no disk that is in trouble.
  while (is_due(answered_) || (!answered_.empty() && journal_->trouble())) {
    Answers answers = std::move(answered_.front().what);
    answered_.pop_front();
    for (Answer& answer : answers) deliver(answer);
  }
}

// ---------------------------------------------------------------- what an earlier one wrote

void TaskRelay::restore() {
  if (!journal_) return;
  std::size_t finished = 0;
  for (ReplayedTask& task : journal_->replay()) {
    finished += task.is_finished ? 1 : 0;
    restore_one(std::move(task));
  }
  commit_journal();
  if (finished > 0 || !waiting_.empty())
    spdlog::info("{} unfinished tasks and {} results are taken over from an earlier controller",
                 waiting_.size() + backlog_.size(), finished);
  submit_waiting();
}

/// What was changed on the disk meanwhile has no right signature, and is dropped.
void TaskRelay::restore_one(ReplayedTask task) {
  const Result<Envelope> request = Envelope::locate(*task.request, 1);
  const bool is_right = request && shared_.signer().verify(*request);
  if (!is_right) return shared_.bad_messages.add("journal: a request with a bad signature");
  history_.is_new(request->signature);
  if (!task.is_finished) {
    Request left = read(task.request, *request);
    left.given = std::move(task.engine);
    if (must_wait(left)) return put_back(std::move(left));
    shared_.hub.post(TaskSubmitted{task.msg_id, task.request});  // it may be asked for already
    return waiting_.push_back(std::move(left));
  }
  queue_.ended_before(task.msg_id.text, task.outcome == TaskOutcome::ok, task.engine);
  if (task.reply) {
    const Result<Envelope> reply = Envelope::locate(*task.reply, 2);
    if (!reply || !shared_.signer().verify(*reply))
      return shared_.bad_messages.add("journal: a reply with a bad signature");
    shared_.hub.post(TaskSubmitted{task.msg_id, task.request});
    shared_.hub.post(TaskFinished{std::move(task.engine), task.msg_id, task.reply,
                                  task.outcome == TaskOutcome::aborted});
  }
  if (request->ident_count > 0) replies_.sent(request->signature, std::move(task.reply));
}

/// An earlier controller gave the task to an engine, and no engine says that it holds it. Whether
/// it must not run again; else `holder` is the engine that may still have it.
bool TaskRelay::is_given_up(const EngineUuid& given, TaskRules& rules, EngineUuid& holder) {
  if (stock_.has_reported(given)) return false;  // it was lost on its way there
  if (queue_.has_engine(given)) {
    holder = given;
    return false;
  }
  return rules.retries-- == 0;
}

/// An engine may have answered a task before it was known again that it was asked for, and have
/// ended since. Whether it has, and all went well.
/// envelope  of the request.
bool TaskRelay::finish_by_unknown(const MessageId& msg_id, const SharedFrames& request,
                                  const Envelope& envelope) {
  for (auto each = unknown_.begin(); each != unknown_.end(); ++each) {
    const SharedFrames reply = *each;
    const Envelope parts = *Envelope::locate(*reply, 2);
    const TaskOutcome outcome = read_task_outcome(shared_.packer(), parts.metadata);
    if (outcome != TaskOutcome::ok || read_msg_id(shared_.packer(), parts.parent_header) != msg_id)
      continue;
    unknown_.erase(each);
    const EngineUuid engine{reply->at(0)};
    queue_.ended_before(msg_id.text, true, engine);
    finish({{msg_id, engine, request, envelope.delimiter_index(), reply, outcome}});
    return true;
  }
  return false;
}

/// Replies that came before it was known again that they were asked for. An engine that has
/// reported sends them again, as it is given its tasks again: the second one would count for the
/// next attempt.
void TaskRelay::take_unknown() {
  Answers answers;
  std::vector<SharedFrames> unknown;
  for (SharedFrames& frames : std::exchange(unknown_, {})) {
    const Result<Envelope> envelope = Envelope::locate(*frames, 2);
    check(envelope.has_value());
    const MessageId parent = read_msg_id(shared_.packer(), envelope->parent_header);
    if (!queue_.knows(parent.text))
      unknown.push_back(std::move(frames));
    else if (!stock_.has_reported(EngineUuid{frames->at(0)}))
      take_reply(frames, parent, read_task_outcome(shared_.packer(), envelope->metadata), answers);
  }
  unknown_ = std::move(unknown);
  finish(std::move(answers));
}

}  // namespace px::controller
