#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "wire/error.hpp"

namespace px::net {

/// What a user may say about where a cluster's files are; empty = not said.
struct ProfileChoice {
  std::string profile = {};      ///< --profile=
  std::string profile_dir = {};  ///< --profile-dir=
  std::string ipython_dir = {};  ///< --ipython-dir=
  std::string cluster_id = {};   ///< --cluster-id=
  bool has_cluster_id = false;   ///< --cluster-id= was given, maybe as the empty id.
};

/// Where the files of one cluster lie (protocol 2.1). Pure: nothing is created.
struct ProfilePaths {
  std::filesystem::path root;  ///< .../profile_<name>, absolute
  std::string cluster_id;      ///< may be empty

  std::filesystem::path security() const { return root / "security"; }
  std::filesystem::path log() const { return root / "log"; }
  std::filesystem::path pid() const { return root / "pid"; }
  std::filesystem::path startup() const { return root / "startup"; }
  std::filesystem::path client_file() const {
    return security() / infixed("ipcontroller", "-client.json");
  }
  std::filesystem::path engine_file() const {
    return security() / infixed("ipcontroller", "-engine.json");
  }
  /// The secret keys of the controller that wrote this file for clients.
  static std::filesystem::path secrets_beside(std::filesystem::path client_file) {
    return client_file.replace_extension(".secret.json");
  }
  /// The same for ipyparallel's clients that need TCP, where `client_file` leads to Unix sockets.
  static std::filesystem::path tcp_beside(std::filesystem::path client_file) {
    return client_file.replace_extension(".tcp.json");
  }
  /// The same for ipyparallel's clients on the controller's host, where `client_file` leads to TCP.
  static std::filesystem::path ipc_beside(std::filesystem::path client_file) {
    return client_file.replace_extension(".ipc.json");
  }
  /// All files that a controller may write beside that for clients.
  static std::vector<std::filesystem::path> all_beside(const std::filesystem::path& client_file) {
    return {secrets_beside(client_file), tcp_beside(client_file), ipc_beside(client_file)};
  }
  std::filesystem::path cluster_file() const {
    return security() / ("cluster-" + cluster_id + ".json");
  }
  std::filesystem::path engine_table_file() const {
    return log() / ("engines" + cluster_id + ".json");
  }
  /// The folders of the controller's journals.
  std::filesystem::path journal_folder() const { return log() / ("journal" + cluster_id); }
  std::filesystem::path call_journal_folder() const {
    return log() / ("call-journal" + cluster_id);
  }
  /// Locked by the pxcluster that supervises the controller, as long as it lives.
  std::filesystem::path cluster_lock_file() const {
    return pid() / ("pxcluster-" + cluster_id + ".lock");
  }
  /// Locked by the pxcontroller of this cluster, as long as it lives.
  std::filesystem::path controller_lock_file() const {
    return pid() / ("pxcontroller-" + cluster_id + ".lock");
  }
  std::filesystem::path task_db_file() const { return root / "tasks.db"; }
  /// "default" for .../profile_default.
  std::string profile_name() const;

 private:
  std::string infixed(std::string_view stem, std::string_view end) const;
};

/// Options first, then $IPP_PROFILE_DIR (which beats --profile, as in the reference),
/// $IPP_CLUSTER_ID and $IPYTHONDIR, then ~/.ipython/profile_default and the empty cluster id.
/// errors  not_found: neither $IPYTHONDIR nor $HOME is set; bad_input: '/' in a name.
Result<ProfilePaths> find_profile(const ProfileChoice& choice);

/// The folder that holds all profiles: --ipython-dir, $IPYTHONDIR or ~/.ipython.
Result<std::filesystem::path> find_ipython_dir(const ProfileChoice& choice);

/// Creates root, security (0700), log, pid (0700) and startup where they are missing.
Result<void> create_profile_folders(const ProfilePaths& paths);

}  // namespace px::net
