#pragma once

#include <map>
#include <string>
#include <string_view>

#include "wire/ids.hpp"

namespace px::controller {

/// Knows which MPI worlds lack a rank that has died while others live on: in such a world
/// collective calls cannot succeed any more. It only remembers the deaths and forms the sentence;
/// Membership reports them, and informs the survivors and the clients. Uses no socket and no clock.
class BrokenWorlds {
 public:
  /// A rank of this world has died. A second call for the same rank replaces the first.
  /// how  in a word: "SIGKILL", "exit code 3".
  void rank_died(const std::string& world, Rank rank, std::string how);
  /// No rank of the world is left: it is forgotten, because another world may get its name.
  void ended(std::string_view world);
  /// "MPI world broken: rank 2 died (SIGKILL)"; names four ranks and counts the others. Empty: no
  /// rank of the world has died, or the world is unknown.
  std::string sentence_of(std::string_view world) const;

 private:
  using Deaths = std::map<int, std::string>;           // how, by rank
  std::map<std::string, Deaths, std::less<>> worlds_;  // by name
};

}  // namespace px::controller
