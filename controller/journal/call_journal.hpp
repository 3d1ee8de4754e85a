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

/// The sockets by which a call goes to its engine.
enum class CallChannel {
  mux,
  broadcast,  ///< It is an engine's copy of a broadcast.
};

/// A call of one engine as an earlier controller left it.
struct LeftCall {
  MessageId msg_id;
  EngineUuid engine;                  ///< That was asked.
  SharedFrames request;               ///< [client, engine, delimiter, ...]
  bool is_open = false;               ///< The engine is to be asked once more.
  SharedFrames reply = {};            ///< [engine, client, delimiter, ...]; null: there is none.
  std::vector<SharedFrames> outputs;  ///< [topic, delimiter, ...], in their order.
  /// Why there is no reply: the name of the error, and a sentence.
  std::string error_name = {}, error_value = {};
  bool is_engine_gone = false;  ///< That is why.
};

/// Writes down direct calls and the copies of broadcasts, what they print and their replies, and
/// knows which of them an engine still owes. A call is owed, and its request kept here, from
/// requested() until replied(), or until its engine has left or is given up. Long calls, and calls
/// beyond a bound, are left out: they pass, but do not outlive the controller.
///
/// CallLedger owns it, on the I/O thread. It passes nothing on, and what is told is not durable
/// before commit() and is_durable() say so. Sees no socket and no clock.
class CallJournal {
 public:
  /// Requests and replies that are longer than so many bytes are not written,
  static constexpr std::size_t longest = std::size_t{1} << 20;
  /// nor what one call prints beyond this.
  static constexpr std::size_t longest_output = std::size_t{64} << 10;
  /// A broadcast whose copies are longer than this together is not written either.
  static constexpr std::size_t longest_broadcast = std::size_t{16} << 20;
  /// What the journal of a CallJournal keeps.
  static JournalIndex::Limits limits();

  /// session          verifies what is to be written.
  /// most_owed_bytes  of requests that are not answered: beyond it further ones are not written.
  CallJournal(std::unique_ptr<Journal> journal, Session session,
              std::size_t most_owed_bytes = std::size_t{1} << 30)
      : journal_(std::move(journal)),
        session_(std::move(session)),
        most_owed_bytes_(most_owed_bytes) {}

  /// What an earlier controller left, in the order of the requests. Call it once, before all else.
  std::vector<LeftCall> replay();
  /// A client asks an engine: [client, engine, delimiter, ...]. One that is no call, or is not
  /// signed rightly, is left out.
  void requested(const SharedFrames& frames);
  /// An engine answers: [engine, client, delimiter, ...].
  void replied(const SharedFrames& frames);
  /// An engine prints or shows something: [topic, delimiter, ...]. It is written with the reply, or
  /// when the engine has left; what comes after the reply is written by commit_late().
  void published(const SharedFrames& frames, const Envelope& envelope);
  /// The engine has left: what it owes will not come, and ends as failed.
  void engine_left(const EngineUuid& engine);

  /// What the engine owes and got by this channel, in the order of the requests.
  std::vector<SharedFrames> owed_by(const EngineUuid& engine, CallChannel channel) const;
  /// Whether this request is one that is owed.
  bool is_owed(const Frames& request) const;
  /// Whether the end of this request is written, and not forgotten.
  bool is_answered(const Frames& request) const;
  /// How many calls are not answered.
  std::size_t owed() const { return owed_.size(); }
  /// Whether so much is owed that further requests are not written.
  bool is_full() const;
  /// The engine has not come, or not come back, and is waited for no longer. Returns what it owed,
  /// each with the error that ends it.
  std::vector<LeftCall> give_up(const EngineUuid& engine);

  // As in Journal.
  Result<Journal::Ticket> commit() { return journal_->commit(); }
  /// Also writes once more the latest replies for which something was printed after they came. To
  /// be called once a turn.
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
    SharedFrames request;               // null: it is answered, and was not asked for again
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
