#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "client/client.hpp"
#include "client/engine_status.hpp"
#include "cluster/keep/cpp_variables.hpp"
#include "cluster/keep/keep_report.hpp"
#include "cluster/records/placed_engine.hpp"

namespace px::cluster {

/// Carries variables of engines over a restart. Python engines write them to files and read them
/// again; this process fetches those of C++ engines, and of Python engines on hosts that do not see
/// the files, and sends them to the new engines. If single engines were chosen, engines whose
/// variables are lost get those of others: see PeerVariables. Variables that cannot be carried over
/// are reported; they do not make the restart fail.
class KeptVariables {
 public:
  /// choice   the engines that are restarted.
  /// folders  for files of Python engines; see KeepFolders.
  KeptVariables(Keep keep, RestartChoice choice, const std::vector<std::filesystem::path>& folders)
      : keep_(std::move(keep)), choice_(std::move(choice)), folders_(folders) {}

  /// Interrupts the busy engines, and saves the variables of all. An engine that does not begin
  /// within 10 s is skipped.
  /// errors  those of ClientCore::ask_hub(); overloaded: this host has too little memory for the
  ///         variables of engines on other hosts. Thrown.
  void save(const client::Client& client);
  /// Restores them on the engines that have replaced the old ones, and returns the result for each,
  /// in the order of their ids.
  /// client  one that was connected after the restart.
  std::vector<KeptEngine> restore(const client::Client& client);
  /// Whether an engine whose variables were saved did not return, or could not restore them.
  bool has_lost_an_engine() const;

 private:
  struct Engine {
    KeptEngine report;
    std::string language = {};
    CppVariables variables = {};
    bool is_far = false;     // its host does not see the folders
    Value packed = {};       // its variables, if is_far
    bool has_given = false;  // variables of it were saved
  };
  using Engines = std::map<EngineId, Engine>;

  void choose(const client::Client& client);
  void lose_silent(const client::Client& client);
  void save_python(const client::Client& client);
  void fetch_far(const client::Client& client);
  void save_cpp(const client::Client& client, Engine& engine);
  std::vector<std::string> cpp_names(const client::DirectView& view, Engine& engine) const;
  void restore_python(const client::Client& client, const std::vector<EngineId>& ids);
  std::map<EngineId, Json> take_answers(const std::map<EngineId, client::AsyncResult>& answers);
  void restore_cpp(const client::Client& client, Engine& engine);
  void take_from_peers(const client::Client& client, const std::set<EngineId>& back);

  const Keep keep_;
  const RestartChoice choice_;
  const std::vector<std::filesystem::path> folders_;
  Engines engines_;
  std::set<EngineUuid> before_;  // the engines of the cluster before the restart
};

}  // namespace px::cluster
