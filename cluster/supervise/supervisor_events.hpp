#pragma once

#include <compare>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cluster/launch/planned_process.hpp"
#include "cluster/process/console.hpp"
#include "cluster/records/cluster_record.hpp"
#include "cluster/records/placed_engine.hpp"
#include "cluster/records/scale_report.hpp"
#include "cluster/remote/watch_report.hpp"
#include "cluster/supervise/scaler.hpp"
#include "os/process_end.hpp"

namespace px::cluster {

/// Identifies a process of one cluster, whether it runs or not.
struct ProcessKey {
  int value = 0;  ///< -1: the controller; from 0 on: the processes of the engine set.
  auto operator<=>(const ProcessKey&) const = default;
};
inline constexpr ProcessKey controller_process{-1};

// ---- the events of a Supervisor

struct ProcessStarted {
  ProcessKey key;
  int pid = 0;
};
/// A process has ended, or could not be started.
struct ProcessEnded {
  ProcessKey key;
  os::ProcessEnd end;
  std::string failure;   ///< Why it could not be started; empty if it was started.
  std::string log_tail;  ///< The last lines of its log; may be empty.
};
/// A process that watches engines on other hosts has sent a report.
struct ProcessReported {
  ProcessKey key;
  Level level = Level::info;
  std::string text;
  std::optional<int> engine_count;  ///< The number of its engines that are alive, or may still
                                    ///< start.
  bool is_waiting = false;          ///< It is in a queue: it may take hours.
};
/// Both connection files exist and are complete.
struct FilesReady {
  std::string engine_info;  ///< The text of the engines' file.
};
/// The controller has answered: this number of engines is registered.
struct EnginesCounted {
  int count = 0;
  std::vector<std::string> warnings = {};  ///< About engines that do not match; sentences.
  std::vector<PlacedEngine> placed = {};   ///< Those that report which program has started them.
};
/// A process has ended without which this cluster, or its part, has no purpose.
struct OwnerEnded {
  std::string who;  ///< "its owner, process 12"
};
/// It has no owner any more: it runs until it is stopped.
struct OwnerLeft {};
/// Engines must be ended and started again.
struct RestartAsked {
  std::vector<int> numbers = {};  ///< Those with these numbers in the set; empty: all.
  bool names_others = false;      ///< Engines of other sets were named, too, whose pxcluster ended.
  /// The engines with these numbers: an engine that died just after its registration is unknown
  /// here.
  std::vector<PlacedEngine> engines = {};
  std::vector<int> rank_ports = {};  ///< The result of choose_rank_ports(); empty: the old ones.
};
/// The number of engines must follow the work from now on, or stay as it is.
struct ScaleAsked {
  ScaleOrder order;
};
/// The controller has answered: this is the work of the cluster, and these engines are registered.
/// It was asked after all effects of the previous LoadReported had been performed.
struct LoadReported {
  std::size_t waiting = 0;           ///< Balanced tasks that no engine has.
  std::vector<EngineLoad> engines;   ///< Those of this set.
  std::vector<PlacedEngine> placed;  ///< As in EnginesCounted.
};
/// This process has received a signal.
struct SignalArrived {
  int signal = 0;
};
using Event =
    std::variant<ProcessStarted, ProcessEnded, ProcessReported, FilesReady, EnginesCounted,
                 OwnerEnded, OwnerLeft, RestartAsked, ScaleAsked, LoadReported, SignalArrived>;

// ---- the effects of a Supervisor

struct StartProcess {
  ProcessKey key;
  Command command;
  bool has_children = false;  ///< Its session may outlive it.
  bool operator==(const StartProcess&) const = default;
};
struct SendSignal {
  int pid = 0;
  int signal = 0;
  bool whole_session = false;  ///< To all processes that it has started, too, also after its end.
  bool operator==(const SendSignal&) const = default;
};
/// Order a process that takes orders to restart some of its engines.
struct OrderRestart {
  int pid = 0;
  WatchOrder order;
  bool operator==(const OrderRestart&) const = default;
};
/// Tell the controller how the process of an engine ended.
struct ReportDeath {
  int pid = 0;
  os::ProcessEnd end;
  std::filesystem::path log_file;
  bool operator==(const ReportDeath&) const = default;
};
/// Tell the controller that the engines of the set are about to be ended.
struct AnnounceEnd {
  std::string engine_set;  ///< Or one engine of it: "17/2".
  std::string why;         ///< A clause: which program ends them, and for what reason.
  bool is_for_good = false;  ///< It is one engine, which does not count as lost.
  bool operator==(const AnnounceEnd&) const = default;
};
/// Begin, or stop, to ask the controller for the work of the cluster.
struct WatchLoad {
  bool is_on = true;
  int most_engines = 0;  ///< So many may be started for it: tell the controller.
  bool operator==(const WatchLoad&) const = default;
};
/// Tell the controller to give these engines no further balanced tasks, or to give them again.
struct DrainEngines {
  std::vector<std::string> places;  ///< "17/2"
  bool is_drained = true;
  bool operator==(const DrainEngines&) const = default;
};
/// Define the variables of the last checkpoint, if there is one, on these engines.
struct RestoreVariables {
  std::vector<EngineId> engines;
  bool operator==(const RestoreVariables&) const = default;
};
/// Add an event to the event log.
struct TellEvent {
  std::string kind;  ///< "scaled" or "respawned"
  std::string text;
  bool operator==(const TellEvent&) const = default;
};
/// Tell the programs that ask for it how many engines there are, and how many there may be.
struct ReportScale {
  ScaleReport report;
  bool operator==(const ReportScale&) const = default;
};
/// From now on check for the connection files, until FilesReady was reported.
struct WatchFiles {
  bool operator==(const WatchFiles&) const = default;
};
/// Begin, or stop, to ask the controller for its engines.
struct WatchEngines {
  bool is_on = true;
  bool operator==(const WatchEngines&) const = default;
};
/// These processes run: merge them into cluster-<id>.json. An empty record: remove their entries.
struct SaveRecord {
  ClusterRecord own;
  bool operator==(const SaveRecord&) const = default;
};
struct RemoveConnectionFiles {
  bool operator==(const RemoveConnectionFiles&) const = default;
};
struct Say {
  Level level = Level::info;
  std::string text;
  bool operator==(const Say&) const = default;
};
struct ShowProgress {
  int registered = 0;
  int wanted = 0;
  bool operator==(const ShowProgress&) const = default;
};
/// The cluster is up, as far as it will be: a parent that waits for this may end.
struct ReportReady {
  int registered = 0;
  bool operator==(const ReportReady&) const = default;
};
/// A restart is finished: tell the programs that wait for it.
struct ReportRestart {
  int registered = 0;
  std::string problem;  ///< Empty: all engines are registered again.
  bool operator==(const ReportRestart&) const = default;
};
/// The last effect.
struct EndRun {
  int exit_code = 0;
  bool operator==(const EndRun&) const = default;
};
using Effect = std::variant<StartProcess, SendSignal, OrderRestart, ReportDeath, AnnounceEnd,
                            WatchFiles, WatchEngines, SaveRecord, RemoveConnectionFiles, Say,
                            ShowProgress, ReportReady, ReportRestart, WatchLoad, DrainEngines,
                            RestoreVariables, TellEvent, ReportScale, EndRun>;

}  // namespace px::cluster
