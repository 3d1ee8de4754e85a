// What a TaskLedger makes of the journal of an earlier controller, and of the replies that engines
// owe that one.

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "controller/ledger/task_ledger.hpp"
#include "wire/counted.hpp"

namespace px::controller {

void TaskLedger::restore(Instant now) {
  if (!journal_) return;
  std::size_t finished = 0;
  for (ReplayedTask& task : journal_->replay()) {
    finished += task.is_finished ? 1 : 0;
    restore_one(std::move(task), now);
  }
  commit_late();
  if (finished > 0 || unfinished() > 0)
    spdlog::info("continuing with {} and {} of an earlier controller",
                 counted(unfinished(), "unfinished task"), counted(finished, "result"));
  submit_waiting(now);
}

void TaskLedger::restore_one(ReplayedTask task, Instant now) {
  std::optional<ArrivedTask> request = transport_.open_request(task.request);
  if (!request) return;
  history_.is_new(request->signature());
  if (!task.is_finished) {
    request->given = std::move(task.engine);
    transport_.accepted(*request);
    if (must_wait(*request)) return put_back(std::move(*request));
    transport_.record(TaskSubmitted{task.msg_id, task.request});  // it may be asked for already
    return waiting_.push_back(std::move(*request));
  }
  perform(queue_.ended_before(task.msg_id.text, task.outcome == TaskOutcome::ok, task.engine, now));
  if (task.reply) {
    if (!transport_.is_right_reply(*task.reply)) return;
    transport_.record(TaskSubmitted{task.msg_id, task.request});
    transport_.record(TaskFinished{std::move(task.engine), task.msg_id, task.reply,
                                   task.outcome == TaskOutcome::aborted});
  }
  if (request->delimiter_index > 0) replies_.sent(request->signature(), std::move(task.reply));
}

/// An earlier controller gave the task to an engine, and no engine says that it holds it. Whether
/// it must not run again; else `holder` is the engine that may still have it.
bool TaskLedger::is_given_up(const EngineUuid& given, TaskRules& rules, EngineUuid& holder) const {
  if (stock_.has_reported(given)) return false;  // it was lost on its way there
  if (queue_.has_engine(given)) {
    holder = given;
    return false;
  }
  return rules.retries-- == 0;
}

/// An earlier controller may have given the task of several ranks to engines, and no engine says to
/// which: a rank may have begun on one that is lost. Whether it must not run again: then it has
/// failed now.
/// holders  engines that have reported that they hold it, but not of which attempt
bool TaskLedger::give_up_gang(const ArrivedTask& task, const SharedFrames& frames, TaskRules& rules,
                              const std::vector<EngineUuid>& holders, Instant now) {
  const auto replies = std::erase_if(
      unknown_, [&task](const ArrivedReply& each) { return each.msg_id == task.msg_id; });
  if (holders.empty() && task.given.empty() && replies == 0) return false;
  if (holders.empty() && rules.retries-- > 0) return false;
  for (const EngineUuid& holder : holders) transport_.interrupt({task.msg_id, holder});
  perform(queue_.ended_before(task.msg_id.text, false, task.given, now));
  fail(task, frames,
       {"EngineError",
        "the controller was restarted while this task of several ranks ran, so its result is lost: "
        "submit it again"},
       task.given);
  return true;
}

/// An engine holds ranks of tasks of an earlier controller: it stops those that this controller has
/// given up, or has begun again. It reported too late to be asked.
void TaskLedger::stop_strange_ranks(const EngineUuid& engine, const HeldTasks& held) {
  for (const HeldGang& gang : held.gangs) {
    const auto begin = held.unanswered.begin(), end = held.unanswered.end();
    if (std::find(begin, end, gang.msg_id) == end || !queue_.knows(gang.msg_id)) continue;
    if (!queue_.runs_rank(engine, gang.msg_id, gang.repetition))
      transport_.interrupt({MessageId{gang.msg_id}, engine});
  }
}

/// Stops the ranks of tasks that neither a client nor the journal has sent to this controller: no
/// client waits for their results, and their other ranks may never have got the task.
void TaskLedger::stop_unclaimed_ranks(Instant now) {
  if (are_ranks_claimed_ || now < tasks_are_back_) return;
  are_ranks_claimed_ = true;
  for (const auto& [msg_id, engine] : stock_.unclaimed_ranks())
    if (!queue_.knows(msg_id) && !backlog_.knows(msg_id))
      transport_.interrupt({MessageId{msg_id}, engine, true});
}

/// An engine may have answered a task before it was known again that it was asked for, and have
/// ended since. Whether it has, and all went well.
/// frames  of the task, whole.
bool TaskLedger::finish_by_unknown(const ArrivedTask& task, const SharedFrames& frames,
                                   Instant now) {
  const auto found =
      std::find_if(unknown_.begin(), unknown_.end(), [&task](const ArrivedReply& each) {
        return each.outcome == TaskOutcome::ok && each.msg_id == task.msg_id;
      });
  if (found == unknown_.end()) return false;
  const ArrivedReply reply = std::move(*found);
  unknown_.erase(found);
  perform(queue_.ended_before(task.msg_id.text, true, reply.engine(), now));
  Answers answers;
  answers.push_back({task.msg_id, reply.engine(), frames, task.delimiter_index, reply.frames,
                     reply.outcome, false});
  finish(std::move(answers));
  return true;
}

/// Replies that came before it was known again that they were asked for. An engine that has
/// reported sends them again, as it is given its tasks again: the second one would count for the
/// next attempt.
void TaskLedger::take_unknown(Instant now) {
  Answers answers;
  for (ArrivedReply& reply : std::exchange(unknown_, {})) {
    const std::string engine{reply.frames->at(0)};
    if (!queue_.knows(reply.msg_id.text))
      unknown_.push_back(std::move(reply));
    else if (!stock_.has_reported(EngineUuid{engine}))
      collect(queue_.reply(engine, reply.msg_id.text, reply.outcome, reply.frames, now), answers);
  }
  finish(std::move(answers));
}

/// Replies of ranks that came before it was known again that the task was asked for.
void TaskLedger::take_unknown_of_gang(const MessageId& msg_id, Instant now) {
  Answers answers;
  for (const ArrivedReply& reply : unknown_)
    if (reply.msg_id == msg_id)
      collect(queue_.reply(reply.frames->at(0), msg_id.text, reply.outcome, reply.frames, now,
                           reply.repetition),
              answers);
  std::erase_if(unknown_, [&](const ArrivedReply& reply) { return reply.msg_id == msg_id; });
  finish(std::move(answers));
}

/// Asked for by an earlier controller: whoever waits for it is still there, or is not.
void TaskLedger::forward_unknown(Instant now) {
  are_clients_back_ = are_clients_back_ || now >= clients_are_back_;
  // One that waits is asked for: see submit().
  if (unknown_.empty() || !waiting_.empty() || !are_clients_back_) return;
  for (ArrivedReply& reply : std::exchange(unknown_, {})) {
    if (backlog_.knows(reply.msg_id.text))
      unknown_.push_back(std::move(reply));
    else
      transport_.forward(reply.frames);
  }
}

}  // namespace px::controller
