#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cluster/remote/reverse_tunnel.hpp"
#include "cluster/remote/ssh_plan.hpp"
#include "cluster/remote/watch_report.hpp"
#include "os/process_end.hpp"
#include "wire/time.hpp"

namespace px::cluster {

/// The sessions that a watcher may have with its host, one of each kind at a time.
enum class SshSession {
  main,     ///< Starts the engines, or watches them, and reports how they end.
  restart,  ///< Ends some and starts them again.
  stop,     ///< Ends them.
  one_shot  ///< Runs one short script, e.g. to pass a signal on.
};

struct OpenSession {
  SshSession session = SshSession::main;
  std::string script;
  std::vector<net::Forward> forwards = {};  ///< For the engines, if they need a tunnel.
  bool operator==(const OpenSession&) const = default;
};
struct CloseSession {
  SshSession session = SshSession::main;
  bool operator==(const CloseSession&) const = default;
};
struct SayReport {
  WatchReport report;
  bool operator==(const SayReport&) const = default;
};
/// A line of an engine's log, to be stored here.
struct KeepLog {
  int engine = 0;
  std::string line;
  bool operator==(const KeepLog&) const = default;
};
struct EndWatch {
  int exit_code = 0;
  bool operator==(const EndWatch&) const = default;
};
using WatchEffect = std::variant<OpenSession, CloseSession, SayReport, KeepLog, EndWatch>;

/// Decides the actions of the watcher of one host: starts its engines by ssh, notices how each
/// ends, restores a broken connection, ends everything when ordered. Events in, effects out; uses
/// no process and no clock.
class SshWatch {
 public:
  /// means  for a plan that has a tunnel.
  SshWatch(SshHostPlan plan, std::string connection_info, TunnelMeans means = {});

  std::vector<WatchEffect> begin(Instant now);
  /// One line of a session's output.
  std::vector<WatchEffect> line(SshSession session, std::string_view text, Instant now);
  /// A session has ended. `complaint` is the end of ssh's messages.
  std::vector<WatchEffect> closed(SshSession session, const os::ProcessEnd& end,
                                  const std::string& complaint, Instant now);
  /// The cluster must be stopped.
  std::vector<WatchEffect> stop(Instant now);
  /// Engines, by their positions in the plan, must end if they are alive, and start again.
  std::vector<WatchEffect> restart(const WatchOrder& order);
  /// A signal for the engines.
  std::vector<WatchEffect> pass_on(const std::string& signal);
  std::vector<WatchEffect> on_time(Instant now);
  std::optional<Instant> next_deadline() const { return deadline_; }
  bool is_ended() const { return phase_ == Phase::ended; }

 private:
  enum class Phase {
    starting,  // until all engines are started
    watching,
    broken,   // the connection is lost; until the next attempt
    looking,  // the next attempt
    stopping,
    ended
  };
  struct Ended {
    bool is_failure = false;
  };

  void start_engines();
  void read_main(const SshLine& line, Instant now);
  void engine_ended(int engine, const std::string& code);
  void lost_connection(const std::string& complaint, Instant now);
  void restart_closed(const std::string& complaint);
  void could_not_start(const os::ProcessEnd& end, const std::string& complaint);
  void begin_stop(Instant now);
  void end_stop(bool is_done);
  void end(int exit_code);
  int living() const { return static_cast<int>(plan_.engines.size() - ended_.size()); }
  void report(Level level, std::string text, std::optional<int> engine_count = {});
  std::vector<WatchEffect> take() { return std::exchange(effects_, {}); }

  SshHostPlan plan_;
  std::string connection_info_;
  TunnelMeans means_;
  ReverseTunnel tunnel_;
  int tunnel_attempts_ = 0;
  Phase phase_ = Phase::starting;
  bool has_main_ = false;
  bool has_started_ = false;  // at least one engine
  bool wants_stop_ = false;
  std::string failure_;               // from the start script
  std::set<int> restarting_;          // engines, until they are watched again
  std::map<int, Ended> ended_;        // engines
  std::map<int, std::string> tails_;  // the end of their logs
  Duration pause_{};                  // before the next attempt
  std::optional<Instant> deadline_;
  std::vector<WatchEffect> effects_;
};

}  // namespace px::cluster
