#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "client/requests/call.hpp"
#include "client/requests/way.hpp"
#include "wire/recent_map.hpp"

namespace px::client {

/// How the end of a request's output is known.
enum class OutputEnd {
  none,      ///< There is none to wait for: hub queries, control messages.
  by_leave,  ///< None either, and the engine is asked to end: that it has left is its answer.
  by_idle,   ///< The engine publishes "idle" (protocol 10.4).
  by_count,  ///< The reply says how many publications there are; by idle where it does not.
};

/// What was sent and is not yet answered in full: finds the Call that a message belongs to. Sees
/// no socket, thread or clock; the I/O thread owns it.
class Pending {
 public:
  struct Entry {
    std::shared_ptr<Call> call;
    std::size_t task = 0;
    EngineUuid engine;  ///< Empty: whichever the controller chooses.
    OutputEnd output_end = OutputEnd::by_idle;
    /// As it was sent, until it is answered; null: it cannot be sent again.
    std::shared_ptr<const SentRequest> sent = {};
    /// The shared memory in which its buffers lie, until it is answered.
    std::shared_ptr<const void> hold = {};
    /// It was sent again: some of what was printed for it may be lost.
    bool may_lack_output = false;
    Way way = Way::direct;
    /// It was sent again as a connection broke: see begin_again_by().
    bool is_sent_again = false;
    /// It was not sent yet: see sent().
    bool waits = false;
  };
  void add(const MessageId& id, Entry entry);
  /// What waited is sent now, as this. False: nobody waits for its answer any more.
  bool sent(const MessageId& id, std::shared_ptr<const SentRequest> as,
            std::shared_ptr<const void> hold);

  /// A reply came. False: nobody waits for it (any more).
  bool answer(const ReplyHead& head, Reply reply, WallTime now);
  /// Something was published for this request. Threads and child processes may go on after its
  /// end: what they print is added to the Call as long as it lives, for the latest max_ended
  /// requests. False: nobody has the Call.
  bool publish(const MessageId& id, Publication publication);
  /// "idle" was published for this request.
  bool finish_output(const MessageId& id);
  /// Some output of any request was dropped on its way: nobody waits for it to be complete.
  void lose_output();
  /// Which engine works for a request of which the controller chose the engine.
  void learn_engine(const MessageId& id, EngineId engine, const EngineUuid& uuid);

  /// What the controller says of an engine that has left; empty: nothing.
  struct Loss {
    std::string host, reason;
  };
  /// An engine has left: what it was sent and has not answered fails as "EngineError", or, where it
  /// was asked to leave, is done.
  void lose_engine(const EngineUuid& uuid, EngineId id, WallTime now, const Loss& loss = {});
  /// Everything fails: the controller is lost, or the client closes.
  void fail_all(const Failure& failure, WallTime now);
  void fail(const MessageId& id, const Failure& failure, WallTime now);

  /// The controller was started again: what it had in hand is gone.
  struct Unanswered {
    std::vector<std::shared_ptr<const SentRequest>> to_send;  ///< Each once, in their order.
    std::vector<MessageId> lost;                              ///< Those that cannot be sent again.
  };
  Unanswered begin_again();
  /// The connections for these ways broke and stand again, to the same controller: what was on its
  /// way is gone, what the controller and engines have is not. What was sent by these ways and
  /// cannot be sent again is lost where it is an order or a question; else its answer may come.
  Unanswered begin_again_by(const std::set<Way>& ways);

  /// Connections of this engine broke and stand again: what it was sent and has not answered, in
  /// the order of sending.
  std::vector<std::shared_ptr<const SentRequest>> begin_again_with(const EngineUuid& uuid);

  /// Whether somebody has to finish_output() of this request a while after its answer.
  bool may_lack_output(const MessageId& id) const;
  bool is_sent_again(const MessageId& id) const;

  /// Requests without a reply, of one engine or of all.
  std::size_t unanswered() const { return unanswered_; }
  std::vector<MessageId> unanswered_ids() const;

  static constexpr std::size_t max_ended = 4096;

 private:
  struct State {
    Entry entry;
    bool is_answered = false;
    std::size_t published = 0;
    std::optional<std::size_t> expected;  // publications, once the reply said so
    bool was_idle = false;
  };
  struct Ended {
    std::weak_ptr<Call> call;
    std::size_t task = 0;
  };
  using States = std::unordered_map<MessageId, State, StringIdHash, StringIdEqual>;
  void settle(States::iterator found);
  void finish(States::iterator found, const EngineUuid& engine, WallTime now);
  void fail(States::iterator found, const Failure& failure, WallTime now);
  void forget(States::iterator found);
  static bool is_output_complete(const State& state);

  States states_;
  std::unordered_map<EngineUuid, std::unordered_set<std::string>, StringIdHash, StringIdEqual>
      by_engine_;
  RecentMap<MessageId, Ended, StringIdHash> ended_{max_ended};
  std::size_t unanswered_ = 0;
};

}  // namespace px::client
