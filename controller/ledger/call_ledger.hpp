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

/// Sends and records messages for a CallLedger. The CallRelay does it with sockets, and
/// tests/simulation with a network of its own. The ledger's functions call it, on their thread; it
/// must not call the ledger.
class CallTransport {
 public:
  virtual ~CallTransport() = default;

  /// Whether the engine is registered.
  virtual bool is_member(const EngineUuid& engine) const = 0;
  /// Why the engine is to get no more on this channel, as so much waits for it; nothing: it may.
  virtual std::optional<Problem> overload(CallChannel channel, const EngineUuid& engine) const = 0;
  /// The message with what it names in shared memory: see SharedMemory::whole().
  virtual SharedFrames whole(const SharedFrames& frames) const = 0;
  virtual WallTime wall() const = 0;

  /// Hands a call to its engine: [client, engine, delimiter, ...].
  virtual void ask(CallChannel channel, const SharedFrames& call) = 0;
  /// Sends the reply to a direct call to its client: [engine, client, delimiter, ...].
  virtual void answer(const SharedFrames& reply) = 0;
  /// The same of a broadcast.
  virtual void answer(const BroadcastToClient& message) = 0;
  virtual void record(HubEvent event) = 0;
};

/// The life of each direct call and each engine's copy of a broadcast in the controller, from the
/// moment in which it came until its reply was sent: written, asked, answered, written, delivered.
/// A copy of a broadcast differs from a direct call in the channel by which it goes, and in that
/// its reply may be gathered with others (BroadcastCalls).
///
/// It promises: with a journal, a call of up to 1 MiB that its engine has not answered outlives
/// the controller, and the engine is asked for it again when it comes back; it does not run twice,
/// as the engine recognizes it. A disk that is full or in trouble holds up neither calls
/// nor replies: they pass, but do not outlive the controller.
///
/// Where an unanswered call lies: in `waiting_` until the journal is durable (only with
/// --journal=power), then in the EngineLink until the engine's connection takes it. The CallJournal
/// has a copy until its reply comes, its engine leaves, or its engine does not come back in time.
/// Replies lie in `waiting_` for the same reason, those of a gathered broadcast then in
/// BroadcastCalls until all have come or one engine has left.
///
/// It also knows which engines are waited for: those that are not registered and were asked for
/// something that has to end here, which is a broadcast, or a call that is written down. An engine
/// that does not register within `patience` is given up, and what it owes ends as an EngineError.
///
/// The CallRelay owns it, on the I/O thread. Sees no socket and no clock.
class CallLedger {
 public:
  /// journal    null: nothing is written down.
  /// session    signs copies of broadcasts, and errors in the place of replies.
  /// patience   for engines that owe something and are not there.
  /// transport  outlives the ledger.
  CallLedger(std::unique_ptr<CallJournal> journal, Session session, Duration patience,
             CallTransport& transport);

  /// Goes on with what an earlier controller left: the records have it then, and it is returned, in
  /// the order of the requests. Call it once, when those engines that are known have joined, and
  /// before all else.
  std::vector<LeftCall> restore(Instant now);

  /// A client asks one engine: [client, engine, delimiter, ...], of whatever signature.
  void requested(SharedFrames call, Instant now);
  /// A client asks many: a verified request, [client, delimiter, ...].
  /// errors  bad_input: as BroadcastCalls::request(); nothing was done.
  Result<void> broadcast(const SharedFrames& request, const Envelope& envelope, Instant now);
  /// An engine answers: [engine, client, delimiter, ...]; that of a broadcast is verified.
  void replied(CallChannel channel, SharedFrames reply);
  /// An engine prints or shows something: [topic, delimiter, ...].
  void published(const SharedFrames& output, const Envelope& envelope);
  /// Writes what was told since the last time, and passes on the requests and replies: now, or once
  /// the journal is durable. To be called when all messages of a turn were told, so that they are
  /// written together.
  void commit();
  /// This call did not reach its engine, and is answered in its place. A call that was answered
  /// before, and was sent again as its client lost the reply, is not recorded as failed.
  void undelivered(CallChannel channel, const SharedFrames& call, const Problem& problem);

  /// The engine is registered, for the first time or again: it is asked for all that it owes. It
  /// knows again what it has got, and runs nothing twice.
  void engine_joined(const EngineUuid& engine);
  /// One of its connections broke and stands again: it is asked again for what it got by that.
  void engine_reconnected(const EngineUuid& engine, CallChannel channel);
  /// The calls that the engine has not answered end: gathered broadcasts by an EngineError that
  /// says `end`. The client
  /// of a direct call learns it by the notification that the engine has left.
  void engine_left(const EngineUuid& engine, const EngineEnd& end);

  /// Gives up engines that have not come in time, and writes what may be written late.
  void on_time(Instant now);
  /// More of the journal may be on the disk, or the disk may be in trouble: passes on what is due.
  void on_journal();
  std::optional<Instant> next_deadline() const;
  /// Why nothing has reached the disk for a while, in a sentence; nothing: all is well, or there is
  /// no journal.
  std::optional<std::string> trouble() const {
    return journal_ ? journal_->trouble() : std::nullopt;
  }

  /// The engines that are waited for, and until when.
  const std::map<EngineUuid, Instant>& awaited() const { return awaited_; }
  /// How many calls in the journal are not answered.
  std::size_t owed() const { return journal_ ? journal_->owed() : 0; }
  /// What the journal knows that the engine owes by this channel, in the order of the requests.
  std::vector<SharedFrames> owed_by(const EngineUuid& engine, CallChannel channel) const;
  /// How many gathered broadcasts wait for replies.
  std::size_t open_broadcasts() const { return broadcasts_.open_calls(); }

 private:
  struct Asked {
    CallChannel channel;
    SharedFrames call;
  };
  struct Replied {
    CallChannel channel;
    SharedFrames reply;
    bool is_own = false;  // made here, in the engine's place
  };
  /// What goes out once the journal has it.
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
  std::vector<Outgoing> replied_;  // the same
  JournalWait<Outgoing> waiting_;
  std::map<EngineUuid, Instant> awaited_;
  std::deque<std::pair<Instant, EngineUuid>> ends_;  // of their patience; some are there meanwhile
  bool is_journal_refused_ = false;                  // the log says so
  bool is_full_ = false;                             // the same
};

}  // namespace px::controller
