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

/// The description of the controller, for its ControllerView.
struct SightOptions {
  std::string version = {}, host = {};
  int pid = 0;
  WallTime started{};
  /// The present resource use of this process; null: unknown.
  std::function<ProcessMeasures()> measure = {};
  std::string clock_name = {};  ///< See os::clock_name().
};

/// Observes the events of the cluster and describes its state once a second: events go in, a
/// Snapshot comes out. No decision of the cluster depends on it. Memory and the cost of a look are
/// bounded by the limits of Snapshot and RequestLog; an event always costs the same. The hub owns
/// it, on its thread. Uses no socket, thread, file or clock.
class Sight {
 public:
  explicit Sight(SightOptions options = {});

  // Events of an engine.
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

  // Events of a request. Each request is reported once, and answered at most once.
  void submitted(const SeenRequest& request, Instant now, WallTime wall);
  void assigned(const MessageId& msg_id, bool is_retry, Instant now) {
    requests_.assigned(msg_id, is_retry, now);
  }
  void printed(const MessageId& msg_id, std::string_view text) { cells_.printed(msg_id, text); }
  void finished(const SeenAnswer& answer, Instant now, WallTime wall);

  /// The counters of the I/O thread since its start.
  void counted(std::uint64_t bad_messages, std::uint64_t lost_records);

  /// When a new snapshot is due: the first one at once, each further one a second after the
  /// previous one.
  Instant next_deadline() const { return due_; }
  /// queued   the number of balanced tasks that no engine has.
  /// load_of  the loads of the engines.
  /// events   the latest of the event log, at most Snapshot::max_events.
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
