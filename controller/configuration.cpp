#include "controller/configuration.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "controller/engine_restart.hpp"
#include "controller/hub/memory_store.hpp"
#include "controller/hub/sqlite_store.hpp"
#include "controller/hub/task_store.hpp"
#include "controller/journal/buffered_storage.hpp"
#include "controller/journal/folder_storage.hpp"
#include "controller/setup/announcement.hpp"
#include "net/discovery/address.hpp"
#include "os/host.hpp"
#include "os/memory_group.hpp"
#include "os/private_file.hpp"
#include "wire/session.hpp"
#include "wire/text.hpp"

namespace px::controller {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

const std::string& first_of(const std::string& wanted, const std::string& otherwise) {
  return wanted.empty() ? otherwise : wanted;
}

std::string without_space_at_end(std::string text) {
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  return text;
}

/// Whether to encrypt. By default wherever libzmq can; a controller that comes back does as before.
struct CurveChoice {
  bool is_on = false;
  bool is_asked_for = false;  // by name, not by default
};

CurveChoice choose_curve(const ControllerOptions& options, const ControllerEnvironment& environment,
                         const std::optional<ConnectionPair>& previous) {
  if (options.is_curve_chosen) return {options.enable_curve, options.enable_curve};
  if (environment.enable_curve) return {*environment.enable_curve, *environment.enable_curve};
  if (previous) return {previous->client.curve_serverkey.has_value(), false};
  if (net::has_curve()) return {true, false};
  spdlog::warn("messages are signed but not encrypted: this libzmq was built without CURVE");
  return {};
}

Result<std::string> choose_key(const ControllerOptions& options,
                               const ControllerEnvironment& environment, const CurveChoice& curve) {
  if (!options.is_secure) return std::string();
  if (options.has_key) return options.key;
  if (!options.key_file.empty()) {
    Result<std::string> text = os::read_file(options.key_file);
    if (!text) return text.error();
    std::string key = without_space_at_end(std::move(*text));
    if (key.empty())
      return Error{ErrorKind::bad_input, "the key file " + options.key_file + " is empty"};
    return key;
  }
  if (environment.session_key) return *environment.session_key;
  // CURVE that is asked for replaces the signatures, as in ipyparallel; by default there are both.
  return curve.is_asked_for ? std::string() : new_key();
}

Result<SideKeys> new_side_keys() {
  const Result<net::CurveKeys> client = net::new_curve_keys();
  if (!client) return client.error();
  const Result<net::CurveKeys> engine = net::new_curve_keys();
  if (!engine) return engine.error();
  return SideKeys{*client, *engine};
}

Result<SideKeys> make_curve_keys(const ControllerOptions& options,
                                 const ControllerEnvironment& environment,
                                 const std::optional<SideKeys>& previous) {
  const std::string& secret = first_of(options.curve_secretkey, environment.curve_secretkey);
  const std::string& given = first_of(options.curve_publickey, environment.curve_publickey);
  if (secret.empty() && !given.empty())
    return Error{ErrorKind::bad_input,
                 "a CURVE public key was given without its secret key (IPP_CURVE_SECRETKEY)"};
  if (secret.empty()) return previous ? Result(*previous) : new_side_keys();
  const Result<std::string> derived = net::curve_public_key(secret);
  if (!derived) return derived.error();
  if (!given.empty() && given != *derived)
    return Error{ErrorKind::bad_input, "the CURVE public key does not belong to the secret key"};
  const net::CurveKeys keys{*derived, secret};
  return SideKeys{keys, keys};
}

Result<PortPlan> make_port_plan(const ControllerOptions& options) {
  const auto common = read_ports(options.ports);
  if (!common) return common.error();
  const auto engine = read_ports(options.engine_ports);
  if (!engine) return engine.error();
  const auto client = read_ports(options.client_ports);
  if (!client) return client.error();
  return PortPlan{*common, *engine, *client};
}

Duration from_ms(double ms) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double, std::milli>(ms));
}

std::filesystem::path in_security(const std::string& name, const std::filesystem::path& otherwise,
                                  const net::ProfilePaths& paths) {
  return name.empty() ? otherwise : paths.security() / name;
}

}  // namespace

ControllerEnvironment read_environment() {
  ControllerEnvironment environment;
  if (std::string key = variable("IPP_SESSION_KEY"); !key.empty())
    environment.session_key = std::move(key);
  if (const std::string curve = variable("IPP_ENABLE_CURVE"); !curve.empty())
    environment.enable_curve = curve != "0";
  environment.curve_publickey = variable("IPP_CURVE_PUBLICKEY");
  environment.curve_secretkey = variable("IPP_CURVE_SECRETKEY");
  return environment;
}

ConnectionFiles connection_files(const ControllerOptions& options, const net::ProfilePaths& paths) {
  return {in_security(options.client_json_file, paths.client_file(), paths),
          in_security(options.engine_json_file, paths.engine_file(), paths)};
}

namespace {

/// Says where one side listens, in the plan and in its connection file.
void listen_at(const std::string& ip, const std::string& location, ConnectionCommon& common,
               std::vector<std::string>& more) {
  std::vector<std::string> ips = split_addresses(ip);
  if (ips.empty()) ips.push_back("127.0.0.1");
  const bool is_loopback_only = std::all_of(ips.begin(), ips.end(), net::is_loopback);
  // The name service may be slow: it is asked only for those who come from other hosts.
  const HostFacts host = is_loopback_only ? HostFacts{os::host_name(), {}, {}} : HostFacts::find();
  const Announcement said = announce(ips, location, host);
  common.interface = "tcp://" + net::in_brackets(ips.front());
  common.location = said.location;
  common.addresses = said.addresses;
  for (std::size_t i = 1; i < ips.size(); ++i) more.push_back("tcp://" + net::in_brackets(ips[i]));
}

void plan_connection(BindPlan& plan, const ControllerOptions& options, const std::string& key) {
  ConnectionPair& pair = plan.connection;
  listen_at(first_of(options.client_ip, options.ip), options.location, pair.client,
            plan.more_client_interfaces);
  listen_at(first_of(options.engine_ip, options.ip), options.location, pair.engine,
            plan.more_engine_interfaces);
  pair.client.ssh = options.client_ssh;
  pair.engine.ssh = options.engine_ssh;
  pair.client.registration = options.registration_port;
  for (ConnectionCommon* common : {static_cast<ConnectionCommon*>(&pair.client),
                                   static_cast<ConnectionCommon*>(&pair.engine)}) {
    common->key = key;
    common->pack = options.packer == "orjson" ? "json" : options.packer;
    common->signature_scheme = options.signature_scheme;
  }
}

}  // namespace

Result<BindPlan> make_bind_plan(const ControllerOptions& options,
                                const ControllerEnvironment& environment,
                                const std::optional<ConnectionPair>& previous,
                                const std::optional<SideKeys>& previous_keys) {
  if (options.transport != "tcp")
    return Error{ErrorKind::bad_input,
                 "--transport=" + options.transport + ": the only transport is tcp"};
  const auto scheme = task_scheme_by_name(options.scheme);
  if (!scheme) return scheme.error();
  if (options.registration_port < 0 || options.registration_port > 65535)
    return Error{ErrorKind::bad_input, "--port must be between 1 and 65535"};
  const Result<PortPlan> ports = make_port_plan(options);
  if (!ports) return ports.error();
  const CurveChoice curve = choose_curve(options, environment, previous);

  BindPlan plan{previous.value_or(ConnectionPair{}), *ports, std::nullopt,
                *scheme == TaskScheme::pure, *scheme != TaskScheme::none};
  if (!previous) {
    const Result<std::string> key = choose_key(options, environment, curve);
    if (!key) return key.error();
    plan_connection(plan, options, *key);
  }
  plan.connection.client.curve_serverkey.reset();
  plan.connection.engine.curve_serverkey.reset();
  if (curve.is_on) {
    const Result<SideKeys> keys = make_curve_keys(options, environment, previous_keys);
    if (!keys) return keys.error();
    plan.curve = *keys;
    plan.connection.client.curve_serverkey = keys->client.public_key;
    plan.connection.engine.curve_serverkey = keys->engine.public_key;
  }
  plan.connection.client.task_scheme = options.scheme;
  plan.connection.client.bundles = plan.connection.engine.bundles = true;
  return plan;
}

ClientRoute choose_client_route(const ControllerOptions& options,
                                const ControllerEnvironment& environment,
                                const ClientConnectionInfo& client) {
  const bool is_for_this_host = client.local && client.addresses.empty() && client.ssh.empty();
  const bool is_encryption_chosen = options.is_curve_chosen || environment.enable_curve ||
                                    !options.curve_secretkey.empty() ||
                                    !environment.curve_secretkey.empty();
  return is_for_this_host && !is_encryption_chosen ? ClientRoute::unix_sockets : ClientRoute::tcp;
}

std::optional<DashboardOptions> dashboard_options(const ControllerOptions& options,
                                                  const std::optional<DashboardAddress>& previous) {
  if (options.dashboard == "off") return std::nullopt;
  DashboardOptions dashboard{.port = read_whole_number(options.dashboard).value_or(0)};
  if (previous) {
    dashboard.token = previous->token;
    if (dashboard.port == 0) dashboard.port = previous->port;
  }
  for (const std::string& name : split_addresses(options.dashboard_hosts))
    dashboard.host_names.insert(net::in_brackets(name));
  return dashboard;
}

Result<JournalMode> journal_mode(const ControllerOptions& options) {
  if (options.journal.empty()) return options.restartable ? JournalMode::process : JournalMode::off;
  std::string name = options.journal;
  for (char& letter : name)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return journal_mode_by_name(name);
}

namespace {

constexpr const char* shared_memory = "/dev/shm";

/// What waits for the disk, at most: in shared memory, which counts as the controller's.
std::size_t journal_buffer_bytes() {
  std::error_code ignored;
  const auto space = std::filesystem::space(shared_memory, ignored).capacity / 16;
  const auto part = std::min<std::uintmax_t>(os::half_of_usable_memory() / 16, space);
  return static_cast<std::size_t>(
      std::clamp<std::uintmax_t>(part, std::uintmax_t{4} << 20, std::uintmax_t{64} << 20));
}

Result<std::shared_ptr<JournalStorage>> open_journal(const std::filesystem::path& folder) {
  auto opened = FolderStorage::open(folder);
  if (!opened) return opened.error();
  std::shared_ptr<JournalStorage> disk = std::move(*opened);
  auto buffer =
      JournalBuffer::open(journal_buffer_file(folder), shared_memory, journal_buffer_bytes());
  if (buffer)
    disk = std::make_shared<BufferedStorage>(std::move(disk), std::move(*buffer));
  else
    spdlog::warn("the journal has no shared memory ({}): a disk that hangs blocks the controller",
                 buffer.error().what);
  return disk;
}

}  // namespace

Result<void> open_journals(ServerOptions& options, const net::ProfilePaths& paths) {
  // Without the ports and keys of the earlier one no client can ask for its results.
  const bool is_off = options.journal.mode == JournalMode::off;
  if (!options.is_successor || is_off) remove_journals(paths);
  if (is_off) return {};
  auto tasks = open_journal(paths.journal_folder());
  if (!tasks) return tasks.error();
  auto calls = open_journal(paths.call_journal_folder());
  if (!calls) return calls.error();
  options.journal_storage = std::move(*tasks);
  options.call_storage = std::move(*calls);
  return {};
}

void remove_journals(const net::ProfilePaths& paths) {
  for (const auto& folder : {paths.journal_folder(), paths.call_journal_folder()})
    remove_journal(folder);
}

Result<ServerOptions> make_server_options(const ControllerOptions& options,
                                          const net::ProfilePaths& paths) {
  const auto scheme = task_scheme_by_name(options.scheme);
  if (!scheme) return scheme.error();
  if (!(options.ping_ms >= 1 && options.ping_ms <= 86'400'000))
    return Error{ErrorKind::bad_input, "--ping must be between 1 and 86400000 milliseconds"};
  if (options.hwm < 0) return Error{ErrorKind::bad_input, "--hwm must not be negative"};
  if (options.task_queue_mib < 0)
    return Error{ErrorKind::bad_input, "--task-queue-mib must not be negative"};
  ServerOptions server;
  server.membership.heartbeat.period = from_ms(options.ping_ms);
  server.membership.heartbeat.max_misses = options.max_misses;
  const double timeout_ms = options.registration_timeout_s > 0
                                ? options.registration_timeout_s * 1000
                                : std::max(30'000.0, 10 * options.ping_ms);
  server.membership.registration_timeout = from_ms(std::min(timeout_ms, 1e12));
  server.membership.table_file = paths.engine_table_file();
  server.hub.registration_timeout = server.membership.registration_timeout;
  server.board = std::make_shared<SnapshotBoard>();
  server.tasks.scheme = *scheme;
  if (!has_task_queue(*scheme))
    server.hub.why_no_resubmission = "a controller with --scheme=" + options.scheme +
                                     " has no queue of tasks: call the function again";
  server.tasks.hwm = static_cast<std::size_t>(options.hwm);
  server.tasks.ahead = static_cast<std::size_t>(options.ahead);
  server.tasks.gang_communicators = static_cast<std::size_t>(options.gang_communicators);
  server.tasks.max_bytes = options.task_queue_mib > 0
                               ? static_cast<std::size_t>(options.task_queue_mib) << 20
                               : static_cast<std::size_t>(os::half_of_usable_memory());
  server.most_waiting_bytes = static_cast<std::size_t>(os::half_of_usable_memory() / 2);
  server.hub.most_answer_bytes =
      std::min(server.hub.most_answer_bytes, server.most_waiting_bytes / 2);
  server.backlog_folder = paths.log();
  const auto journal = journal_mode(options);
  if (!journal) return journal.error();
  server.journal.mode = *journal;
  server.restore_engines = options.restore;
  server.is_successor = options.reuse || options.restore;
  server.has_successor = server.is_successor || options.restartable;
  server.membership.saves_first = server.has_successor;
  if (options.restartable) server.pxcluster = EngineRestart::find_pxcluster();
  return server;
}

Result<Session> make_session(const ControllerOptions& options, const ConnectionPair& connection) {
  return new_session(connection.client,
                     SessionId{options.session.empty() ? new_session_id() : options.session},
                     options.username.empty() ? current_username() : options.username);
}

Result<std::unique_ptr<TaskStore>> make_store(const ControllerOptions& options,
                                              const net::ProfilePaths& paths) {
  // The reference also takes the path of the class.
  const std::string name = options.db_class.substr(options.db_class.rfind('.') + 1);
  if (name == "MongoDB")
    return Error{ErrorKind::unsupported,
                 "MongoDB is not supported; use --sqlitedb, --dictdb or --nodb"};
  if (name == "NoDB") return std::unique_ptr<TaskStore>(std::make_unique<NoStore>());
  if (name == "DictDB") {
    MemoryStoreLimits limits;
    limits.finished_records = static_cast<std::size_t>(std::max(1ll, options.record_limit));
    limits.bytes =
        options.size_limit
            ? static_cast<std::size_t>(std::max(1ll, *options.size_limit))
            : std::min(limits.bytes, static_cast<std::size_t>(os::half_of_usable_memory() / 4));
    return std::unique_ptr<TaskStore>(std::make_unique<MemoryStore>(limits));
  }
  if (name != "SQLiteDB")
    return Error{ErrorKind::bad_input,
                 "the task database '" + options.db_class + "' is none of DictDB, SQLiteDB, NoDB"};
  const std::filesystem::path folder =
      options.sqlite_location.empty() ? paths.root : std::filesystem::path(options.sqlite_location);
  SqliteStoreOptions chosen;
  chosen.table = options.sqlite_table;
  chosen.max_file_bytes = static_cast<std::uint64_t>(std::max(0ll, options.sqlite_size_limit));
  chosen.warn = [](std::string_view text) { spdlog::warn("{}", text); };
  Result<std::unique_ptr<SqliteStore>> store =
      SqliteStore::open(folder / options.sqlite_filename, chosen);
  if (!store) return store.error();
  return std::unique_ptr<TaskStore>(std::move(*store));
}

}  // namespace px::controller
