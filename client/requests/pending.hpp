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
#include "client/requests/sent_request.hpp"
#include "wire/recent_map.hpp"

namespace px::client {

/// How the client knows that all output of a request has arrived.
enum class OutputEnd {
  none,      ///< No output is awaited: hub queries, control messages.
  by_leave,  ///< None; the engine is asked to end, and its departure counts as the answer.
  by_idle,   ///< The engine publishes "idle" after the output (protocol 10.4).
  by_count,  ///< The reply gives the number of publications; if not, like by_idle.
};

/// The requests that are not answered, or whose output is not complete. This class finds the Call
/// to which an arriving message belongs, knows which requests must be sent again after a break, and
/// fails requests that can no longer be answered. Its functions run the handlers of Call. Uses no
/// socket, thread or clock; the I/O thread owns it.
class PendingRequests {
 public:
  /// A request at the time when it is sent.
  struct PendingRequest {
    /// The Call to which it belongs, and its number there.
    std::shared_ptr<Call> call;
    std::size_t task = 0;
    EngineUuid engine;  ///< The receiver; empty: the controller chooses.
    OutputEnd output_end = OutputEnd::by_idle;
    /// The message as it was sent, until it is answered; null: it cannot be sent again.
    std::shared_ptr<const SentRequest> sent = {};
    /// Keeps the shared memory of its buffers until it is answered.
    std::shared_ptr<const void> hold = {};
    /// It was sent again to another controller or engine connection, so some of its output may be
    /// lost and the end of output may never be announced.
    bool may_lack_output = false;
    RequestChannel channel = RequestChannel::direct;
    /// It was sent again because a connection broke: see begin_again_by().
    bool is_sent_again = false;
    /// It is not sent yet, because its buffers are still being transferred: see sent().
    bool waits = false;
  };
  /// From now on the answer to the request is awaited.
  void add(const MessageId& id, PendingRequest entry);
  /// A request with PendingRequest::waits is sent now.
  /// as      the message.
  /// result  false: the request has failed in the meantime; do not send it.
  bool sent(const MessageId& id, std::shared_ptr<const SentRequest> as,
            std::shared_ptr<const void> hold);

  /// A reply has arrived. Returns false if its request is unknown or was answered before.
  bool answer(const ReplyHead& head, Reply reply, WallTime now);
  /// Something was published for this request. Threads and child processes may print after a
  /// request has ended: this output is added to the Call as long as the Call exists, but only for
  /// the last max_ended requests. Returns false if there is no Call for the output.
  bool publish(const MessageId& id, Publication publication);
  /// No more output will come for this request: "idle" was published for it.
  bool finish_output(const MessageId& id);
  /// Output of unknown requests was dropped in transit: requests no longer wait for their output to
  /// be complete.
  void lose_output();
  /// A balanced task runs on this engine. Ignored for requests to a given engine.
  void learn_engine(const MessageId& id, EngineId engine, const EngineUuid& uuid);

  /// The controller's report about an engine that has left. Without a report, both strings are
  /// empty.
  struct EngineLoss {
    std::string host, reason;
  };
  /// An engine has left: unanswered requests that were sent to it fail with "EngineError". If one
  /// of these requests asked the engine to leave, this request succeeds.
  void lose_engine(const EngineUuid& uuid, EngineId id, WallTime now, const EngineLoss& loss = {});
  /// Fails all requests: the controller is lost, or the client closes.
  void fail_all(const Failure& failure, WallTime now);
  /// Fails one request, if its answer is awaited.
  void fail(const MessageId& id, const Failure& failure, WallTime now);

  /// The requests that are sent again, and those that are lost.
  struct Unanswered {
    std::vector<std::shared_ptr<const SentRequest>> to_send;  ///< Each once, in the order of
                                                              ///< sending.
    std::vector<MessageId> lost;                              ///< Requests that cannot be sent
                                                              ///< again.
  };
  /// The controller was restarted and has lost its state: returns all unanswered requests. The end
  /// of output of answered requests is no longer awaited.
  Unanswered begin_again();
  /// The connections for these channels broke and were restored, to the same controller. Messages
  /// in transit are lost; the controller and the engines still have the others. Requests sent on
  /// these channels are sent again (engines recognise repeats). A request that cannot be sent again
  /// is lost if it is a control message or a question; otherwise it may still be answered.
  Unanswered begin_again_by(const std::set<RequestChannel>& channels);

  /// Connections of this engine broke and were restored: returns the unanswered requests that were
  /// sent to it, in the order of sending.
  std::vector<std::shared_ptr<const SentRequest>> begin_again_with(const EngineUuid& uuid);

  /// Whether the caller must call finish_output() for this request some time after its answer,
  /// because the end of its output may not be announced.
  bool may_lack_output(const MessageId& id) const;
  /// PendingRequest::is_sent_again; false for unknown requests.
  bool is_sent_again(const MessageId& id) const;

  /// The number of requests without a reply.
  std::size_t unanswered() const { return unanswered_; }
  /// Their ids, in no particular order.
  std::vector<MessageId> unanswered_ids() const;

  /// The number of ended requests whose late output still reaches the Call.
  static constexpr std::size_t max_ended = 4096;

 private:
  /// A request whose answer is awaited, and what has arrived for it so far.
  struct AwaitedRequest {
    PendingRequest entry;
    bool is_answered = false;
    std::size_t published = 0;
    std::optional<std::size_t> expected;  // number of publications, once a reply has given it
    bool was_idle = false;
  };
  /// A request that has ended, kept for late output.
  struct EndedRequest {
    std::weak_ptr<Call> call;
    std::size_t task = 0;
  };
  using States = std::unordered_map<MessageId, AwaitedRequest, StringIdHash, StringIdEqual>;
  void settle(States::iterator found);
  void finish(States::iterator found, const EngineUuid& engine, WallTime now);
  void fail(States::iterator found, const Failure& failure, WallTime now);
  void forget(States::iterator found);
  static bool is_output_complete(const AwaitedRequest& state);

  States states_;
  std::unordered_map<EngineUuid, std::unordered_set<std::string>, StringIdHash, StringIdEqual>
      by_engine_;
  RecentMap<MessageId, EndedRequest, StringIdHash> ended_{max_ended};
  std::size_t unanswered_ = 0;
};

}  // namespace px::client
