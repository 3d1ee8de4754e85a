#include "controller/relay/call_keeper.hpp"

#include <spdlog/spdlog.h>

#include <string>

namespace px::controller {

void CallKeeper::requested(const SharedFrames& frames) {
  if (!calls_) return;
  calls_->requested(frames);
  tell_of_bound();
}

/// Once when it begins and once when it is over.
void CallKeeper::tell_of_bound() {
  if (is_full_ == calls_->is_full()) return;
  is_full_ = !is_full_;
  if (is_full_)
    spdlog::warn(
        "{} direct calls are unanswered: further ones do not outlive this controller until some of "
        "these are answered",
        calls_->owed());
  else
    spdlog::info("direct calls outlive this controller again");
}

void CallKeeper::replied(const SharedFrames& frames) {
  if (calls_) calls_->replied(frames);
}

void CallKeeper::published(const SharedFrames& frames, const Envelope& envelope) {
  if (calls_) calls_->published(frames, envelope);
}

void CallKeeper::engine_left(const EngineUuid& engine) {
  awaited_.erase(engine);
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
  return calls_->is_durable(ticket) || calls_->has_failed() || calls_->trouble();
}

// ---------------------------------------------------------------- what an earlier one left

std::vector<LeftCall> CallKeeper::restore(Instant now) {
  if (!calls_) return {};
  std::vector<LeftCall> left = calls_->replay();
  for (const LeftCall& call : left) {
    record_(call);
    if (call.is_open) await(call.engine, now);
  }
  if (!left.empty())
    spdlog::info("{} direct calls are taken over from an earlier controller", left.size());
  return left;
}

void CallKeeper::await(const EngineUuid& engine, Instant now) {
  if (awaited_.try_emplace(engine, now + patience_).second)
    ends_.emplace_back(now + patience_, engine);
}

DirectSubmitted CallKeeper::submitted(const SharedFrames& request) const {
  const EngineUuid engine{request->at(1)};
  const bool is_awaited = awaited_.contains(engine) && calls_ && calls_->is_owed(*request);
  return {engine, request, is_awaited};
}

std::vector<EngineUuid> CallKeeper::on_time(Instant now) {
  std::vector<EngineUuid> given_up = give_up_awaited(now);
  if (!calls_) return given_up;
  for (const EngineUuid& engine : given_up)
    for (const LeftCall& call : calls_->give_up(engine)) record_(call);
  tell_of_journal(calls_->commit_late().has_value());
  for (const std::string& error : calls_->take_errors())
    spdlog::error("the journal of direct calls: {}", error);
  return given_up;
}

std::vector<EngineUuid> CallKeeper::give_up_awaited(Instant now) {
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
