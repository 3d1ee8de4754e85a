#include "controller/relay/call_keeper.hpp"

#include <spdlog/spdlog.h>

#include <string>

namespace px::controller {

void CallKeeper::requested(const SharedFrames& frames) {
  if (calls_) calls_->requested(shared_.memory.whole(frames, shared_.packer()));
}

void CallKeeper::replied(const SharedFrames& frames) {
  if (calls_) calls_->replied(frames);
}

void CallKeeper::published(const SharedFrames& frames, const Envelope& envelope) {
  if (calls_) calls_->published(frames, envelope);
}

void CallKeeper::engine_left(const EngineUuid& engine) {
  if (calls_) calls_->engine_left(engine);
}

std::vector<SharedFrames> CallKeeper::owed_by(const EngineUuid& engine, CallChannel channel) const {
  return calls_ ? calls_->owed_by(engine, channel) : std::vector<SharedFrames>{};
}

std::optional<Journal::Ticket> CallKeeper::commit() {
  if (!calls_) return std::nullopt;
  const Result<Journal::Ticket> ticket = calls_->commit();
  tell_of_journal(ticket.has_value());
  return ticket ? std::optional(*ticket) : std::nullopt;
}

bool CallKeeper::is_written(Journal::Ticket ticket) const {
  return calls_->has_failed() || calls_->is_durable(ticket);
}

// ---------------------------------------------------------------- what an earlier one left

std::vector<LeftCall> CallKeeper::restore(Duration patience) {
  if (!calls_) return {};
  std::vector<LeftCall> left = calls_->replay();
  for (const LeftCall& call : left) record(call);
  if (!left.empty())
    spdlog::info("{} direct calls are taken over from an earlier controller", left.size());
  if (!calls_->awaited().empty()) give_up_ = Clock::now() + patience;
  return left;
}

void CallKeeper::record(const LeftCall& call) {
  shared_.hub.post(DirectRestored{call.msg_id, call.engine, call.request, call.reply,
                                  call.error_name, call.error_value});
  for (const SharedFrames& output : call.outputs) shared_.hub.post(OutputPublished{output});
}

std::set<EngineUuid> CallKeeper::awaited() const {
  return calls_ ? calls_->awaited() : std::set<EngineUuid>{};
}

void CallKeeper::engine_returned(const EngineUuid& engine) {
  if (calls_) calls_->engine_returned(engine);
}

std::set<EngineUuid> CallKeeper::on_time(Instant now) {
  if (!calls_) return {};
  std::set<EngineUuid> given_up;
  if (give_up_ && now >= *give_up_) given_up = give_up_awaited();
  tell_of_journal(calls_->commit_late().has_value());
  for (const std::string& error : calls_->take_errors())
    spdlog::error("the journal of direct calls: {}", error);
  return given_up;
}

std::set<EngineUuid> CallKeeper::give_up_awaited() {
  give_up_.reset();
  std::set<EngineUuid> engines = calls_->awaited();
  for (const LeftCall& call : calls_->give_up_awaited()) record(call);
  return engines;
}

/// Once when it begins and once when it is over.
void CallKeeper::tell_of_journal(bool is_written) {
  if (is_journal_refused_ != is_written) return;
  is_journal_refused_ = !is_written;
  if (is_written)
    spdlog::warn("direct calls are written down again");
  else
    spdlog::error(
        "direct calls do not outlive this controller, as they cannot be written down: the disk is "
        "full, or fails; make room there");
}

}  // namespace px::controller
