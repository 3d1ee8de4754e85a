#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "client/requests/request_body.hpp"
#include "wire/session.hpp"

namespace px::client {

/// The rules for a balanced task: on which engines, when and how often it may run. The members have
/// the form of the request's metadata (docs/protocol.md, section 8.1).
struct TaskOptions {
  Json label;                       ///< Any JSON; stored in the controller's records.
  std::vector<EngineUuid> targets;  ///< Empty: any engine.
  Json after = Json::array();       ///< A list of msg_ids, or a dependency: run after these.
  Json follow = Json::array();      ///< Run after these, on the same engine.
  double timeout_s = 0;  ///< How long to wait for dependencies before the task fails; 0: no limit.
  /// Further attempts after a failure, on other engines.
  int retries = 0;
  Json ranks = {};  ///< How many engines run it at the same time: see read_task_rules(); null: one.
};

/// The packed parts of a request, not signed yet.
struct Head {
  std::string route;  ///< The engine's identity, which precedes the delimiter; or empty.
  std::string header, metadata, content;
};

/// A message on its way from the caller's thread to the socket: packed parts, and payloads that are
/// not copied.
struct OutgoingRequest {
  RequestChannel channel = RequestChannel::direct;
  EngineUuid engine;  ///< The receiver of direct and control messages.
  Head head;
  std::vector<SharedBytes> payloads;
  std::shared_ptr<const void> hold;  ///< Keeps the payloads' shared memory, if any.
  std::vector<std::pair<MessageId, PendingRequests::PendingRequest>>
      entries;  ///< The answers that are awaited.
  /// Not null if large payloads go to another host through a Shipment (see shipment.hpp).
  /// HostTransfers then first transfers these buffers to the engine's host; until that is done,
  /// `payloads` contains the buffers whole.
  std::shared_ptr<const Shipment> shipment = {};
  bool has_waited = false;  ///< Its entries are already in PendingRequests.
};

/// Composes a client's messages in two steps: any thread packs a message and gives it an id and a
/// date; the I/O thread signs it just before it is sent. In this way, submitting threads do not
/// wait for signatures. The ids ascend in the order in which messages are packed.
class Composer {
 public:
  /// session  the client's identity and key.
  /// cuts     whether large buffers of native messages are cut into pieces: see cut_pieces().
  Composer(Session session, bool cuts) : session_(std::move(session)), cuts_(cuts) {}

  const SessionId& session_id() const { return session_.id(); }

  /// A message that is packed but not signed.
  struct Composed {
    MessageId msg_id;
    WallTime submitted{};
    Head head;
    std::shared_ptr<const void> hold;  ///< RequestBody::hold.
    std::vector<SharedBytes> buffers;  ///< In the form in which they travel, possibly in pieces.
  };
  /// Packs a request. Any thread may call compose().
  /// route     the ZeroMQ identity of the engine; empty if the message is not for one given engine.
  /// metadata  a JSON object as text.
  Composed compose(const std::string& route, const RequestBody& body, const std::string& metadata);

  /// The signed frames, from the routing frame to the content, without buffers. Only the I/O thread
  /// may call seal().
  std::vector<std::string> seal(Head head) const;

 private:
  std::mutex mutex_;
  Session session_;
  const bool cuts_;
};

/// The member "together" of a request's metadata. This member says that these engines got the same
/// cell at the same time (docs/protocol.md, "Cells together").
/// id  a string that is never used twice.
Json together(const std::string& id, const std::vector<EngineId>& engines);

/// The metadata of a direct call and of a balanced task, as JSON text.
/// together  the result of together() for a cell that several engines get; otherwise null.
std::string direct_metadata(const Json& label, const Json& together);
std::string balanced_metadata(const TaskOptions& options);
/// The metadata of a broadcast to these engines, as JSON text. This metadata requests one reply
/// from each engine (is_coalescing false).
std::string broadcast_metadata(const std::vector<std::pair<EngineUuid, EngineId>>& targets,
                               const Json& label, const Json& together);

}  // namespace px::client
