#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "controller/journal/call_journal.hpp"
#include "controller/relay/client_link.hpp"
#include "controller/relay/engine_link.hpp"
#include "controller/relay/relay_context.hpp"
#include "wire/ids.hpp"

namespace px::controller {

/// A channel of explicitly addressed messages, mux or control: swaps the two routing frames and
/// opens nothing (protocol 4.2).
class DirectRelay {
 public:
  /// is_recorded  the hub hears of what passes.
  /// calls        where it is written down; null: nowhere.
  DirectRelay(RelayContext& shared, ClientLink& client, EngineLink& engines, bool is_recorded,
              std::string_view name, std::unique_ptr<CallJournal> calls = nullptr);
  void receive_requests();
  void receive_replies();

  // All below does something only where there is a journal.

  /// Goes on with what an earlier controller wrote down. Call it once, when those of its engines
  /// that are known have joined, and before anything is received.
  /// patience  for the others.
  void restore(Duration patience);
  /// An engine is there, or there again: what it owes it is asked for once more, as requests or
  /// replies may have been lost on their way. It knows again what it has.
  void engine_returned(const EngineUuid& engine);
  void engine_left(const EngineUuid& engine);
  /// What an engine prints: [topic, delimiter, ...].
  void published(const SharedFrames& frames, const Envelope& envelope);
  void on_time(Instant now);
  /// More of the journal may be on the disk.
  void on_journal();
  std::optional<Instant> next_deadline() const;

 private:
  /// What is to be passed on once the journal is on the disk.
  struct Held {
    Journal::Ticket ticket;
    std::vector<SharedFrames> messages;
  };
  using PassOn = void (DirectRelay::*)(const SharedFrames&);
  SharedFrames receive(net::Socket& socket);
  bool is_well_formed(const Frames& frames);
  void pass_on(std::vector<SharedFrames> messages, std::deque<Held>& held, PassOn pass);
  void pass_request(const SharedFrames& frames);
  void pass_reply(const SharedFrames& frames);
  void ask(const EngineUuid& engine, const SharedFrames& request);
  void record(const LeftCall& call);
  void tell_of_journal(bool is_written);

  RelayContext& shared_;
  ClientLink& client_;
  EngineLink& engines_;
  bool is_recorded_;
  std::string_view name_;
  const std::unique_ptr<CallJournal> calls_;
  std::deque<Held> requests_, replies_;
  std::optional<Instant> give_up_;    // engines that have not come back
  bool is_journal_refused_ = false;  // the log says so
};

}  // namespace px::controller
