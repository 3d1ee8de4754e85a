#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "client/client.hpp"
#include "cluster/keep/keep_report.hpp"

namespace px::cluster {

/// Gives engines that have lost their variables those of other engines, as in data-parallel work,
/// in which all have the same: each variable is from the engine with the lowest id of the same
/// language that has it. Variables that share objects still share them if one engine supplies them.
/// An engine that does not answer within 2 s supplies none; none is interrupted.
class PeerVariables {
 public:
  /// folders  for files of Python engines; see KeepFolders.
  PeerVariables(std::vector<std::string> names, std::vector<std::filesystem::path> folders)
      : names_(std::move(names)), folders_(std::move(folders)) {}

  /// needy  registered engines; the variables that they get, and those that no engine has, are
  /// entered here.
  void give(const client::Client& client, const std::vector<KeptEngine*>& needy);

 private:
  /// An engine's answer to offer().
  struct Offer {
    std::vector<std::string> defined;
    bool sees_folders = false;
  };
  using Offers = std::map<EngineId, Offer>;

  void give_python(const client::Client& client, const std::vector<EngineId>& donors,
                   const std::vector<KeptEngine*>& needy);
  void give_cpp(const client::Client& client, const std::vector<EngineId>& donors,
                const std::vector<KeptEngine*>& needy);
  Offers ask_offers(const client::Client& client, const std::vector<EngineId>& engines) const;
  void pass_on(const client::Client& client, EngineId donor, const std::vector<std::string>& names,
               const std::vector<KeptEngine*>& needy, bool by_files) const;

  const std::vector<std::string> names_;
  const std::vector<std::filesystem::path> folders_;
};

}  // namespace px::cluster
