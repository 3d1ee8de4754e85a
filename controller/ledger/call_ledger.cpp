#include "controller/ledger/call_ledger.hpp"

#include <spdlog/spdlog.h>

#include <iterator>

#include "wire/header.hpp"
#include "wire/message_type.hpp"

namespace px::controller {
namespace {

EngineUuid engine_of(const Frames& call) {
  return EngineUuid{call.at(1)};
}

}  // namespace

CallLedger::CallLedger(std::unique_ptr<CallJournal> journal, Session session, Duration patience,
                       CallTransport& transport)
    : transport_(transport),
      journal_(std::move(journal)),
      session_(std::move(session)),
      patience_(patience),
      broadcasts_(session_.fork()) {}

// ---------------------------------------------------------------- what an earlier one left

std::vector<LeftCall> CallLedger::restore(Instant now) {
  if (!journal_) return {};
  std::vector<LeftCall> left = journal_->replay();
  for (const LeftCall& call : left) {
    record(call);
    if (call.is_open) await(call.engine, now);
  }
  if (!left.empty())
    spdlog::info("continuing {} direct calls of an earlier controller", left.size());
  broadcasts_.restore(left, transport_.wall());
  const std::map<EngineUuid, Instant> awaited = awaited_;
  for (const auto& [engine, until] : awaited)
    if (transport_.is_member(engine)) engine_joined(engine);
  return left;
}

void CallLedger::record(const LeftCall& call) {
  transport_.record(DirectRestored{call.msg_id, call.engine, call.request, call.reply,
                                   call.error_name, call.error_value});
  for (const SharedFrames& output : call.outputs) transport_.record(OutputPublished{output});
}

// ---------------------------------------------------------------- requests

void CallLedger::requested(SharedFrames call, Instant now) {
  const EngineUuid engine = engine_of(*call);
  if (const auto problem = transport_.overload(CallChannel::mux, engine);
      problem && !is_question(*call)) {
    transport_.record(submitted(call));
    return undelivered(CallChannel::mux, call, *problem);
  }
  if (!journal_) return ask({{CallChannel::mux, std::move(call)}});
  if (!transport_.is_member(engine)) await(engine, now);
  journal_->requested(transport_.whole(call));
  requested_.push_back({CallChannel::mux, std::move(call)});
}

/// It only asks for the answer to an earlier one, and gets to its engine whatever waits there.
bool CallLedger::is_question(const Frames& call) const {
  const Result<Envelope> envelope = Envelope::locate(call, 2);
  return !envelope ||
         read_message_name(session_.packer(), envelope->header).msg_type == question_type;
}

Result<void> CallLedger::broadcast(const SharedFrames& request, const Envelope& envelope,
                                   Instant now) {
  const Result<std::vector<MessageToEngine>> copies = broadcasts_.request(request, envelope);
  if (!copies) return copies.error();
  std::vector<Asked> asked;
  std::size_t bytes = 0;
  for (const MessageToEngine& copy : *copies) {
    SharedFrames call = as_call(copy);
    if (const auto problem = transport_.overload(CallChannel::broadcast, copy.engine)) {
      transport_.record(submitted(call));
      undelivered(CallChannel::broadcast, call, *problem);
      continue;
    }
    if (!transport_.is_member(copy.engine)) await(copy.engine, now);
    bytes += total_bytes(*call);
    asked.push_back({CallChannel::broadcast, std::move(call)});
  }
  if (!journal_) {
    ask(std::move(asked));
    return {};
  }
  if (bytes <= CallJournal::longest_broadcast)
    for (const Asked& each : asked) journal_->requested(transport_.whole(each.call));
  requested_.insert(requested_.end(), std::make_move_iterator(asked.begin()),
                    std::make_move_iterator(asked.end()));
  return {};
}

/// The records hear of requests at once, not when those leave: an engine may die while its requests
/// wait for the disk, and they end there like those that the engine has received.
void CallLedger::ask(std::vector<Asked> calls) {
  std::vector<DirectSubmitted> records;
  for (const Asked& each : calls) records.push_back(submitted(each.call));
  // First: the engines wait, and the records do not.
  pass_on({std::make_move_iterator(calls.begin()), std::make_move_iterator(calls.end())});
  for (DirectSubmitted& each : records) transport_.record(std::move(each));
}

DirectSubmitted CallLedger::submitted(const SharedFrames& call) const {
  const EngineUuid engine = engine_of(*call);
  const bool is_awaited = awaited_.contains(engine) && journal_ && journal_->is_owed(*call);
  return {engine, call, is_awaited};
}

void CallLedger::undelivered(CallChannel channel, const SharedFrames& call,
                             const Problem& problem) {
  const bool is_answered = journal_ && journal_->is_answered(*call);
  const Problem lost{"ResultLost",
                     "the request was done, but its reply was lost in transit: fetch it with "
                     "get_result(msg_ids)"};
  const SharedFrames reply =
      reply_in_place(session_, *call, is_answered ? lost : problem, transport_.wall());
  if (!reply) return;
  if (journal_) journal_->replied(reply);
  pass_on({Replied{channel, reply, true}});
}

// ---------------------------------------------------------------- replies

void CallLedger::replied(CallChannel channel, SharedFrames reply) {
  // Its client removes what it names in shared memory.
  reply = transport_.whole(reply);
  if (!journal_) return pass(Replied{channel, reply});
  journal_->replied(reply);
  replied_.push_back(Replied{channel, std::move(reply)});
}

void CallLedger::published(const SharedFrames& output, const Envelope& envelope) {
  if (journal_) journal_->published(output, envelope);
}

void CallLedger::commit() {
  if (!requested_.empty()) ask(std::exchange(requested_, {}));
  if (!replied_.empty()) pass_on(std::exchange(replied_, {}));
}

// ---------------------------------------------------------------- engines, time

void CallLedger::engine_joined(const EngineUuid& engine) {
  awaited_.erase(engine);
  ask_again(engine, CallChannel::mux);
  ask_again(engine, CallChannel::broadcast);
}

void CallLedger::engine_reconnected(const EngineUuid& engine, CallChannel channel) {
  ask_again(engine, channel);
}

/// For what was passed on before, or still waits here: the engine may have lost it with a
/// connection. The journal has these calls already.
void CallLedger::ask_again(const EngineUuid& engine, CallChannel channel) {
  for (const SharedFrames& call : owed_by(engine, channel)) {
    DirectSubmitted record = submitted(call);
    pass_in_order(Asked{channel, call});
    transport_.record(std::move(record));
  }
}

std::vector<SharedFrames> CallLedger::owed_by(const EngineUuid& engine, CallChannel channel) const {
  return journal_ ? journal_->owed_by(engine, channel) : std::vector<SharedFrames>{};
}

void CallLedger::engine_left(const EngineUuid& engine, const EngineEnd& end) {
  awaited_.erase(engine);
  if (journal_) journal_->engine_left(engine);
  end_gathered(engine, end);
}

void CallLedger::end_gathered(const EngineUuid& engine, const EngineEnd& end) {
  std::vector<Outgoing> ends;
  for (BroadcastToClient& each : broadcasts_.engine_left(engine, transport_.wall(), end))
    ends.emplace_back(std::move(each));
  if (!ends.empty()) pass_on(std::move(ends));
}

/// The engine is asked for something and is not registered: it has ended, or has not come back yet.
/// It is given up `patience_` after the first call; further calls do not extend that.
void CallLedger::await(const EngineUuid& engine, Instant now) {
  if (awaited_.try_emplace(engine, now + patience_).second)
    ends_.emplace_back(now + patience_, engine);
}

void CallLedger::on_time(Instant now) {
  for (const EngineUuid& engine : give_up_awaited(now)) {
    if (journal_)
      for (const LeftCall& call : journal_->give_up(engine)) record(call);
    end_gathered(engine, {.why = "it had ended when this request came, or did not come back to the "
                                 "restarted controller"});
  }
  if (!journal_) return;
  note_journal(journal_->commit_late().has_value());
  for (const std::string& error : journal_->take_errors())
    spdlog::error("the journal of direct calls: {}", error);
}

std::vector<EngineUuid> CallLedger::give_up_awaited(Instant now) {
  std::vector<EngineUuid> given_up;
  for (; !ends_.empty() && ends_.front().first <= now; ends_.pop_front()) {
    const auto [until, engine] = ends_.front();
    const auto found = awaited_.find(engine);
    if (found == awaited_.end() || found->second != until) continue;
    awaited_.erase(found);
    given_up.push_back(engine);
  }
  return given_up;
}

std::optional<Instant> CallLedger::next_deadline() const {
  return ends_.empty() ? std::nullopt : std::optional(ends_.front().first);
}

// ---------------------------------------------------------------- what waits for the journal

void CallLedger::on_journal() {
  const auto is_due = [this](Journal::Ticket ticket) { return may_pass(ticket); };
  while (const auto due = waiting_.pop(is_due)) pass(due->what);
}

/// Once the journal has them.
void CallLedger::pass_on(std::vector<Outgoing> messages) {
  const std::optional<Journal::Ticket> ticket = write();
  for (Outgoing& message : messages) {
    if (ticket && !may_pass(*ticket))
      waiting_.push(*ticket, std::move(message));
    else
      pass_in_order(std::move(message));
  }
}

void CallLedger::pass_in_order(Outgoing message) {
  if (waiting_.empty())
    pass(message);
  else
    waiting_.push_behind(std::move(message));
}

void CallLedger::pass(const Outgoing& message) {
  if (const auto* asked = std::get_if<Asked>(&message))
    transport_.ask(asked->channel, asked->call);
  else if (const auto* reply = std::get_if<Replied>(&message))
    pass(*reply);
  else
    transport_.answer(std::get<BroadcastToClient>(message));
}

void CallLedger::pass(const Replied& reply) {
  const SharedFrames& frames = reply.reply;
  if (reply.channel == CallChannel::mux) {
    transport_.answer(frames);
  } else {
    const Result<Envelope> envelope = Envelope::locate(*frames, 2);
    check(envelope.has_value());
    for (const BroadcastToClient& each : broadcasts_.reply(frames, *envelope, reply.is_own))
      transport_.answer(each);
  }
  transport_.record(DirectFinished{EngineUuid{frames->at(0)}, frames, reply.is_own});
}

/// Calls do not wait for a disk that is in trouble. Precondition: write() has returned this ticket.
bool CallLedger::may_pass(Journal::Ticket ticket) const {
  return journal_->is_durable(ticket) || journal_->has_failed() || journal_->trouble();
}

/// Nothing: there is no journal, or it cannot be written.
std::optional<Journal::Ticket> CallLedger::write() {
  if (!journal_) return std::nullopt;
  const Result<Journal::Ticket> ticket = journal_->commit();
  note_journal(ticket.has_value());
  note_bound();
  return ticket ? std::optional(*ticket) : std::nullopt;
}

/// Once when it begins and once when it is over.
void CallLedger::note_journal(bool is_written) {
  if (is_journal_refused_ != is_written) return;
  is_journal_refused_ = !is_written;
  if (is_written)
    spdlog::warn("direct calls are written to the journal again");
  else
    spdlog::error(
        "direct calls do not survive the end of this controller, because the disk of the journal "
        "is full or fails: free disk space");
}

/// The same.
void CallLedger::note_bound() {
  if (is_full_ == journal_->is_full()) return;
  is_full_ = !is_full_;
  if (is_full_)
    spdlog::warn(
        "{} direct calls are unanswered: until some are answered, new ones do not survive the end "
        "of this controller",
        journal_->owed());
  else
    spdlog::info("new direct calls survive the end of this controller again");
}

}  // namespace px::controller
