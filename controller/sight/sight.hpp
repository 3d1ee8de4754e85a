#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/sight/cell_log.hpp"
#include "controller/sight/engine_rows.hpp"
#include "controller/sight/request_log.hpp"
#include "controller/sight/snapshot.hpp"

namespace px::controller {

/// What the controller is, for its ControllerView.
struct SightOptions {
  std::string version = {}, host = {};
  int pid = 0;
  WallTime started{};
  /// What this process takes of its host now; null: not known.
  std::function<ProcessMeasures()> measure = {};
  std::string clock_name = {};  ///< See os::clock_name().
};

/// Sees what happens in the cluster and says once a second what it looks like: events go in, a
/// Snapshot comes out. It decides nothing that anybody's work depends on. Memory and the cost of a
/// look are bounded by the limits of Snapshot and RequestLog; an event costs the same however much
/// there is. The hub owns it, on its thread. Sees no socket, thread, file or clock.
class Sight {
 public:
  explicit Sight(SightOptions options = {});

  // What happened to an engine.
  void joined(const EngineUuid& uuid, EngineId id, const EngineFacts& facts, std::string language,
              Instant now) {
    engines_.joined(uuid, id, facts, std::move(language), now);
  }
  void described(const EngineUuid& uuid, const EngineFacts& facts) {
    engines_.described(uuid, facts);
  }
  void heard(const EngineUuid& uuid, bool is_silent) { engines_.heard(uuid, is_silent); }
  void drained(const EngineUuid& uuid, bool is_drained) { engines_.drained(uuid, is_drained); }
  void left(const EngineUuid& uuid) { engines_.left(uuid); }
  void measured(const EngineUuid& uuid, EngineMeasures measures, Instant now);

  // What happened to a request. Each request is told of once, and answered once at most.
  void submitted(const SeenRequest& request, Instant now, WallTime wall);
  void assigned(const MessageId& msg_id, bool is_retry, Instant now) {
    requests_.assigned(msg_id, is_retry, now);
  }
  void printed(const MessageId& msg_id, std::string_view text) { cells_.printed(msg_id, text); }
  void finished(const SeenAnswer& answer, Instant now, WallTime wall);

  /// What the I/O thread has counted since its start.
  void counted(std::uint64_t bad_messages, std::uint64_t lost_records);

  /// When a new snapshot is due: the first one at once, then each a second after the last one.
  Instant next_deadline() const { return due_; }
  /// queued   balanced tasks that no engine has.
  /// load_of  what the engines have.
  /// events   the latest of the event log, Snapshot::max_events at most.
  std::shared_ptr<const Snapshot> look(std::size_t queued, const LoadOf& load_of,
                                       std::vector<EventView> events, Instant now, WallTime wall);

  static constexpr Duration period = std::chrono::seconds(1);

 private:
  void measure_self(Instant now);

  const std::function<ProcessMeasures()> measure_;
  ControllerView controller_;
  EngineRows engines_;
  RequestLog requests_;
  CellLog cells_;
  DurationCounts durations_;
  std::uint64_t snapshots_ = 0;
  Instant due_{};
  std::optional<Instant> last_look_;
};

}  // namespace px::controller
