#pragma once

#include <map>
#include <string>
#include <string_view>

#include "wire/ids.hpp"

namespace px::controller {

/// Which MPI worlds lack a rank that has died while others live on. Sees no socket and no clock.
class BrokenWorlds {
 public:
  /// how  in a word: "SIGKILL", "exit code 3".
  void rank_died(const std::string& world, Rank rank, std::string how);
  /// Nobody is left of it.
  void ended(std::string_view world);
  /// "MPI world broken: rank 2 died (SIGKILL)"; empty: it is whole.
  std::string sentence_of(std::string_view world) const;

 private:
  using Deaths = std::map<int, std::string>;           // how, by rank
  std::map<std::string, Deaths, std::less<>> worlds_;  // by name
};

}  // namespace px::controller
