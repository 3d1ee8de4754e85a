#pragma once

#include <map>
#include <string>
#include <vector>

#include "net/ssh/tunnel_plan.hpp"
#include "wire/error.hpp"
#include "wire/json.hpp"

namespace px::cluster {

/// What is to run on one host that ssh reaches. A value; travels to the watcher as JSON.
struct SshHostPlan {
  std::string host;                                ///< As ssh takes it.
  std::vector<std::string> ssh_cmd{"ssh"};         ///< And arguments that the user wants.
  std::string run_name;                            ///< Names the folder of this run on the host.
  std::string profile_dir;                         ///< There; relative to the home, or absolute.
  std::vector<std::string> setup;                  ///< Lines of shell before the engines.
  std::map<std::string, std::string> environment;  ///< For the engines.
  std::vector<std::vector<std::string>> engines;   ///< The command line of each.
  bool is_tunnelled = false;      ///< The engines reach the controller through this connection.
  bool may_find_program = false;  ///< Where argv[0] is not there, one of its name in $PATH will do.
  /// VIRTUAL_ENV and the like of this computer: they count there if such a folder is there.
  std::map<std::string, std::string> python_homes;
  std::string log_stem;      ///< Here: log/ipengine--1700-0; logs come to <stem>-<k>.log.
  std::string note_file;     ///< Here: where the watcher says how it reaches the host.
  std::string control_path;  ///< The socket of the ssh connection; the watcher chooses it.
  int first_engine = 0;      ///< Which one of its set the first engine is; the watcher is told.
  bool operator==(const SshHostPlan&) const = default;
};

Json write_ssh_host_plan(const SshHostPlan& plan);
/// errors  bad_input: not of that shape.
Result<SshHostPlan> read_ssh_host_plan(const Json& json);

/// "it's" -> 'it'\''s': one word for a shell, whatever it holds.
std::string shell_quoted(std::string_view text);

/// The ssh command that runs a shell on the host, which reads its script from standard input.
/// is_login  a login shell (bash where there is one), which knows `module`.
/// forwards  ports of that host that lead back: see ReverseTunnel.
std::vector<std::string> ssh_argv(const SshHostPlan& plan, bool is_login,
                                  const std::vector<net::Forward>& forwards = {});

// ---- scripts for a POSIX shell; what they print is read by read_ssh_line

/// Starts the engines, each in a session of its own that outlives the connection, and watches them.
/// connection_info  the text of the engines' connection file: they get it by their environment, so
///                  that no key lies on a foreign disk.
std::string ssh_start_script(const SshHostPlan& plan, const std::string& connection_info);
/// Ends these engines where they live and starts them again; the script that watches them goes on.
/// engines  by their places in the plan.
std::string ssh_restart_script(const SshHostPlan& plan, const std::vector<int>& engines,
                               const std::string& connection_info);
/// Watches engines that run already; ends when all have.
std::string ssh_watch_script(const SshHostPlan& plan);
/// Ends what a connection that broke has left there, which holds the ports of a tunnel.
std::string ssh_release_script(const SshHostPlan& plan);
/// Ends the engines and all that they started, gives their logs and removes every trace.
std::string ssh_stop_script(const SshHostPlan& plan);
/// Sends a signal ("USR1") to the engines.
std::string ssh_signal_script(const SshHostPlan& plan, const std::string& signal);
/// Gives the last lines of the engines' logs.
/// follow  and goes on with what is added.
std::string ssh_log_script(const SshHostPlan& plan, int lines, bool follow);

enum class LineKind {
  noise,     ///< Not ours: a banner, a chatty profile.
  started,   ///< An engine runs; `text` is its pid there.
  watching,  ///< All are started.
  beat,      ///< The connection is alive.
  ended,     ///< An engine ended; `text` is its exit code, or "vanished".
  tail,      ///< A line of the end of an engine's log.
  log,       ///< A line of its log.
  warning,   ///< Something the user should know.
  failed,    ///< Nothing was started; `text` says why.
  done       ///< The script has done its work.
};

/// One line of what a script said.
struct SshLine {
  LineKind kind = LineKind::noise;
  int engine = -1;
  std::string text;
};
SshLine read_ssh_line(std::string_view line);

}  // namespace px::cluster
