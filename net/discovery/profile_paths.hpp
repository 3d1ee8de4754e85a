#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "wire/error.hpp"

namespace px::net {

/// The options by which a user selects a cluster's files; an empty text means that the option was
/// not given.
struct ProfileChoice {
  std::string profile = {};      ///< --profile=
  std::string profile_dir = {};  ///< --profile-dir=
  std::string ipython_dir = {};  ///< --ipython-dir=
  std::string cluster_id = {};   ///< --cluster-id=
  bool has_cluster_id = false;   ///< --cluster-id= was given, possibly empty.
};

/// The paths of the files of one cluster: those of ipyparallel (protocol 2.1), and additional ones
/// of polyxeus in the same folders. Only computes paths: it reads and creates no files, and a file
/// need not exist.
struct ProfilePaths {
  std::filesystem::path root;  ///< .../profile_<name>, absolute
  std::string cluster_id;      ///< May be empty; otherwise a part of the files' names.

  /// The folders of the profile: `security` contains keys and connection files and is accessible to
  /// the user only.
  std::filesystem::path security() const { return root / "security"; }
  std::filesystem::path log() const { return root / "log"; }
  std::filesystem::path pid() const { return root / "pid"; }
  std::filesystem::path startup() const { return root / "startup"; }
  /// The connection files: the controller writes them, clients and engines read them.
  std::filesystem::path client_file() const {
    return security() / infixed("ipcontroller", "-client.json");
  }
  std::filesystem::path engine_file() const {
    return security() / infixed("ipcontroller", "-engine.json");
  }
  /// The file with the secret keys of the controller that wrote `client_file`, next to it.
  static std::filesystem::path secrets_beside(std::filesystem::path client_file) {
    return client_file.replace_extension(".secret.json");
  }
  /// A second connection file for clients of ipyparallel, next to one for Unix sockets: this one is
  /// for TCP.
  static std::filesystem::path tcp_beside(std::filesystem::path client_file) {
    return client_file.replace_extension(".tcp.json");
  }
  /// A second connection file for clients of ipyparallel on the controller's host, next to one for
  /// TCP: this one is for Unix sockets.
  static std::filesystem::path ipc_beside(std::filesystem::path client_file) {
    return client_file.replace_extension(".ipc.json");
  }
  /// A page that redirects a browser to the dashboard, token included.
  static std::filesystem::path dashboard_page_beside(std::filesystem::path client_file) {
    return client_file.replace_extension(".dashboard.html");
  }
  /// All files that may be next to the connection file for clients, e.g. to remove them.
  static std::vector<std::filesystem::path> all_beside(const std::filesystem::path& client_file) {
    return {secrets_beside(client_file), tcp_beside(client_file), ipc_beside(client_file),
            dashboard_page_beside(client_file)};
  }
  /// The file in which pxcluster records the cluster, so that its other commands find it.
  std::filesystem::path cluster_file() const {
    return security() / ("cluster-" + cluster_id + ".json");
  }
  /// The controller's table of engines, for its next start.
  std::filesystem::path engine_table_file() const {
    return log() / ("engines" + cluster_id + ".json");
  }
  /// The controller's event log: a line of JSON for each event.
  std::filesystem::path event_file() const { return log() / ("events-" + cluster_id + ".jsonl"); }
  /// The earlier events, once there are many.
  std::filesystem::path old_event_file() const {
    return log() / ("events-" + cluster_id + ".1.jsonl");
  }
  /// The folders of the controller's two journals: of tasks, and of direct calls and broadcasts.
  std::filesystem::path journal_folder() const { return log() / ("journal" + cluster_id); }
  std::filesystem::path call_journal_folder() const {
    return log() / ("call-journal" + cluster_id);
  }
  /// A file that the pxcluster that supervises the controller keeps locked as long as it runs.
  std::filesystem::path cluster_lock_file() const {
    return pid() / ("pxcluster-" + cluster_id + ".lock");
  }
  /// A file that the pxcontroller of this cluster keeps locked as long as it runs.
  std::filesystem::path controller_lock_file() const {
    return pid() / ("pxcontroller-" + cluster_id + ".lock");
  }
  /// The profile's name: "default" for .../profile_default; otherwise the folder's name.
  std::string profile_name() const;

 private:
  std::string infixed(std::string_view stem, std::string_view end) const;
};

/// Finds the profile: options first, then $IPP_PROFILE_DIR (which has precedence over --profile, as
/// in ipyparallel), $IPP_CLUSTER_ID and $IPYTHONDIR, then ~/.ipython/profile_default and the empty
/// cluster id.
/// errors  not_found: neither $IPYTHONDIR nor $HOME is set; bad_input: '/' or a control character
///         in a name.
Result<ProfilePaths> find_profile(const ProfileChoice& choice);

/// The folder that holds all profiles: --ipython-dir, $IPYTHONDIR or ~/.ipython.
/// errors  not_found: as find_profile().
Result<std::filesystem::path> find_ipython_dir(const ProfileChoice& choice);

/// Creates those of the folders root, security, log, pid and startup that are missing. Only the
/// user may enter security, log and pid (mode 0700).
Result<void> create_profile_folders(const ProfilePaths& paths);

}  // namespace px::net
