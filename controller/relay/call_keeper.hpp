#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "controller/journal/call_journal.hpp"
#include "controller/relay/relay_context.hpp"
#include "wire/ids.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// The journal of calls as the relays of direct calls and of broadcasts use it: they tell it what
/// they pass on, and go on with what an earlier controller left. Without a journal it does nothing.
/// The I/O thread owns it.
class CallKeeper {
 public:
  /// calls  null: there is no journal.
  CallKeeper(RelayContext& shared, std::unique_ptr<CallJournal> calls)
      : shared_(shared), calls_(std::move(calls)) {}

  bool has_journal() const { return calls_ != nullptr; }

  // As in CallJournal.
  void requested(const SharedFrames& frames);
  void replied(const SharedFrames& frames);
  void published(const SharedFrames& frames, const Envelope& envelope);
  void engine_left(const EngineUuid& engine);
  std::vector<SharedFrames> owed_by(const EngineUuid& engine, CallChannel channel) const;

  /// Writes what was told. Nothing where that cannot be done, and the log says so: a disk that is
  /// full does not stop calls, they do not outlive the controller then.
  std::optional<Journal::Ticket> commit();
  /// Whether what was written up to this ticket may be passed on.
  bool is_written(Journal::Ticket ticket) const;

  /// What an earlier controller left, in the order of the requests; the records have it then. Call
  /// it once, and before anything is received.
  /// patience  for engines that owe something.
  std::vector<LeftCall> restore(Duration patience);
  /// Engines that owe something to an earlier controller and have not come back.
  std::set<EngineUuid> awaited() const;
  void engine_returned(const EngineUuid& engine);
  /// Engines that are waited for no longer, as they have not come back.
  std::set<EngineUuid> on_time(Instant now);
  std::optional<Instant> next_deadline() const { return give_up_; }

 private:
  void record(const LeftCall& call);
  std::set<EngineUuid> give_up_awaited();
  void tell_of_journal(bool is_written);

  RelayContext& shared_;
  const std::unique_ptr<CallJournal> calls_;
  std::optional<Instant> give_up_;   // engines that have not come back
  bool is_journal_refused_ = false;  // the log says so
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
    if (ticket && !(held_.empty() && calls_.is_written(*ticket)))
      return held_.push_back({*ticket, std::move(messages)});
    for (const Message& message : messages) pass_(message);
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

}  // namespace px::controller
