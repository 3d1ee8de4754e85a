#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

#include "program/program.hpp"
#include "wire/error.hpp"

namespace px::controller {

/// The options of pxcontroller: those of ipcontroller (protocol 11.2), under the same names. The
/// values are those given by the user; controller/configuration decides their meaning for each
/// part.
struct ControllerOptions {
  program::ProgramOptions program;
  std::string config_file;  ///< --config: instead of the profile's ipcontroller_config.

  /// Each may list several, separated by commas. Empty: the two sides use `ip`, which is 127.0.0.1
  /// then.
  std::string ip, engine_ip, client_ip;
  std::string location;
  std::string transport = "tcp";
  bool has_ipc = true;  ///< Unix sockets for peers on this host.
  std::string ports, engine_ports, client_ports;
  int registration_port = 0;
  std::string client_ssh, engine_ssh;
  std::string engine_json_file, client_json_file;
  std::string dashboard = "0";  ///< off, or the port; 0: a free one.
  std::string dashboard_hosts;  ///< With commas.
  bool reuse = false, restore = false, restartable = false;
  std::string journal;  ///< Empty: process if it is restartable, otherwise off.

  double ping_ms = 3000;
  /// TCP retries with growing pauses: the effects of a partition of 20 s may last for 40 s.
  int max_misses = 20;
  double registration_timeout_s = 0;  ///< 0: max(30 s, 10 beats).
  std::string scheme = "leastload";
  int hwm = 1;             ///< Tasks that an engine holds at a time; 0: no limit.
  int ahead = 4;           ///< Further short tasks that it may hold.
  int gang_communicators = 256;  ///< The communicators of tasks of several ranks that it keeps.
  int task_queue_mib = 0;  // 0: half of the memory

  std::string db_class = "DictDB";
  long long record_limit = 1024;
  std::optional<long long> size_limit;  ///< Nothing: 1 GiB, or less if memory is short.
  long long sqlite_size_limit = 4096ll * 1024 * 1024;
  std::string sqlite_filename = "tasks.db", sqlite_location, sqlite_table = "ipython-tasks";

  bool has_key = false;  ///< --Session.key was given, possibly empty.
  std::string key, key_file, packer = "json", signature_scheme = "hmac-sha256";
  bool is_secure = true;
  std::string session, username;
  bool enable_curve = false;
  bool is_curve_chosen = false;  ///< One of the options chose whether to encrypt.
  std::string curve_publickey, curve_secretkey;
};

/// Adds all options to `app`. `options` must outlive the parse.
void add_controller_options(CLI::App& app, ControllerOptions& options);

/// Adds all options to `app` and parses with it, like program::parse_command_line(): first the
/// arguments of the configuration file, followed by those of the command line, which take
/// precedence. The file may contain options of other programs: its unknown options are not an
/// error.
std::optional<int> parse_options(CLI::App& app, ControllerOptions& options,
                                 const std::vector<std::string>& config, int argc,
                                 const char* const* argv);

/// The message about the first option of the configuration files that parse_options() did not know.
std::optional<std::string> find_unknown_option_of_config(const CLI::App& app);

}  // namespace px::controller
