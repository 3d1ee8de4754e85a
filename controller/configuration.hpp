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

/// The settings from the environment (protocol 11.4); read once, by main.
struct ControllerEnvironment {
  std::optional<std::string> session_key;
  std::optional<bool> enable_curve;
  std::string curve_publickey, curve_secretkey;
};
ControllerEnvironment read_environment();

/// The paths of this cluster's connection files.
ConnectionFiles connection_files(const ControllerOptions& options, const net::ProfilePaths& paths);

/// The addresses to bind and the keys. Makes new keys if none are given; binds nothing.
/// previous       the connection files whose ports and key are reused
/// previous_keys  their keys of encryption
/// errors  bad_input: an option that makes no sense; the message names it.
Result<BindPlan> make_bind_plan(const ControllerOptions& options,
                                const ControllerEnvironment& environment,
                                const std::optional<ConnectionPair>& previous,
                                const std::optional<SideKeys>& previous_keys = std::nullopt);

/// The interface that the clients' file gives to ipyparallel's clients: Unix sockets if only this
/// host can use the file, and no option concerns encryption. A user who turns encryption off may
/// need TCP for tunnels: ipyparallel's tunnels do not work with encryption.
ClientRoute choose_client_route(const ControllerOptions& options,
                                const ControllerEnvironment& environment,
                                const ClientConnectionInfo& client);

/// All settings of the Server except the storages of its journals (open_journals()) and the shared
/// memory.
/// errors  bad_input: an option that makes no sense; the message names it.
Result<ServerOptions> make_server_options(const ControllerOptions& options,
                                          const net::ProfilePaths& paths);

/// The settings of the dashboard; nothing if it is off.
/// previous  the dashboard of the last run: a restored controller reuses its token and port, so
///           that open pages continue to work.
std::optional<DashboardOptions> dashboard_options(const ControllerOptions& options,
                                                  const std::optional<DashboardAddress>& previous);

/// Which failures the journal of tasks must survive.  errors  bad_input: no such mode.
Result<JournalMode> journal_mode(const ControllerOptions& options);

/// Opens the journals of tasks and of direct calls, if they are on. Journals of an earlier
/// controller are removed, unless this one has its ports and keys and continues them.
/// errors  system: a folder cannot be made.
Result<void> open_journals(ServerOptions& options, const net::ProfilePaths& paths);
void remove_journals(const net::ProfilePaths& paths);

/// errors  bad_input: a packer or a signature scheme that is unknown here.
Result<Session> make_session(const ControllerOptions& options, const ConnectionPair& connection);

/// errors  unsupported: MongoDB; bad_input: no such class; system: the file cannot be opened.
Result<std::unique_ptr<TaskStore>> make_store(const ControllerOptions& options,
                                              const net::ProfilePaths& paths);

}  // namespace px::controller
