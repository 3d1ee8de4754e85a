#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "wire/ids.hpp"
#include "wire/time.hpp"

namespace px::cluster {

/// How many engines a set may have.
struct ScaleWish {
  int least = 0;
  int most = 0;
  Duration idle = std::chrono::seconds(30);  ///< How long an engine is without work before it ends.
  bool operator==(const ScaleWish&) const = default;
};

/// The work of one registered engine, as the controller counts it.
struct EngineLoad {
  int number = 0;  ///< In its set.
  EngineUuid uuid;
  std::size_t tasks = 0;      ///< Balanced tasks that it has, including those that it prefetched.
  std::size_t direct = 0;     ///< Unanswered direct requests.
  std::size_t completed = 0;  ///< Requests of both kinds that it has answered.
};

/// The work of the cluster, at one moment.
struct ClusterLoad {
  std::size_t waiting = 0;  ///< Balanced tasks that no engine has.
  std::vector<EngineLoad> engines = {};
};

/// Whether the engines of a unit run.
enum class UnitState {
  absent,   ///< They can be started.
  running,  ///< They were started, and not ended.
  blocked   ///< They have died, and another rule decides when they are started again.
};

/// Engines that start and end together: one process of a plan.
struct ScaleUnit {
  int first = 0;  ///< The number of the first engine.
  int count = 1;
  UnitState state = UnitState::absent;
};

/// The changes that the caller makes to units, which are named by their positions.
struct ScaleSteps {
  std::vector<std::size_t> start;   ///< Start.
  std::vector<std::size_t> drain;   ///< From now on no balanced tasks for them.
  std::vector<std::size_t> resume;  ///< Balanced tasks for them again.
  std::vector<std::size_t> end;     ///< End: they are drained, and have no work.
  bool is_empty() const { return start.empty() && drain.empty() && resume.empty() && end.empty(); }
};

/// Decides which units of an engine set to start and to end, so that the number of engines follows
/// the balanced tasks. Uses no process and no clock.
///
/// Needed are the engines that have work and one for each waiting task, within the limits of the
/// wish. Missing units are started, the lowest numbers first: at once if there is no engine or
/// fewer than the least, otherwise if two reports in a row say that they are missing. A unit is
/// ended, the highest numbers first, in two steps: when it is not needed, and none of its engines
/// has had work of either kind for the idle time, it is drained; when a report that was asked for
/// after that says that it still had no work, it is ended, otherwise it gets tasks again. So an
/// engine that runs or holds a request is never ended.
class Scaler {
 public:
  void wish(const ScaleWish& wish) { wish_ = wish; }
  /// Stops scaling: the scaler then starts and ends no engines.
  void stop() { *this = Scaler{}; }
  const std::optional<ScaleWish>& wish() const { return wish_; }
  bool is_on() const { return wish_.has_value(); }

  /// An engine of the set has died, or could not be started: the next start waits, the longer the
  /// more often it happens.
  void died(Instant now);
  /// load  a question about it was asked after the steps of the previous call were performed.
  /// units  ascending by `first`.
  ScaleSteps decide(const ClusterLoad& load, const std::vector<ScaleUnit>& units, Instant now);

 private:
  struct Rest {
    std::size_t completed = 0;
    Instant since{};
    bool is_idle = false;
  };
  /// The engines of one unit, joined.
  struct UnitRest {
    int registered = 0;
    bool is_idle = true;
    Instant since{};  // the latest
  };
  void look(const ClusterLoad& load, Instant now);
  UnitRest rest_of(const ScaleUnit& unit, const ClusterLoad& load) const;

  std::optional<ScaleWish> wish_;
  std::map<EngineUuid, Rest> rests_;
  std::map<std::size_t, Instant> draining_;  // units, since when
  bool was_short_ = false;                   // at the previous report
  Duration pause_{};                         // after the latest death
  Instant pause_since_{};
};

}  // namespace px::cluster
