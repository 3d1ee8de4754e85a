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
/// to which an arriving message belongs. After a connection broke, the class returns the requests
/// that must be sent again, and fails requests that can no longer be answered. Its functions run
/// the handlers of Call. Uses no socket, thread or clock; the I/O thread owns it.
class PendingRequests {
 public:
  /// A request at the time when it is sent.
  struct PendingRequest {
    /// The Call to which the request belongs, and the number of the request in this Call.
    std::shared_ptr<Call> call;
    std::size_t task = 0;
    EngineUuid engine;  ///< The receiver; empty: the controller chooses.
    OutputEnd output_end = OutputEnd::by_idle;
    /// The message as it was sent, kept until the answer arrives. Null if the message cannot be
    /// sent again.
    std::shared_ptr<const SentRequest> sent = {};
    /// Keeps the shared memory of the request's buffers until the answer arrives.
    std::shared_ptr<const void> hold = {};
    /// Whether some output of the request may be lost, and the end of its output may never be
    /// announced, because the request was sent again or a connection broke.
    bool may_lack_output = false;
    RequestChannel channel = RequestChannel::direct;
    /// Whether the request was sent again because a connection broke: see begin_again_by().
    bool is_sent_again = false;
    /// Whether the request is not sent yet, because its buffers are still being transferred: see
    /// sent().
    bool waits = false;
  };
  /// Adds a request whose answer is awaited from now on.
  void add(const MessageId& id, PendingRequest entry);
  /// Stores that a request whose PendingRequest::waits is true is sent now.
  /// as      the message as it is sent.
  /// result  false if the request has failed in the meantime; the caller must then not send it.
  bool sent(const MessageId& id, std::shared_ptr<const SentRequest> as,
            std::shared_ptr<const void> hold);

  /// Passes a reply to its Call. Returns false if the request is unknown or was answered before.
  bool answer(const ReplyHead& head, Reply reply, WallTime now);
  /// Passes a publication of this request to its Call. Threads and child processes may print after
  /// a request has ended. If the Call still exists and the request is one of the last max_ended
  /// requests that have ended, such output is also added to the Call. Returns false if there is no
  /// Call for the output.
  bool publish(const MessageId& id, Publication publication);
  /// Ends the wait for output of this request, for example because "idle" was published for it.
  /// Returns false if the request is unknown.
  bool finish_output(const MessageId& id);
  /// The I/O thread calls this function if messages with output were dropped in transit, and it is
  /// not known to which requests they belonged. From now on, no request that is answered waits for
  /// further output.
  void lose_output();
  /// Tells the Call which engine runs a balanced task. Has no effect on requests that were sent to
  /// a given engine.
  void learn_engine(const MessageId& id, EngineId engine, const EngineUuid& uuid);

  /// The controller's report about an engine that has left. Without a report, both strings are
  /// empty.
  struct EngineLoss {
    std::string host, reason;
  };
  /// Ends the unanswered requests that were sent to an engine that has left: they fail with
  /// "EngineError". Only a request that asked the engine to leave succeeds.
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
  /// Returns all unanswered requests, because the controller was restarted and has lost its state.
  /// The end of output of answered requests is no longer awaited.
  Unanswered begin_again();
  /// Returns the unanswered requests of these channels, whose connections broke and were restored
  /// to the same controller. Only messages in transit are lost, but all these requests are sent
  /// again, because engines recognise repeats. A request that cannot be sent again counts as lost
  /// if it is a control message or a question; otherwise it may still be answered.
  Unanswered begin_again_by(const std::set<RequestChannel>& channels);

  /// Returns the unanswered requests that were sent to this engine, in the order of sending,
  /// because connections of the engine broke and were restored.
  std::vector<std::shared_ptr<const SentRequest>> begin_again_with(const EngineUuid& uuid);

  /// Whether it is possible that the end of the request's output is never announced. In this case,
  /// the caller must wait for late output after the answer, and then call finish_output().
  bool may_lack_output(const MessageId& id) const;
  /// Whether the request was sent again (PendingRequest::is_sent_again); false for unknown
  /// requests.
  bool is_sent_again(const MessageId& id) const;

  /// The number of requests without a reply.
  std::size_t unanswered() const { return unanswered_; }
  /// The ids of the requests without a reply, in no particular order.
  std::vector<MessageId> unanswered_ids() const;

  /// The number of ended requests whose late output is still added to their Calls.
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
