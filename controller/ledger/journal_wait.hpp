#pragma once

#include <deque>
#include <optional>
#include <utility>

#include "controller/journal/journal.hpp"

namespace px::controller {

/// What must not happen before the journal has something: a request must not reach an engine, nor a
/// reply its client, while a crash could still make the controller forget it. Each thing lies here
/// from push() until the ticket of its commit is due, and they leave in the order in which they
/// came. With --journal=process whatever was written is durable at once, and without a journal
/// there is nothing to wait for: then nothing lies here. Owned by a ledger, on the I/O thread.
template <class What>
class JournalWait {
 public:
  struct Ticketed {
    Journal::Ticket ticket;
    What what;
  };

  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  void push(Journal::Ticket ticket, What what) { entries_.push_back({ticket, std::move(what)}); }
  /// Adds what waits for nothing itself, but must not overtake what lies here. Precondition: not
  /// empty.
  void push_behind(What what) { push(entries_.back().ticket, std::move(what)); }
  /// Takes out the first one if `is_due` says so of its ticket; nothing: it has to wait on.
  template <class IsDue>
  std::optional<Ticketed> pop(const IsDue& is_due) {
    if (entries_.empty() || !is_due(entries_.front().ticket)) return std::nullopt;
    Ticketed first = std::move(entries_.front());
    entries_.pop_front();
    return first;
  }

 private:
  std::deque<Ticketed> entries_;
};

}  // namespace px::controller
