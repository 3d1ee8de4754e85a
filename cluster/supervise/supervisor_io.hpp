#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "cluster/process/console.hpp"
#include "cluster/process/signal_source.hpp"
#include "cluster/records/hub_client.hpp"
#include "cluster/supervise/checkpoint_runner.hpp"
#include "cluster/supervise/file_watch.hpp"
#include "cluster/supervise/left_session.hpp"
#include "cluster/supervise/supervisor.hpp"
#include "net/loop.hpp"
#include "os/child_process.hpp"
#include "os/descriptor.hpp"
#include "os/processes.hpp"

namespace px::cluster {

/// The information about the cluster that the supervisor's I/O needs.
struct SupervisorIoOptions {
  net::ProfilePaths paths;
  std::string engine_set_id;
  bool owns_controller = true;
  bool accepts_old_files = false;  ///< --reuse
  int owner = 0;                   ///< The process with which everything ends; 0: there is none.
  int cluster = 0;  ///< For added engines: a process with which their cluster ends; 0: unknown.
  CheckpointPlan checkpoint = {};
  std::function<void(int registered)> on_ready;
};

/// Passes events to a Supervisor and performs its effects: processes, files, the controller, the
/// user, the clock. As long as it exists it handles the signals of this process.
class SupervisorIo {
 public:
  SupervisorIo(SupervisorIoOptions options, Console& console);
  ~SupervisorIo();

  Instant now() const { return Clock::now(); }
  /// Sleeps until an event occurs or the deadline has passed. The only place that sleeps.
  std::vector<Event> wait_until(std::optional<Instant> deadline);
  /// Starts the process, and returns the result: ProcessStarted or ProcessEnded.
  Event start(const StartProcess& order);
  void perform(const SendSignal& order);
  void perform(const OrderRestart& order);
  void perform(const ReportDeath& order);
  void perform(const AnnounceEnd& order);
  void perform(const WatchFiles& order);
  void perform(const WatchEngines& order);
  void perform(const SaveRecord& order);
  void perform(const RemoveConnectionFiles& order);
  void perform(const Say& order);
  void perform(const ShowProgress& order);
  void perform(const ReportReady& order);
  void perform(const ReportRestart& order);
  void perform(const WatchLoad& order);
  void perform(const DrainEngines& order);
  void perform(const RestoreVariables& order);
  void perform(const TellEvent& order);
  void perform(const ReportScale& order);

 private:
  struct Child {
    ProcessKey key;
    os::ChildProcess process;
    std::filesystem::path log_file;
    os::Descriptor reports;  // on which it sends reports
    os::Descriptor orders;   // on which it receives orders
    std::string rest;        // of a line
    bool has_children = false;
  };
  void take_signal(int number);
  void take_restart_order();
  void take_scale_order();
  void take_answers();
  void ask_for_work();
  void reap();
  void read_reports(int pid);
  void forget_reports(Child& child);
  /// Reports OwnerEnded when that process ends.
  os::Descriptor watch_process(int pid, std::string who);
  void forget_owner();
  void look_for_files();
  void ask_for_engines();
  void connect(const ClientConnectionInfo& info);

  SupervisorIoOptions options_;
  Console& console_;
  os::LocalProcesses processes_;
  net::Context context_;
  net::Loop loop_;
  SignalSource signals_;
  CheckpointRunner checkpoints_;
  os::Descriptor owner_, cluster_;  // readable when the process has ended
  FileWatch file_watch_;
  std::optional<HubClient> hub_;
  std::string connected_to_;              // the keys and the port of its controller
  std::optional<long long> oom_kills_;    // in our control group, so far
  std::map<int, Child> children_;         // by pid
  std::map<int, LeftSession> left_;       // of children that have ended, by their pids
  std::optional<Instant> next_look_;      // for the connection files
  std::optional<Instant> next_question_;  // to the controller
  std::optional<Instant> next_work_question_;
  int most_engines_ = 0;              // that may be started
  std::vector<PlacedEngine> placed_;  // of its latest answer
  std::vector<Event> events_;
  int restarts_ = 0;
  bool has_started_controller_ = false;
};

/// Runs `supervisor` with `io` until it ends; returns the exit code.
int run(Supervisor& supervisor, SupervisorIo& io);

/// The last `count` lines of a file, at most 16 KiB of them; empty if it cannot be read.
std::string last_lines(const std::filesystem::path& path, std::size_t count);

}  // namespace px::cluster
