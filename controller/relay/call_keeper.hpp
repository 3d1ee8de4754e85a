#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "controller/hub/hub_events.hpp"
#include "controller/journal/call_journal.hpp"
#include "wire/ids.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// The journal of calls as the relays of direct calls and of broadcasts use it: they tell it what
/// they pass on, and go on with what an earlier controller left. It passes nothing on itself: what
/// has to wait for the disk waits in a HeldRequests or a HeldMessages of the relay.
///
/// It also knows, with or without a journal, which engines are waited for: those that were asked
/// for something and are not registered. An engine that does not register within `patience` is
/// given up, and what it owes ends as an EngineError.
///
/// The I/O thread owns it. Sees no socket and no clock.
class CallKeeper {
 public:
  /// calls     null: there is no journal; then the functions below that write do nothing.
  /// patience  for engines that owe something and are not there.
  /// record    puts a call that an earlier controller left, or that ends without a reply, into the
  ///           hub's records.
  CallKeeper(std::unique_ptr<CallJournal> calls, Duration patience,
             std::function<void(const LeftCall&)> record)
      : calls_(std::move(calls)), patience_(patience), record_(std::move(record)) {}

  bool has_journal() const { return calls_ != nullptr; }

  // As in CallJournal: what is told is put aside until commit().
  void requested(const SharedFrames& frames);
  void replied(const SharedFrames& frames);
  void published(const SharedFrames& frames, const Envelope& envelope);
  void engine_left(const EngineUuid& engine);
  std::vector<SharedFrames> owed_by(const EngineUuid& engine, CallChannel channel) const;
  /// How many calls in the journal are not answered.
  std::size_t owed() const { return calls_ ? calls_->owed() : 0; }

  /// Writes what was told. Nothing if there is no journal, or it cannot be written; then the log
  /// says so once. A disk that is full does not stop calls: they are passed on, but do not outlive
  /// the controller.
  std::optional<Journal::Ticket> commit();
  /// Whether what was written up to this ticket may be passed on: it is durable, or the disk is in
  /// trouble and calls do not wait for it. Precondition: commit() has returned this ticket.
  bool is_written(Journal::Ticket ticket) const;

  /// What an earlier controller left, in the order of the requests; the records have it then. Call
  /// it once, and before anything is received.
  std::vector<LeftCall> restore(Instant now);
  /// The engine is asked for something and is not registered: it has ended, or has not come back
  /// yet. It is given up `patience` after the first call; further calls do not extend that.
  void await(const EngineUuid& engine, Instant now);
  /// The engine is registered (again) and is waited for no longer.
  void engine_returned(const EngineUuid& engine) { awaited_.erase(engine); }
  /// What the records are to hear of a request that came, [client, engine, delimiter, ...].
  DirectSubmitted submitted(const SharedFrames& request) const;
  /// The engines that are waited for, and until when.
  const std::map<EngineUuid, Instant>& awaited() const { return awaited_; }
  /// Gives up the engines that have not come in time, and returns them. What they owed has ended:
  /// the records have its errors, the journal will. Also writes what may be written late.
  std::vector<EngineUuid> on_time(Instant now);
  /// Why nothing has reached the disk for a while, in a sentence; nothing: all is well, or there is
  /// no journal.
  std::optional<std::string> trouble() const { return calls_ ? calls_->trouble() : std::nullopt; }
  std::optional<Instant> next_deadline() const {
    return ends_.empty() ? std::nullopt : std::optional(ends_.front().first);
  }

 private:
  std::vector<EngineUuid> give_up_awaited(Instant now);
  void tell_of_journal(bool is_written);
  void tell_of_bound();

  const std::unique_ptr<CallJournal> calls_;
  const Duration patience_;
  const std::function<void(const LeftCall&)> record_;
  std::map<EngineUuid, Instant> awaited_;
  std::deque<std::pair<Instant, EngineUuid>> ends_;  // of their patience; some are there meanwhile
  bool is_journal_refused_ = false;  // the log says so
  bool is_full_ = false;             // the same
};

/// A place where messages lie that must not be passed on before the journal of calls has what was
/// told of them: a request must not reach an engine, nor a reply its client, while a crash could
/// still make the controller forget it. A message lies here from pass_on() until its part of the
/// journal is durable, or until the disk is in trouble. With --journal=process whatever was written
/// is durable at once, and without a journal there is nothing to wait for: then nothing lies here.
/// Messages leave in the order in which they came. Each relay has one per kind of message. For the
/// I/O thread.
/// Message  copied and moved; SharedFrames, or a struct that holds frames by reference.
template <class Message>
class HeldMessages {
 public:
  /// calls  outlives it.
  /// pass   passes one on: called in pass_on(), pass_in_order() or on_journal(), never later.
  HeldMessages(CallKeeper& calls, std::function<void(const Message&)> pass)
      : calls_(calls), pass_(std::move(pass)) {}

  /// Commits the journal, and passes on these messages, of which it was told before: now, or once
  /// it is written.
  void pass_on(std::vector<Message> messages) {
    if (messages.empty()) return;
    const auto ticket = calls_.commit();
    if (ticket && !calls_.is_written(*ticket))
      held_.push_back({*ticket, std::move(messages)});
    else
      pass_in_order(std::move(messages));
  }
  /// Passes on messages that wait for nothing themselves, but must not overtake what is held: now,
  /// or together with the last of what is held.
  void pass_in_order(std::vector<Message> messages) {
    if (held_.empty())
      for (const Message& message : messages) pass_(message);
    else
      std::move(messages.begin(), messages.end(), std::back_inserter(held_.back().messages));
  }
  /// More of the journal may be on the disk, or the disk may be in trouble: passes on what is due.
  /// The server calls it when the journal's thread has woken it, and once a turn.
  void on_journal() {
    while (!held_.empty() && calls_.is_written(held_.front().ticket)) {
      const Held due = std::move(held_.front());
      held_.pop_front();
      for (const Message& message : due.messages) pass_(message);
    }
  }

 private:
  struct Held {
    Journal::Ticket ticket;  // once this is durable they may go
    std::vector<Message> messages;
  };
  CallKeeper& calls_;
  const std::function<void(const Message&)> pass_;
  std::deque<Held> held_;
};

/// A request as the records hear of it: [client, engine, delimiter, ...]. HeldRequests calls it, or
/// an overload for its own kind of request.
inline const SharedFrames& call_of(const SharedFrames& request) {
  return request;
}

/// HeldMessages for requests to engines, which also tells the hub's records of each. The records
/// hear of them at once, not when they leave: an engine may die while its requests wait for the
/// disk, and they end there like those that the engine has received.
/// Request  SharedFrames, or something that there is a call_of() for.
template <class Request>
class HeldRequests {
 public:
  /// pass    passes one on to its engine.
  /// record  tells the records of one.
  HeldRequests(CallKeeper& calls, std::function<void(const Request&)> pass,
               std::function<void(DirectSubmitted)> record)
      : calls_(calls), held_(calls, std::move(pass)), record_(std::move(record)) {}

  /// As HeldMessages::pass_on().
  void pass_on(std::vector<Request> requests) {
    std::vector<DirectSubmitted> submitted = submitted_by(requests);
    held_.pass_on(std::move(requests));  // first: the engines wait, and the records do not
    record(std::move(submitted));
  }
  /// Passes on once more what was passed on before, or is still held here: its engine may have lost
  /// it with a connection. The journal has these requests already.
  void pass_again(std::vector<Request> requests) {
    std::vector<DirectSubmitted> submitted = submitted_by(requests);
    held_.pass_in_order(std::move(requests));
    record(std::move(submitted));
  }
  /// As HeldMessages::on_journal().
  void on_journal() { held_.on_journal(); }

 private:
  std::vector<DirectSubmitted> submitted_by(const std::vector<Request>& requests) const {
    std::vector<DirectSubmitted> submitted;
    submitted.reserve(requests.size());
    for (const Request& request : requests) submitted.push_back(calls_.submitted(call_of(request)));
    return submitted;
  }
  void record(std::vector<DirectSubmitted> submitted) {
    for (DirectSubmitted& each : submitted) record_(std::move(each));
  }

  CallKeeper& calls_;
  HeldMessages<Request> held_;
  const std::function<void(DirectSubmitted)> record_;
};

}  // namespace px::controller
