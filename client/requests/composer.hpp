#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "client/requests/work.hpp"
#include "wire/session.hpp"

namespace px::client {

/// Where, when and how often a balanced task may run (protocol 8.1).
struct TaskOptions {
  Json label;                       ///< Any JSON; shown by the controller's records.
  std::vector<EngineUuid> targets;  ///< Empty: any engine.
  Json after = Json::array();       ///< msg_ids, or a dependency object: run after these ...
  Json follow = Json::array();      ///< ... and where these ran.
  double timeout_s = 0;  ///< Waiting longer than this for its dependencies fails; 0 = never.
  int retries = 0;
};

/// The head of a request, packed and not yet signed.
struct Head {
  std::string route;  ///< The frame in front of the delimiter; empty = none.
  std::string header, metadata, content;
};

/// One message on its way out: frames that are made here, then payloads that are not copied.
struct Outgoing {
  Way way = Way::direct;
  EngineUuid engine;  ///< Of direct and control: who it is for.
  Head head;
  std::vector<SharedBytes> payloads;
  std::shared_ptr<const void> hold;  ///< The shared memory of payloads that lie there.
  std::vector<std::pair<MessageId, Pending::Entry>> entries;  ///< What is awaited.
  /// What comes to the engine's host before: see HostTransfers. The payloads are those of it.
  std::shared_ptr<const Shipment> shipment = {};
  bool has_waited = false;  ///< Its entries are filed already.
};

/// Makes messages: numbers and dates them in any thread, signs them in the one that sends.
class Composer {
 public:
  /// cuts  large buffers of native messages travel in pieces: see cut().
  Composer(Session session, bool cuts) : session_(std::move(session)), cuts_(cuts) {}

  const SessionId& session_id() const { return session_.id(); }
  Packer packer() const { return session_.packer(); }

  struct Composed {
    MessageId msg_id;
    WallTime submitted{};
    Head head;
    std::shared_ptr<const void> hold;  ///< As that of the work.
    std::vector<SharedBytes> buffers;  ///< Those of a native message in pieces: see cut().
  };
  /// Any thread may call it.
  /// metadata  a JSON object as text, as the content of `work`.
  Composed compose(const std::string& route, const Work& work, const std::string& metadata);

  /// The signed frames from the routing on, without buffers. Only the I/O thread calls it: those
  /// that submit do not wait for signatures.
  std::vector<std::string> seal(Head head) const;

 private:
  std::mutex mutex_;
  Session session_;
  const bool cuts_;
};

/// What says that these engines got one cell together (docs/protocol.md, "Cells together").
/// id  never used twice.
Json together(const std::string& id, const std::vector<EngineId>& engines);

/// The metadata of a request by these ways, as JSON text.
/// together  of the cell, or null.
std::string direct_metadata(const Json& label, const Json& together);
std::string balanced_metadata(const TaskOptions& options);
/// Not coalescing: one reply from each engine.
std::string broadcast_metadata(const std::vector<std::pair<EngineUuid, EngineId>>& targets,
                               const Json& label, const Json& together);

}  // namespace px::client
