#pragma once

#include <memory>
#include <optional>
#include <string>

#include "controller/hub/task_store.hpp"
#include "controller/server.hpp"
#include "controller/setup/connection_files.hpp"
#include "controller/setup/options.hpp"
#include "controller/setup/sockets.hpp"
#include "controller/web/dashboard.hpp"
#include "net/discovery/profile_paths.hpp"
#include "wire/error.hpp"
#include "wire/session.hpp"

namespace px::controller {

/// What the environment says (protocol 11.4); read once, by main.
struct ControllerEnvironment {
  std::optional<std::string> session_key;
  std::optional<bool> enable_curve;
  std::string curve_publickey, curve_secretkey;
};
ControllerEnvironment read_environment();

/// Where the connection files of this cluster lie.
ConnectionFiles connection_files(const ControllerOptions& options, const net::ProfilePaths& paths);

/// What to listen at, and with which keys. Makes new keys where none are given; binds nothing.
/// previous       the connection files to take ports and key from
/// previous_keys  the keys of encryption that went with them
/// errors  bad_input: an option that makes no sense; names it.
Result<BindPlan> make_bind_plan(const ControllerOptions& options,
                                const ControllerEnvironment& environment,
                                const std::optional<ConnectionPair>& previous,
                                const std::optional<SideKeys>& previous_keys = std::nullopt);

/// How the clients' file leads ipyparallel's clients: through Unix sockets where only this host
/// can use the file, and no option says anything about encryption. A user who turns it off may need
/// TCP for tunnels: those of ipyparallel do not work with encryption.
ClientRoute choose_client_route(const ControllerOptions& options,
                                const ControllerEnvironment& environment,
                                const ClientConnectionInfo& client);

/// All that the Server is told, but for the storages of its journals (open_journals()) and the
/// shared memory.
/// errors  bad_input: an option that makes no sense; names it.
Result<ServerOptions> make_server_options(const ControllerOptions& options,
                                          const net::ProfilePaths& paths);

/// Where the dashboard is to be; nothing if it is off.
/// previous  that of the last run, whose token and port a controller that comes back takes, so that
///           open pages go on.
std::optional<DashboardOptions> dashboard_options(const ControllerOptions& options,
                                                  const std::optional<DashboardAddress>& previous);

/// What the journal of tasks is to outlive.  errors  bad_input: no such mode.
Result<JournalMode> journal_mode(const ControllerOptions& options);

/// Opens the journals of tasks and of direct calls, if there are to be any. Those of an earlier
/// controller are removed, unless this one has its ports and keys and goes on with them.
/// errors  system: a folder cannot be made.
Result<void> open_journals(ServerOptions& options, const net::ProfilePaths& paths);
void remove_journals(const net::ProfilePaths& paths);

/// errors  bad_input: a packer or a signature scheme that does not exist here.
Result<Session> make_session(const ControllerOptions& options, const ConnectionPair& connection);

/// errors  unsupported: MongoDB; bad_input: no such class; system: the file cannot be opened.
Result<std::unique_ptr<TaskStore>> make_store(const ControllerOptions& options,
                                              const net::ProfilePaths& paths);

}  // namespace px::controller
