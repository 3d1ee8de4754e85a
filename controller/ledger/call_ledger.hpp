#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "controller/hub/hub_events.hpp"
#include "controller/journal/call_journal.hpp"
#include "controller/ledger/broadcast_calls.hpp"
#include "controller/ledger/journal_wait.hpp"
#include "wire/engine_end.hpp"
#include "wire/ids.hpp"
#include "wire/session.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// Sends and records messages for a CallLedger. The CallRelay does it with sockets,
/// tests/simulation with a simulated network. The ledger's functions call it, on their thread; it
/// must not call the ledger.
class CallTransport {
 public:
  virtual ~CallTransport() = default;

  /// Whether the engine is registered.
  virtual bool is_member(const EngineUuid& engine) const = 0;
  /// The reason why the engine must get no more on this channel: too much waits for it. Nothing if
  /// it may.
  virtual std::optional<Problem> overload(CallChannel channel, const EngineUuid& engine) const = 0;
  /// The message together with its data in shared memory: see SharedMemory::whole().
  virtual SharedFrames whole(const SharedFrames& frames) const = 0;
  virtual WallTime wall() const = 0;

  /// Sends a call to its engine: [client, engine, delimiter, ...].
  virtual void ask(CallChannel channel, const SharedFrames& call) = 0;
  /// Sends the reply to a direct call to its client: [engine, client, delimiter, ...].
  virtual void answer(const SharedFrames& reply) = 0;
  /// Sends the reply to a broadcast to its client.
  virtual void answer(const BroadcastToClient& message) = 0;
  virtual void record(HubEvent event) = 0;
};

/// The life of each direct call and each engine's copy of a broadcast in the controller, from its
/// arrival until its reply was sent: recorded, sent to the engine, answered, recorded, delivered. A
/// copy of a broadcast differs from a direct call in its channel, and its reply may be gathered
/// with others (BroadcastCalls).
///
/// It promises: with a journal, a call of up to 1 MiB that its engine has not answered outlives the
/// controller, and is sent again to the engine when that returns; it does not run twice, because
/// the engine recognizes it. A disk that is full or fails delays neither calls nor replies: they
/// are passed on, but do not outlive the controller.
///
/// The places of an unanswered call: in `waiting_` until the journal is durable (only with
/// --journal=power), then in the EngineLink until the engine's connection takes it. The CallJournal
/// has a copy until its reply arrives, its engine leaves, or its engine does not return in time.
/// Replies are in `waiting_` for the same reason, those of a gathered broadcast after that in
/// BroadcastCalls until all have arrived or one engine has left.
///
/// It also knows which engines are awaited: engines that are not registered and were sent a request
/// that must end here, i.e. a broadcast, or a call that is recorded. An engine that does not
/// register within `patience` is given up, and the calls that it owes end with an EngineError.
///
/// The CallRelay owns it, on the I/O thread. Uses no socket and no clock.
class CallLedger {
 public:
  /// journal    null: calls are not recorded.
  /// session    signs copies of broadcasts, and errors sent instead of replies.
  /// patience   for engines that owe an answer and are not registered.
  /// transport  outlives the ledger.
  CallLedger(std::unique_ptr<CallJournal> journal, Session session, Duration patience,
             CallTransport& transport);

  /// Continues the work that an earlier controller left: enters it into the records, and returns
  /// it, in the order of the requests. Call it once, after the known engines have joined, and
  /// before all other functions.
  std::vector<LeftCall> restore(Instant now);

  /// A client sends a request to one engine: [client, engine, delimiter, ...], with any signature.
  void requested(SharedFrames call, Instant now);
  /// A client sends a request to many engines: verified, [client, delimiter, ...].
  /// errors  bad_input: as BroadcastCalls::request(); nothing was done.
  Result<void> broadcast(const SharedFrames& request, const Envelope& envelope, Instant now);
  /// An engine answers: [engine, client, delimiter, ...]; the answer to a broadcast is verified.
  void replied(CallChannel channel, SharedFrames reply);
  /// An engine prints or shows something: [topic, delimiter, ...].
  void published(const SharedFrames& output, const Envelope& envelope);
  /// Records all reports since the last call, and passes on the requests and replies: now, or once
  /// the journal is durable. Call it after all messages of a turn were reported, so that they are
  /// written together.
  void commit();
  /// This call did not reach its engine, and the controller answers it. A call that was answered
  /// before, and was sent again because the reply did not reach its client, is not recorded as
  /// failed.
  void undelivered(CallChannel channel, const SharedFrames& call, const Problem& problem);

  /// The engine is registered, for the first time or again: it is sent all calls that it owes. It
  /// recognizes those that it already has, and runs nothing twice.
  void engine_joined(const EngineUuid& engine);
  /// One of its connections broke and was restored: the calls that were sent to it on that
  /// connection are sent again.
  void engine_reconnected(const EngineUuid& engine, CallChannel channel);
  /// The calls that the engine has not answered end: gathered broadcasts with an EngineError that
  /// contains `end`. The client of a direct call learns it from the notification that the engine
  /// has left.
  void engine_left(const EngineUuid& engine, const EngineEnd& end);

  /// Gives up engines that have not come in time, and writes records that may be written late.
  void on_time(Instant now);
  /// More of the journal may be on the disk, or the disk may fail: passes on what is due.
  void on_journal();
  std::optional<Instant> next_deadline() const;
  /// The reason why nothing has reached the disk for some time, in a sentence; nothing if there is
  /// no problem, or no journal.
  std::optional<std::string> trouble() const {
    return journal_ ? journal_->trouble() : std::nullopt;
  }

  /// The awaited engines, and until when each is awaited.
  const std::map<EngineUuid, Instant>& awaited() const { return awaited_; }
  /// The number of unanswered calls in the journal.
  std::size_t owed() const { return journal_ ? journal_->owed() : 0; }
  /// The calls in the journal that the engine owes on this channel, in the order of the requests.
  std::vector<SharedFrames> owed_by(const EngineUuid& engine, CallChannel channel) const;
  /// The number of gathered broadcasts that wait for replies.
  std::size_t open_broadcasts() const { return broadcasts_.open_calls(); }

 private:
  struct Asked {
    CallChannel channel;
    SharedFrames call;
  };
  struct Replied {
    CallChannel channel;
    SharedFrames reply;
    bool is_own = false;  // made here, instead of by the engine
  };
  /// Messages that are sent once the journal has them.
  using Outgoing = std::variant<Asked, Replied, BroadcastToClient>;

  void ask(std::vector<Asked> calls);
  void ask_again(const EngineUuid& engine, CallChannel channel);
  bool is_question(const Frames& call) const;
  DirectSubmitted submitted(const SharedFrames& call) const;
  void await(const EngineUuid& engine, Instant now);
  void record(const LeftCall& call);
  void end_gathered(const EngineUuid& engine, const EngineEnd& end);
  std::vector<EngineUuid> give_up_awaited(Instant now);
  void pass_on(std::vector<Outgoing> messages);
  void pass_in_order(Outgoing message);
  void pass(const Outgoing& message);
  void pass(const Replied& reply);
  bool may_pass(Journal::Ticket ticket) const;
  std::optional<Journal::Ticket> write();
  void note_journal(bool is_written);
  void note_bound();

  CallTransport& transport_;
  const std::unique_ptr<CallJournal> journal_;
  Session session_;
  const Duration patience_;
  BroadcastCalls broadcasts_;
  std::vector<Asked> requested_;   // until commit()
  std::vector<Outgoing> replied_;  // until commit()
  JournalWait<Outgoing> waiting_;
  std::map<EngineUuid, Instant> awaited_;
  std::deque<std::pair<Instant, EngineUuid>> ends_;  // of their patience; some have joined in the
                                                     // meantime
  bool is_journal_refused_ = false;                  // the log says so
  bool is_full_ = false;                             // the log says so
};

}  // namespace px::controller
