#pragma once

#include <map>
#include <string>
#include <vector>

#include "net/ssh/tunnel_plan.hpp"
#include "wire/error.hpp"
#include "wire/json.hpp"

namespace px::cluster {

/// The processes to run on one host that ssh reaches. A value; sent to the watcher as JSON.
struct SshHostPlan {
  std::string host;                                ///< In the form that ssh takes.
  std::vector<std::string> ssh_cmd{"ssh"};         ///< With the user's arguments.
  std::string run_name;                            ///< Names the folder of this run on the host.
  std::string profile_dir;                         ///< There; relative to the home, or absolute.
  std::vector<std::string> setup;                  ///< Lines of shell run before the engines.
  std::map<std::string, std::string> environment;  ///< For the engines.
  std::vector<std::vector<std::string>> engines;   ///< The command line of each.
  bool is_tunnelled = false;      ///< The engines reach the controller through this connection.
  bool may_find_program = false;  ///< If argv[0] does not exist there, a program of its name in
                                  ///< $PATH is used.
  /// VIRTUAL_ENV and similar variables of this computer: they are used there if such a folder
  /// exists there.
  std::map<std::string, std::string> python_homes;
  std::string log_stem;      ///< Here: log/ipengine--1700-0; logs are copied to <stem>-<k>.log.
  std::string note_file;     ///< Here: the watcher writes to it how it reaches the host.
  std::string control_path;  ///< The socket of the ssh connection; the watcher chooses it.
  int first_engine = 0;      ///< The number of the first engine in its set; set for the watcher.
  bool operator==(const SshHostPlan&) const = default;
};

Json write_ssh_host_plan(const SshHostPlan& plan);
/// errors  bad_input: not of that form.
Result<SshHostPlan> read_ssh_host_plan(const Json& json);

/// "it's" -> 'it'\''s': one word for a shell, whatever it contains.
std::string shell_quoted(std::string_view text);

/// The ssh command that runs a shell on the host, which reads its script from standard input.
/// is_login  a login shell (bash if there is one), which has `module`.
/// forwards  ports of that host that lead back: see ReverseTunnel.
std::vector<std::string> ssh_argv(const SshHostPlan& plan, bool is_login,
                                  const std::vector<net::Forward>& forwards = {});

// ---- scripts for a POSIX shell; read_ssh_line() reads their output

/// Starts the engines, each in a separate session that outlives the connection, and watches them.
/// connection_info  the text of the engines' connection file: they get it in their environment, so
///                  that no key is on another host's disk.
std::string ssh_start_script(const SshHostPlan& plan, const std::string& connection_info);
/// Ends these engines if they are alive and starts them again; the script that watches them
/// continues.
/// engines  by their positions in the plan.
std::string ssh_restart_script(const SshHostPlan& plan, const std::vector<int>& engines,
                               const std::string& connection_info);
/// Watches engines that already run; ends when all have ended.
std::string ssh_watch_script(const SshHostPlan& plan);
/// Ends processes that a broken connection has left there, which occupy the ports of a tunnel.
std::string ssh_release_script(const SshHostPlan& plan);
/// Ends the engines and all processes that they started, prints their logs and removes all files.
std::string ssh_stop_script(const SshHostPlan& plan);
/// Sends a signal ("USR1") to the engines.
std::string ssh_signal_script(const SshHostPlan& plan, const std::string& signal);
/// Prints the last lines of the engines' logs.
/// follow  whether to continue with new lines.
std::string ssh_log_script(const SshHostPlan& plan, int lines, bool follow);

enum class LineKind {
  noise,     ///< Not from our scripts: a banner, a verbose profile.
  started,   ///< An engine runs; `text` is its pid there.
  watching,  ///< All are started.
  beat,      ///< The connection is alive.
  ended,     ///< An engine ended; `text` is its exit code, or "vanished".
  tail,      ///< A line from the end of an engine's log.
  log,       ///< A line of its log.
  warning,   ///< A message for the user.
  failed,    ///< No engine was started; `text` says why.
  done       ///< The script is finished.
};

/// One line of a script's output.
struct SshLine {
  LineKind kind = LineKind::noise;
  int engine = -1;
  std::string text;
};
SshLine read_ssh_line(std::string_view line);

}  // namespace px::cluster
