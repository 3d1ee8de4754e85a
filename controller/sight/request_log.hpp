#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "controller/sight/snapshot.hpp"

namespace px::controller {

/// A request that arrived.
struct SeenRequest {
  MessageId msg_id = {};
  std::string session = {}, username = {};
  std::string kind = {}, label = {};      ///< See FinishedRequest.
  std::string source = {};                ///< The source, for a cell.
  std::optional<EngineUuid> engine = {};  ///< The engine, for a direct request.
  std::size_t bytes = 0;
};

/// The answer to a request.
struct SeenAnswer {
  MessageId msg_id = {};    ///< Id of the request.
  EngineUuid engine = {};   ///< Empty: the controller answered it before an engine had it.
  std::string status = {};  ///< "ok", "error", "aborted".
  std::string error = {};   ///< "ValueError: ..."; empty unless the status is "error".
  std::optional<WallTime> started = {};  ///< As its engine reports.
  std::size_t bytes = 0;
};

/// The part of Sight that knows the requests of clients: how many there are, which clients sent
/// them, how long they waited, and which ended since the last look. It tracks at most max_followed
/// unfinished ones; further ones are only counted. Each call takes constant time. The hub's thread
/// owns it.
class RequestLog {
 public:
  void submitted(const SeenRequest& request, Instant now, WallTime wall);
  /// A balanced task was given to an engine: for the first time, after a failed attempt, or after
  /// it was recalled from an engine that would have been slower.
  void assigned(const MessageId& msg_id, bool is_retry, Instant now);
  /// engine  that answered, if it has an id.
  void finished(const SeenAnswer& answer, std::optional<EngineId> engine, WallTime wall);

  /// Fills in its part: the totals and rates, clients, finished requests, the waiting times.
  void look(Snapshot& snapshot, Instant now);

  static constexpr std::size_t max_followed = 100'000;
  /// A client without unfinished requests is shown for this time after its last request.
  static constexpr Duration client_memory = std::chrono::minutes(10);

 private:
  struct SeenClient {
    ClientView view;
    Instant last_seen{};
  };
  using ClientPtr = std::shared_ptr<SeenClient>;
  struct FollowedRequest {
    ClientPtr client;
    std::string kind, label;
    WallTime submitted{};
    Instant arrived{};
    bool is_assigned = false;
  };
  ClientPtr client_of(const SeenRequest& request, Instant now);
  void count_label(const FollowedRequest& followed, bool is_ok, double run_seconds);
  void note_finished(const SeenAnswer& answer, const FollowedRequest& followed,
                     std::optional<EngineId> engine, WallTime wall);

  std::map<std::string, ClientPtr> clients_;
  std::unordered_map<MessageId, FollowedRequest, StringIdHash, StringIdEqual> followed_;
  WorkView work_;
  std::uint64_t in_bytes_ = 0, out_bytes_ = 0;
  DurationCounts queueing_;
  std::map<std::string, LabelView> labels_;
  std::vector<FinishedRequest> finished_;
  std::uint64_t left_out_ = 0;
  std::uint64_t last_submitted_ = 0, last_finished_ = 0;
  std::optional<Instant> last_look_;
};

}  // namespace px::controller
