#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "controller/configuration.hpp"
#include "controller/events/event_file.hpp"
#include "controller/events/event_ring.hpp"
#include "controller/sight/prometheus_text.hpp"
#include "net/local_interface.hpp"
#include "os/descriptor_limit.hpp"
#include "os/file_lock.hpp"
#include "os/private_file.hpp"
#include "os/processes.hpp"
#include "os/signals_blocked.hpp"
#include "program/command_line.hpp"
#include "program/config_files.hpp"

namespace px::controller {
namespace {

std::atomic<Server*> running_server = nullptr;  // for the signal handler alone

extern "C" void stop_on_signal(int) {
  if (Server* const server = running_server) server->stop();
}

/// Signals stop the server as long as this lives; afterwards they do nothing.
class StopsOnSignals {
 public:
  explicit StopsOnSignals(Server& server) {
    running_server = &server;
    struct sigaction action{};
    action.sa_handler = stop_on_signal;
    for (const int signal : {SIGTERM, SIGINT, SIGABRT}) ::sigaction(signal, &action, nullptr);
    if (!os::is_ignored(SIGHUP)) ::sigaction(SIGHUP, &action, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
  }
  ~StopsOnSignals() { running_server = nullptr; }
  StopsOnSignals(StopsOnSignals&&) = delete;
};

/// Says why on stderr or in the log, whichever the user sees, and gives the exit code.
int fail(const Error& error) {
  spdlog::critical("{}", error.what);
  return 1;
}

void warn_of_options(const CLI::App& app) {
  const std::string warning = program::warning_of_options_without_effect(app);
  if (!warning.empty()) spdlog::warn(warning);
  if (const auto unknown = find_unknown_option_of_config(app))
    spdlog::warn("the configuration files: {}", *unknown);
}

/// The file that --config names, else those of the profile.
Result<std::vector<program::ConfigFile>> read_config(const ControllerOptions& options,
                                                     const net::ProfilePaths& paths,
                                                     const std::string& program) {
  if (options.config_file.empty())
    return program::read_config_files(paths.root, "ipcontroller", program);
  auto file = program::read_config_file(options.config_file, program);
  if (!file) return file.error();
  return std::vector<program::ConfigFile>{std::move(*file)};
}

/// The Unix sockets for those on this host, named in both connection files. Where there are none
/// they take TCP, as all others do.
std::optional<net::SocketFolder> open_local_interface(const ControllerOptions& options,
                                                      ConnectionPair& connection) {
  const auto previous = std::exchange(connection.client.local, std::nullopt);
  connection.engine.local.reset();
  const std::string network = net::own_network();
  if (!options.has_ipc || network.empty()) return std::nullopt;
  Result<net::SocketFolder> folder =
      previous ? net::SocketFolder::restore(previous->interface) : net::SocketFolder::create();
  if (!folder) {
    spdlog::info("Unix sockets are off, all connections use TCP: {}", folder.error().what);
    return std::nullopt;
  }
  connection.client.local = connection.engine.local = LocalInterface{folder->interface(), network};
  return std::move(*folder);
}

/// Shared memory for those on this host, named in both connection files. Where there is none all
/// bytes come through sockets.
std::shared_ptr<os::SegmentFolder> open_shared_memory(ConnectionPair& connection) {
  const auto previous = std::exchange(connection.client.memory, std::nullopt);
  connection.engine.memory.reset();
  if (os::is_shared_memory_off()) return nullptr;
  auto folder =
      previous ? os::SegmentFolder::restore(previous->folder) : os::SegmentFolder::create();
  if (!folder) {
    spdlog::info("shared memory is off, large arrays pass through the controller: {}",
                 folder.error().what);
    return nullptr;
  }
  connection.client.memory = connection.engine.memory = (*folder)->name();
  return std::move(*folder);
}

/// Ends the shared memory of the cluster with the controller, once that has served: before, it may
/// be that of an earlier controller, whose engines go on with it.
struct SharedMemoryEnd {
  std::shared_ptr<os::SegmentFolder> folder;
  bool has_served = false;
  ~SharedMemoryEnd() {
    if (folder && has_served) folder->remove_all();
  }
};

/// The name of the cluster for this controller alone: all that it writes, and removes in the end,
/// is named by it. One that is just ending gets a moment.
Result<os::FileLock> lock_name(const net::ProfilePaths& paths) {
  const Instant deadline = Clock::now() + std::chrono::seconds(3);
  for (;;) {
    Result<os::FileLock> lock = os::FileLock::take(paths.controller_lock_file());
    if (lock || lock.error().kind != ErrorKind::overloaded) return lock;
    if (Clock::now() >= deadline)
      return Error{
          ErrorKind::overloaded,
          "a controller of the cluster '" + paths.cluster_id + "' already runs in " +
              paths.root.string() + ": " + lock.error().what +
              "; stop it with `pxcluster stop`, or give this one another id with --cluster-id"};
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

/// A cluster without an event log is better than none.
void open_event_log(ServerOptions& options, const std::filesystem::path& file) {
  options.earlier_events = EventFile::read_latest(file, EventRing::most_events);
  const Result<EventFile> log = EventFile::open(file);
  if (!log) return spdlog::error("{}", log.error().what);
  options.event_log = [log = *log](const Json& event) { log.write(event); };
}

/// Null: it is off, or there is no port for it. Where none was asked for by its number, a
/// controller is of use without.
Result<std::shared_ptr<Dashboard>> open_dashboard(const ControllerOptions& options,
                                                  const DescriptorPlan& descriptors,
                                                  const std::shared_ptr<SnapshotBoard>& board,
                                                  ConnectionPair& connection) {
  const auto previous = std::exchange(connection.client.dashboard, std::nullopt);
  auto wanted = dashboard_options(options, previous);
  if (!wanted) return std::shared_ptr<Dashboard>{};
  wanted->most_connections = descriptors.browsers();
  auto dashboard = Dashboard::open(*wanted, board, &prometheus_text);
  if (!dashboard && previous && options.dashboard == "0") {  // others have the port of the last run
    wanted->port = 0;
    dashboard = Dashboard::open(*wanted, board, &prometheus_text);
  }
  if (!dashboard && options.dashboard != "0") return dashboard.error();
  if (!dashboard) {
    spdlog::warn("there is no dashboard: {}", dashboard.error().what);
    return std::shared_ptr<Dashboard>{};
  }
  connection.client.dashboard = (*dashboard)->address();
  return std::shared_ptr<Dashboard>{std::move(*dashboard)};
}

/// By which `pxcluster stop` finds a controller that was started by hand.
std::optional<ControllerProcess> own_process() {
  os::LocalProcesses processes;
  const int pid = ::getpid();
  std::string birth = processes.birth_of(pid);
  if (birth.empty()) return std::nullopt;
  return ControllerProcess{pid, std::move(birth)};
}

/// limit  how many files and sockets this process may have open.
Result<void> serve(const ControllerOptions& options, const net::ProfilePaths& paths,
                   std::size_t limit) {
  const DescriptorPlan descriptors{limit};
  if (auto enough = os::require_descriptors(descriptors.needed(), "a controller"); !enough)
    return enough;
  const Result<os::FileLock> lock = lock_name(paths);
  if (!lock) return lock.error();
  const ConnectionFiles files = connection_files(options, paths);
  const ControllerEnvironment environment = read_environment();
  const bool keeps_files = options.reuse || options.restore;
  std::optional<ConnectionPair> previous;
  std::optional<SideKeys> previous_keys;
  if (keeps_files) {
    if (Result<ConnectionPair> pair = read_connection_files(files))
      previous = std::move(*pair);
    else
      spdlog::error("cannot reuse the connection files of the last run, writing new ones: {}",
                    pair.error().what);
    if (Result<SideKeys> keys = read_secrets(files))
      previous_keys = *keys;
    else if (previous && previous->client.curve_serverkey)
      spdlog::error("the engines of the last run cannot reconnect, their keys are lost: {}",
                    keys.error().what);
  }
  Result<BindPlan> plan = make_bind_plan(options, environment, previous, previous_keys);
  if (!plan) return plan.error();
  plan->descriptors = descriptors;
  if (plan->curve && (keeps_files || options.restartable))
    if (auto written = write_secrets(files, *plan->curve); !written) return written.error();
  Result<ServerOptions> server_options = make_server_options(options, paths);
  if (!server_options) return server_options.error();
  if (auto opened = open_journals(*server_options, paths); !opened) return opened.error();
  open_event_log(*server_options, paths.event_file());
  Result<Session> session = make_session(options, plan->connection);
  if (!session) return session.error();
  Result<std::unique_ptr<TaskStore>> store = make_store(options, paths);
  if (!store) return store.error();

  const std::optional<net::SocketFolder> folder = open_local_interface(options, plan->connection);
  SharedMemoryEnd memory{open_shared_memory(plan->connection)};
  server_options->memory = memory.folder;
  net::Context context;
  Result<BoundSockets> bound = bind_sockets(context, std::move(*plan));
  if (!bound) return bound.error();
  bound->connection.client.process = own_process();
  auto dashboard = open_dashboard(options, descriptors, server_options->board, bound->connection);
  if (!dashboard) return dashboard.error();
  server_options->dashboard = std::move(*dashboard);
  const ConnectionPair connection = bound->connection;
  {
    Server server{std::move(*bound), std::move(*session), std::move(*store), *server_options};
    const StopsOnSignals stops_on_signals{server};
    const ClientRoute route = choose_client_route(options, environment, connection.client);
    if (auto written = write_connection_files(files, connection, route); !written) {
      if (!keeps_files) remove_connection_files(files, connection);
      return written.error();
    }
    spdlog::info("Hub listening on {}:{} for registration.", connection.client.interface,
                 connection.client.registration);
    if (!connection.client.addresses.empty())
      spdlog::info("addresses of the controller: {}", fmt::join(connection.client.addresses, ", "));
    spdlog::info("writing connection info to {}", files.client.string());
    if (connection.client.local)
      spdlog::info("for clients of ipyparallel {}: {}",
                   route == ClientRoute::tcp ? "on this host, over Unix sockets"
                                             : "that need TCP, e.g. for ssh tunnels",
                   files.other_client(route).string());
    spdlog::info("writing connection info to {}", files.engine.string());
    if (connection.client.dashboard)
      spdlog::info("dashboard at port {} of 127.0.0.1; `pxcluster dashboard` prints its address",
                   connection.client.dashboard->port);
    memory.has_served = true;
    server.run();
    // Whose connection breaks looks for them, to know whether the cluster has ended.
    if (!keeps_files) remove_connection_files(files, connection);
  }
  *server_options = {};  // the journals are closed before they are removed
  if (!keeps_files || options.restartable) remove_journals(paths);
  spdlog::info("the controller has stopped");
  return {};
}

int run(int argc, char** argv) {
  program::start_log_to_stderr("pxcontroller");
  ControllerOptions options;
  CLI::App app{
      "The controller of a polyxeus cluster: engines and clients of ipyparallel connect to it",
      "pxcontroller"};
  if (const auto code = parse_options(app, options, {}, argc, argv)) return *code;
  const Result<net::ProfilePaths> paths = net::find_profile(options.program.profile);
  if (!paths) return fail(paths.error());
  const auto files = read_config(options, *paths, argv[0]);
  if (!files) return fail(files.error());
  const auto config = program::config_arguments(*files);
  if (!config) return fail(config.error());
  // Parsed again, as the command line has the last word.
  ControllerOptions all;
  CLI::App whole{"", "pxcontroller"};
  if (const auto code = parse_options(whole, all, *config, argc, argv)) return *code;
  if (auto made = net::create_profile_folders(*paths); !made) return fail(made.error());
  if (auto started = program::start_log("pxcontroller", all.program, *paths); !started)
    return fail(started.error());
  program::log_on_thread();  // a log may lie on a disk that hangs
  const std::size_t descriptors = os::raise_descriptor_limit();  // an engine takes ten
  warn_of_options(whole);
  for (const program::ConfigFile& file : *files)
    if (const std::string warning = program::warning_of_unusable(file); !warning.empty())
      spdlog::warn(warning);
  if (auto entered = program::enter_work_dir(all.program); !entered) return fail(entered.error());
  const Result<void> served = serve(all, *paths, descriptors);
  const int code = served ? 0 : fail(served.error());
  spdlog::shutdown();  // what is left of the log is written
  return code;
}

}  // namespace
}  // namespace px::controller

int main(int argc, char** argv) {
  return px::controller::run(argc, argv);
}
