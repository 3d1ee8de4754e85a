#include "controller/setup/options.hpp"

#include <algorithm>
#include <limits>

#include "controller/setup/port_plan.hpp"
#include "program/command_line.hpp"
#include "program/man_page.hpp"
#include "program/value_checks.hpp"
#include "wire/json.hpp"
#include "wire/text.hpp"

namespace px::controller {
namespace {

constexpr long long most = std::numeric_limits<int>::max();

std::string check_ports(const std::string& text) {
  return read_ports(text)
             ? ""
             : "takes ports from 1 to 65535 as in 10101-10120,10200, not '" + text + "'";
}

std::string check_dashboard(const std::string& text) {
  const auto port = read_whole_number(text);
  return text == "off" || (port && *port >= 0 && *port <= 65535)
             ? ""
             : "takes off or a port from 1 to 65535, not '" + text + "'";
}

std::string check_host_names(const std::string& text) {
  for (const std::string& name : program::split_at_commas(text))
    if (std::string wrong = program::host()(name); !wrong.empty()) return wrong;
  return "";
}

void add_network_options(CLI::App& app, ControllerOptions& o) {
  app.option_defaults()->group("Network");
  app.add_option("--ip,--IPController.ip", o.ip,
                 "Addresses to listen at, separated by commas (default: 127.0.0.1); *: all "
                 "addresses, 0.0.0.0: all IPv4 addresses")
      ->check(program::own_addresses());
  app.add_option("--IPController.engine_ip", o.engine_ip, "Like --ip, but only for engines")
      ->check(program::own_addresses());
  app.add_option("--IPController.client_ip", o.client_ip, "Like --ip, but only for clients")
      ->check(program::own_addresses());
  app.add_option("--location,--IPController.location", o.location,
                 "Name or address by which other hosts reach this host (default: its host name)")
      ->check(program::host());
  app.add_flag("--ipc,!--no-ipc", o.has_ipc,
               "Use Unix sockets without encryption for engines and clients on this host (default; "
               "--no-ipc: use TCP)");
  app.add_option("--transport,--IPController.transport", o.transport, "Only tcp is supported");
  app.add_option("--ports,--IPController.ports", o.ports,
                 "Ports to try first, e.g. 10101-10120,10200")
      ->check(&check_ports);
  app.add_option("--IPController.engine_ports", o.engine_ports,
                 "Like --ports, but only for engines")
      ->check(&check_ports);
  app.add_option("--IPController.client_ports", o.client_ports,
                 "Like --ports, but only for clients")
      ->check(&check_ports);
  app.add_option("--port,--IPController.regport", o.registration_port, "The registration port")
      ->check(program::whole_number("", 0, 65535));
  app.add_option("--ssh,--IPController.ssh_server", o.client_ssh,
                 "[user@]host[:port] through which clients tunnel")
      ->check(program::ssh_server());
  app.add_option("--enginessh,--IPController.engine_ssh_server", o.engine_ssh,
                 "[user@]host[:port] through which engines tunnel")
      ->check(program::ssh_server());
  app.add_option("--dashboard", o.dashboard,
                 "Port of the dashboard, at 127.0.0.1, or off (default: a free port; `pxcluster "
                 "dashboard` prints the address)")
      ->check(&check_dashboard);
  app.add_option(
         "--dashboard-hosts", o.dashboard_hosts,
         "Host names by which browsers reach the dashboard through a proxy, separated by commas")
      ->check(&check_host_names);
  app.add_flag("--enable-curve,--IPController.enable_curve,!--no-curve", o.enable_curve,
               "Encrypt with CURVE (default; --no-curve or $IPP_ENABLE_CURVE=0 turn it off)")
      ->each([&o](const std::string&) { o.is_curve_chosen = true; });
  app.add_option("--IPController.curve_publickey", o.curve_publickey,
                 "CURVE public key ($IPP_CURVE_PUBLICKEY)");
  app.add_option("--IPController.curve_secretkey", o.curve_secretkey,
                 "CURVE secret key ($IPP_CURVE_SECRETKEY)");
}

void add_file_options(CLI::App& app, ControllerOptions& o) {
  app.option_defaults()->group("Connection files");
  app.add_flag("--reuse,--IPController.reuse_files", o.reuse,
               "Use the ports and the key of the last run's connection files, and keep the files");
  app.add_flag("--restore,--IPController.restore_engines", o.restore,
               "Like --reuse; also accept the engines of the last run again");
  app.add_flag("--restartable", o.restartable,
               "Store on disk the data that a controller with --restore needs to continue if this "
               "controller dies; clients wait for the new controller");
  app.add_option("--journal", o.journal,
                 "Failures that tasks survive until their results are fetched, with --reuse or "
                 "--restore: off: none; process (default with --restartable): the end of the "
                 "controller; power: also a power failure")
      ->check(program::one_of({"off", "process", "power"}));
  app.add_option("--IPController.engine_json_file", o.engine_json_file,
                 "Name of the engines' file");
  app.add_option("--IPController.client_json_file", o.client_json_file,
                 "Name of the clients' file");
  app.add_option(
      "--config", o.config_file,
      "A configuration file, .json or .py (default: ipcontroller_config.py and .json in the "
      "profile)");
}

void add_session_options(CLI::App& app, ControllerOptions& o) {
  app.option_defaults()->group("Messages");
  app.add_option_function<std::string>(
      "--Session.key",
      [&o](const std::string& key) {
        o.key = key;
        o.has_key = true;
      },
      "The key that signs all messages ($IPP_SESSION_KEY; default: a new one)");
  app.add_option("--keyfile,--Session.keyfile", o.key_file, "A file that holds the key")
      ->check(program::existing_file(o.program.work_dir));
  app.add_option("--Session.packer", o.packer, "json or msgpack");
  app.add_option("--Session.signature_scheme", o.signature_scheme, "hmac-<hash>");
  app.add_option("--ident,--Session.session", o.session, "The id of this session");
  app.add_option("--user,--Session.username", o.username, "The user's name ($USER)");
  app.add_flag("--secure,!--no-secure", o.is_secure, "Sign messages (--no-secure: do not)");
}

void add_scheduling_options(CLI::App& app, ControllerOptions& o) {
  app.option_defaults()->group("Engines and tasks");
  app.add_option("--ping,--HeartMonitor.period", o.ping_ms, "Milliseconds between two heartbeats")
      ->check(program::number_of("milliseconds"))
      ->capture_default_str();
  app.add_option("--HeartMonitor.max_heartmonitor_misses", o.max_misses,
                 "Unregister an engine after more than this number of consecutive missed "
                 "heartbeats; after two missed heartbeats, it gets no further tasks")
      ->check(program::whole_number("", 0, most))
      ->capture_default_str();
  app.add_option("--IPController.registration_timeout", o.registration_timeout_s,
                 "Seconds until a registration without a heartbeat times out (default: 30, or 10 "
                 "heartbeats if that is longer)")
      ->check(program::number_of("seconds"));
  app.add_option("--scheme,--TaskScheduler.scheme_name", o.scheme,
                 "Rule that chooses the engine of a task: leastload, lru, plainrandom, weighted, "
                 "twobin, pure or none")
      ->capture_default_str();
  app.add_option("--hwm,--TaskScheduler.hwm", o.hwm,
                 "Largest number of tasks that an engine holds at a time; 0: no limit")
      ->check(program::whole_number(" of tasks", 0, most))
      ->capture_default_str();
  app.add_option("--ahead", o.ahead,
                 "How many short tasks an engine may prefetch beyond --hwm, at most the work of 2 "
                 "ms; the controller recalls them if an earlier task takes long")
      ->check(program::whole_number(" of tasks", 0, most))
      ->capture_default_str();
  app.add_option("--gang-communicators", o.gang_communicators,
                 "Largest number of MPI communicators that an engine keeps for tasks of several "
                 "ranks; it frees the one that was used longest ago")
      ->check(program::whole_number(" of communicators", 1, most))
      ->capture_default_str();
  app.add_option("--task-queue-mib", o.task_queue_mib,
                 "MiB of unfinished load-balanced tasks to keep in memory; further tasks fail with "
                 "the error Overloaded; 0: half of the memory")
      ->check(program::whole_number(" of MiB", 0, most))
      ->capture_default_str();
}

void add_store_options(CLI::App& app, ControllerOptions& o) {
  app.option_defaults()->group("Task records");
  const auto choose = [&](const char* name, const char* db_class, const char* help) {
    app.add_flag_callback(name, [&o, db_class] { o.db_class = db_class; }, help);
  };
  choose("--dictdb", "DictDB", "Keep the records in memory (the default)");
  choose("--sqlitedb", "SQLiteDB", "Keep the records in an SQLite file");
  choose("--nodb", "NoDB", "Keep no records");
  choose("--mongodb", "MongoDB", "Not supported");
  app.add_option("--IPController.db_class,--HubFactory.db_class", o.db_class,
                 "DictDB, SQLiteDB or NoDB");
  app.add_option("--DictDB.record_limit", o.record_limit, "Largest number of records")
      ->check(program::whole_number(" of records", 0))
      ->capture_default_str();
  app.add_option("--DictDB.size_limit", o.size_limit,
                 "Largest number of bytes of buffers in records (default: 1 GiB, or an eighth of "
                 "the available memory if that is less)")
      ->check(program::whole_number(" of bytes", 0));
  app.add_option("--SQLiteDB.filename", o.sqlite_filename, "Name of the SQLite file")
      ->capture_default_str();
  app.add_option("--SQLiteDB.location", o.sqlite_location,
                 "Folder of the SQLite file (default: the folder of the profile)");
  app.add_option("--SQLiteDB.size_limit", o.sqlite_size_limit,
                 "Largest number of bytes of the SQLite file; 0 = no limit")
      ->check(program::whole_number(" of bytes", 0))
      ->capture_default_str();
  app.add_option("--SQLiteDB.table", o.sqlite_table, "Table in the SQLite file")
      ->capture_default_str();
}

}  // namespace

void add_controller_options(CLI::App& app, ControllerOptions& options) {
  program::add_program_options(app, options.program);
  add_network_options(app, options);
  add_file_options(app, options);
  add_session_options(app, options);
  add_scheduling_options(app, options);
  add_store_options(app, options);
  program::add_exit_codes(
      app, {{"0", "ended by a signal or by a client"},
            {"1", "the controller failed; the last line of the log gives the reason"},
            {"2", "the command line is invalid; the program started nothing"}});
}

std::optional<int> parse_options(CLI::App& app, ControllerOptions& options,
                                 const std::vector<std::string>& config, int argc,
                                 const char* const* argv) {
  add_controller_options(app, options);
  std::vector<const char*> arguments{argv[0]};
  for (const std::string& argument : config) arguments.push_back(argument.c_str());
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  const auto is_of_config = [&config](std::string_view word) {
    return std::find(config.begin(), config.end(), word) != config.end();
  };
  return program::parse_command_line(app, static_cast<int>(arguments.size()), arguments.data(),
                                     {program::IpyparallelProgram::ipcontroller, is_of_config});
}

std::optional<std::string> find_unknown_option_of_config(const CLI::App& app) {
  return program::find_unknown_word(app);
}

}  // namespace px::controller
