#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "client/client.hpp"
#include "client/engine_status.hpp"
#include "cluster/keep/keep_report.hpp"

namespace px::cluster {

/// Carries variables of engines over a restart. Python engines write them to files and read them
/// again; those of C++ engines, and of Python engines on hosts that do not see the files, are
/// fetched by this process and sent to the new engines. What cannot be carried is named; it fails
/// nothing.
class KeptVariables {
 public:
  /// folders  for files of Python engines; see KeepFolders.
  KeptVariables(Keep keep, const std::vector<std::filesystem::path>& folders)
      : keep_(std::move(keep)), folders_(folders) {}

  /// Interrupts the engines that are busy, and takes over what all have. An engine that does not
  /// begin with that within 10 s is left behind.
  /// engine_set  only the engines of this set; empty: all.
  /// errors      those of ClientCore::ask_hub(); overloaded: this host has too little memory for
  ///             the variables of engines on other hosts. Thrown.
  void save(const client::Client& client, const std::string& engine_set);
  /// Gives it to the engines that have taken the places of the old ones, and says what became of
  /// each, in the order of their ids.
  /// client  one that was connected after the restart.
  std::vector<KeptEngine> restore(const client::Client& client);
  /// Whether an engine whose variables were saved did not come back, or could not take them.
  bool has_lost_an_engine() const;

 private:
  /// A variable of a C++ engine.
  struct CppVariable {
    std::string type;
    Value value;
  };
  struct Engine {
    KeptEngine report;
    std::string language = {};
    std::map<std::string, CppVariable> variables = {};
    bool is_far = false;     // its host does not see the folders
    Value packed = {};       // its variables, if it is far
    bool has_given = false;  // variables of it were saved
  };
  using Engines = std::map<EngineId, Engine>;

  Json folders_as_json() const;
  void choose(const client::Client& client, const std::string& engine_set);
  void lose_silent(const client::Client& client);
  void save_python(const client::Client& client);
  void fetch_far(const client::Client& client);
  void save_cpp(const client::Client& client, Engine& engine);
  std::vector<std::string> cpp_names(const client::DirectView& view, Engine& engine) const;
  void restore_python(const client::Client& client, const std::vector<EngineId>& ids);
  std::map<EngineId, Json> take_answers(const std::map<EngineId, client::AsyncResult>& answers);
  void restore_cpp(const client::Client& client, Engine& engine);

  const Keep keep_;
  const std::vector<std::filesystem::path> folders_;
  Engines engines_;
  std::set<EngineUuid> before_;  // the engines of the cluster
};

}  // namespace px::cluster
