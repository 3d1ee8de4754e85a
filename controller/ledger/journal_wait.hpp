#pragma once

#include <deque>
#include <optional>
#include <utility>

#include "controller/journal/journal.hpp"

namespace px::controller {

/// Actions that must wait for the journal: a request must not reach an engine, nor a reply its
/// client, while a crash could still make the controller forget it. Each action waits here from
/// push() until the ticket of its commit is due, and they leave in the order of their arrival. With
/// --journal=process all that was written is durable at once, and without a journal nothing needs
/// to wait: this queue is empty in both cases. A ledger owns it, on the I/O thread.
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
  /// Adds an action that needs no ticket, but must not overtake the waiting ones. Precondition: not
  /// empty.
  void push_behind(What what) { push(entries_.back().ticket, std::move(what)); }
  /// Removes and returns the first one if `is_due` is true for its ticket; nothing: it must still
  /// wait.
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
