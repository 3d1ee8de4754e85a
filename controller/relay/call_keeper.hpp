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
/// they pass on, and go on with what an earlier controller left. Knows which engines are waited
/// for, also where there is no journal. The I/O thread owns it. Sees no socket and no clock.
class CallKeeper {
 public:
  /// calls     null: there is no journal.
  /// patience  for engines that owe something and are not there.
  /// record    puts what was left into the records.
  CallKeeper(std::unique_ptr<CallJournal> calls, Duration patience,
             std::function<void(const LeftCall&)> record)
      : calls_(std::move(calls)), patience_(patience), record_(std::move(record)) {}

  bool has_journal() const { return calls_ != nullptr; }

  // As in CallJournal.
  void requested(const SharedFrames& frames);
  void replied(const SharedFrames& frames);
  void published(const SharedFrames& frames, const Envelope& envelope);
  void engine_left(const EngineUuid& engine);
  std::vector<SharedFrames> owed_by(const EngineUuid& engine, CallChannel channel) const;
  std::size_t owed() const { return calls_ ? calls_->owed() : 0; }

  /// Writes what was told. Nothing where that cannot be done, and the log says so: a disk that is
  /// full does not stop calls, they do not outlive the controller then.
  std::optional<Journal::Ticket> commit();
  /// Whether what was written up to this ticket may be passed on: it is durable, or the disk is in
  /// trouble.
  bool is_written(Journal::Ticket ticket) const;

  /// What an earlier controller left, in the order of the requests; the records have it then. Call
  /// it once, and before anything is received.
  std::vector<LeftCall> restore(Instant now);
  /// It is asked for something and is not registered: it has ended, or has not come back yet.
  void await(const EngineUuid& engine, Instant now);
  void engine_returned(const EngineUuid& engine) { awaited_.erase(engine); }
  /// What the records are to hear of a request that came, [client, engine, delimiter, ...].
  DirectSubmitted submitted(const SharedFrames& request) const;
  /// Until when engines are waited for.
  const std::map<EngineUuid, Instant>& awaited() const { return awaited_; }
  /// Engines that are waited for no longer. What they owed has ended.
  std::vector<EngineUuid> on_time(Instant now);
  /// Why nothing has reached the disk for a while; nothing: all is well.
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

/// Messages that are passed on once the journal has what was told of them.
template <class Message>
class HeldMessages {
 public:
  /// pass  passes one on.
  HeldMessages(CallKeeper& calls, std::function<void(const Message&)> pass)
      : calls_(calls), pass_(std::move(pass)) {}

  /// Passes on what was told since the last commit: now, or when it is written.
  void pass_on(std::vector<Message> messages) {
    if (messages.empty()) return;
    const auto ticket = calls_.commit();
    if (ticket && !calls_.is_written(*ticket))
      held_.push_back({*ticket, std::move(messages)});
    else
      pass_in_order(std::move(messages));
  }
  /// Passes on what waits for nothing itself: now, or with the last of what is held.
  void pass_in_order(std::vector<Message> messages) {
    if (held_.empty())
      for (const Message& message : messages) pass_(message);
    else
      std::move(messages.begin(), messages.end(), std::back_inserter(held_.back().messages));
  }
  /// More of the journal may be on the disk.
  void on_journal() {
    while (!held_.empty() && calls_.is_written(held_.front().ticket)) {
      const Held due = std::move(held_.front());
      held_.pop_front();
      for (const Message& message : due.messages) pass_(message);
    }
  }

 private:
  struct Held {
    Journal::Ticket ticket;
    std::vector<Message> messages;
  };
  CallKeeper& calls_;
  const std::function<void(const Message&)> pass_;
  std::deque<Held> held_;
};

/// A request as the records hear of it: [client, engine, delimiter, ...].
inline const SharedFrames& call_of(const SharedFrames& request) {
  return request;
}

/// Requests that are passed on once the journal has them. The records hear of them at once: an
/// engine may die while its requests wait for the disk, and they end there as those that it had.
/// Request  SharedFrames, or something that there is a call_of() for.
template <class Request>
class HeldRequests {
 public:
  /// pass    passes one on.
  /// record  tells the records of one.
  HeldRequests(CallKeeper& calls, std::function<void(const Request&)> pass,
               std::function<void(DirectSubmitted)> record)
      : calls_(calls), held_(calls, std::move(pass)), record_(std::move(record)) {}

  /// Passes on what was told since the last commit: now, or when it is written.
  void pass_on(std::vector<Request> requests) {
    std::vector<DirectSubmitted> submitted = submitted_by(requests);
    held_.pass_on(std::move(requests));  // first: the engines wait, and the records do not
    record(std::move(submitted));
  }
  /// Passes on once more what was passed on before, or is still held.
  void pass_again(std::vector<Request> requests) {
    std::vector<DirectSubmitted> submitted = submitted_by(requests);
    held_.pass_in_order(std::move(requests));
    record(std::move(submitted));
  }
  /// More of the journal may be on the disk.
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
