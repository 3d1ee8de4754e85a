#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "controller/journal/journal.hpp"
#include "wire/envelope.hpp"
#include "wire/session.hpp"

namespace px::controller {

/// The sockets on which a call is sent to its engine.
enum class CallChannel {
  mux,
  broadcast,  ///< The call is an engine's copy of a broadcast.
};

/// A call of one engine as an earlier controller left it.
struct LeftCall {
  MessageId msg_id;
  EngineUuid engine;                  ///< The engine that was to run it.
  SharedFrames request;               ///< [client, engine, delimiter, ...]
  bool is_open = false;               ///< It must be sent to the engine again.
  SharedFrames reply = {};            ///< [engine, client, delimiter, ...]; null: there is none.
  std::vector<SharedFrames> outputs;  ///< [topic, delimiter, ...], in their order.
  /// Why there is no reply: the name of the error, and a sentence.
  std::string error_name = {}, error_value = {};
  bool is_engine_gone = false;  ///< Whether the reason is that the engine is gone.
};

/// Records direct calls and the copies of broadcasts, their output and their replies, and knows
/// which of them an engine still owes. A call is owed, and its request kept here, from requested()
/// until replied(), or until its engine has left or is given up. Long calls, and calls beyond a
/// limit, are left out: they are passed on, but do not outlive the controller.
///
/// CallLedger owns it, on the I/O thread. It passes no messages on, and records are not durable
/// before commit() and is_durable() say so. Uses no socket and no clock.
class CallJournal {
 public:
  /// Longer requests and replies are not written.
  static constexpr std::size_t longest = std::size_t{1} << 20;
  /// Output of one call beyond this size is not written.
  static constexpr std::size_t longest_output = std::size_t{64} << 10;
  /// A broadcast whose copies are together longer than this is not written either.
  static constexpr std::size_t longest_broadcast = std::size_t{16} << 20;
  /// The limits of the journal of a CallJournal.
  static JournalIndex::Limits limits();

  /// session          verifies messages before they are written.
  /// most_owed_bytes  of unanswered requests: further ones beyond it are not written.
  CallJournal(std::unique_ptr<Journal> journal, Session session,
              std::size_t most_owed_bytes = std::size_t{1} << 30)
      : journal_(std::move(journal)),
        session_(std::move(session)),
        most_owed_bytes_(most_owed_bytes) {}

  /// Gives the calls of an earlier controller, in order of the requests. Call it once, before all
  /// other functions.
  std::vector<LeftCall> replay();
  /// A client sends a request to an engine: [client, engine, delimiter, ...]. Messages that are not
  /// calls, or have a wrong signature, are left out.
  void requested(const SharedFrames& frames);
  /// An engine answers: [engine, client, delimiter, ...].
  void replied(const SharedFrames& frames);
  /// An engine prints or shows something: [topic, delimiter, ...]. It is written with the reply, or
  /// when the engine has left; commit_late() writes output that arrives after the reply.
  void published(const SharedFrames& frames, const Envelope& envelope);
  /// The engine has left: the calls that it owes will not be answered, and end as failed.
  void engine_left(const EngineUuid& engine);

  /// The calls that the engine owes and got on this channel, in the order of the requests.
  std::vector<SharedFrames> owed_by(const EngineUuid& engine, CallChannel channel) const;
  /// Whether this request is owed.
  bool is_owed(const Frames& request) const;
  /// Whether the end of this request is written, and not forgotten.
  bool is_answered(const Frames& request) const;
  /// The number of unanswered calls.
  std::size_t owed() const { return owed_.size(); }
  /// Whether so much is owed that further requests are not written.
  bool is_full() const;
  /// The engine has not come, or not returned, and is no longer awaited. Returns the calls that it
  /// owed, each with the error that ends it.
  std::vector<LeftCall> give_up(const EngineUuid& engine);

  // Like Journal::commit().
  Result<Journal::Ticket> commit() { return journal_->commit(); }
  /// Also writes again the latest replies for which output arrived after them. Call it once a turn.
  Result<Journal::Ticket> commit_late();
  bool is_durable(Journal::Ticket ticket) const { return journal_->is_durable(ticket); }
  bool has_failed() const { return journal_->failure().has_value(); }
  std::optional<std::string> trouble() const { return journal_->trouble(); }
  std::vector<std::string> take_errors() { return journal_->take_errors(); }

 private:
  struct Call {
    std::uint64_t order = 0;
    EngineUuid engine;
    CallChannel channel = CallChannel::mux;
    SharedFrames request;  // null: it is answered, and was not sent again
    std::vector<SharedFrames> outputs;
    std::size_t output_bytes = 0;
    SharedFrames reply = {};  // null: there is none, or an earlier controller had it
    TaskOutcome outcome = TaskOutcome::ok;
  };
  using Calls = std::unordered_map<std::string, Call, StringIdHash, std::equal_to<>>;
  bool is_signed(const Frames& frames, std::size_t idents) const;
  LeftCall read(ReplayedTask task);
  CallChannel channel_of(std::string_view metadata) const;
  void open(const MessageId& msg_id, SharedFrames request);
  void write_end(const std::string& msg_id, const Call& call);
  void keep_for_late_output(Calls::iterator found);
  void settle(const Call& call);

  const std::unique_ptr<Journal> journal_;
  const Session session_;
  Calls calls_;                       // those that are owed, and the latest answered ones
  std::map<std::uint64_t, std::string> owed_;  // their msg_ids, by order
  std::deque<std::string> answered_;  // of calls_; the oldest first
  std::set<std::string> printed_late_;  // msg_ids, for commit_late()
  std::uint64_t last_order_ = 0;
  const std::size_t most_owed_bytes_;
  std::size_t owed_bytes_ = 0;  // of the requests of owed_
};

}  // namespace px::controller
