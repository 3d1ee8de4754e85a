#pragma once

#include <compare>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cluster/launch/planned_process.hpp"
#include "cluster/process/console.hpp"
#include "cluster/records/cluster_record.hpp"
#include "cluster/records/placed_engine.hpp"
#include "cluster/remote/watch_report.hpp"
#include "os/process_end.hpp"

namespace px::cluster {

/// Names a process of one cluster, whether it runs or not.
struct ProcessKey {
  int value = 0;  ///< -1 the controller, from 0 on the processes of the engine set.
  auto operator<=>(const ProcessKey&) const = default;
};
inline constexpr ProcessKey controller_process{-1};

// ---- what happens to a Supervisor

struct ProcessStarted {
  ProcessKey key;
  int pid = 0;
};
/// A process is gone, or could not even be started.
struct ProcessEnded {
  ProcessKey key;
  os::ProcessEnd end;
  std::string failure;   ///< Why it could not be started; empty where it was.
  std::string log_tail;  ///< The last lines of its log; may be empty.
};
/// A process that watches over engines elsewhere has something to tell.
struct ProcessReported {
  ProcessKey key;
  Level level = Level::info;
  std::string text;
  std::optional<int> engine_count;  ///< So many of its engines live, or may yet come.
  bool is_waiting = false;          ///< In a queue: it may take hours.
};
/// Both connection files are there and whole.
struct FilesReady {
  std::string engine_info;  ///< The text of the engines' file.
};
/// The controller has answered: so many engines are registered.
struct EnginesCounted {
  int count = 0;
  std::vector<std::string> warnings = {};  ///< That some do not fit together; sentences.
  std::vector<PlacedEngine> placed = {};   ///< Those that say who has started them.
};
/// A process has ended without which this cluster, or its part, has no purpose.
struct OwnerEnded {
  std::string who;  ///< "its owner, process 12"
};
/// It belongs to nobody any more: it runs until it is stopped.
struct OwnerLeft {};
/// Engines are to end and to start again.
struct RestartAsked {
  std::vector<int> numbers = {};  ///< Of these numbers in the set; empty: all.
  bool names_others = false;      ///< Engines of other sets were named, too, whose pxcluster ended.
  /// The engines of these numbers: one that died as soon as it had registered is not known here.
  std::vector<PlacedEngine> engines = {};
  std::vector<int> rank_ports = {};  ///< As choose_rank_ports() says; empty: the old ones.
};
/// Somebody sent this process a signal.
struct SignalArrived {
  int signal = 0;
};
using Event = std::variant<ProcessStarted, ProcessEnded, ProcessReported, FilesReady,
                           EnginesCounted, OwnerEnded, OwnerLeft, RestartAsked, SignalArrived>;

// ---- what a Supervisor wants to have done

struct StartProcess {
  ProcessKey key;
  Command command;
  bool has_children = false;  ///< Its session may outlive it.
  bool operator==(const StartProcess&) const = default;
};
struct SendSignal {
  int pid = 0;
  int signal = 0;
  bool whole_session = false;  ///< To all that it has started, too, also after its end.
  bool operator==(const SendSignal&) const = default;
};
/// Tell a process that takes orders to end some of its engines and to start them again.
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
  std::string why;         ///< A clause: who ends them, and what for.
  bool operator==(const AnnounceEnd&) const = default;
};
/// From now on look for the connection files, until FilesReady was reported.
struct WatchFiles {
  bool operator==(const WatchFiles&) const = default;
};
/// Begin, or cease, to ask the controller for its engines.
struct WatchEngines {
  bool is_on = true;
  bool operator==(const WatchEngines&) const = default;
};
/// These processes run: lay them into cluster-<id>.json. An empty record: remove what was there.
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
/// The cluster is up, as far as it will be: a parent that waits for this may leave.
struct ReportReady {
  int registered = 0;
  bool operator==(const ReportReady&) const = default;
};
/// A restart has come to its end: tell those who wait for it.
struct ReportRestart {
  int registered = 0;
  std::string problem;  ///< Empty: all engines are registered again.
  bool operator==(const ReportRestart&) const = default;
};
/// The last effect of all.
struct EndRun {
  int exit_code = 0;
  bool operator==(const EndRun&) const = default;
};
using Effect = std::variant<StartProcess, SendSignal, OrderRestart, ReportDeath, AnnounceEnd,
                            WatchFiles, WatchEngines, SaveRecord, RemoveConnectionFiles, Say,
                            ShowProgress, ReportReady, ReportRestart, EndRun>;

}  // namespace px::cluster
