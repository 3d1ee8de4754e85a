#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "wire/engine_facts.hpp"
#include "wire/ids.hpp"

namespace px::controller {

/// Stores the facts that each engine has reported, and detects engines that do not match: other
/// versions of Python, of MPI or of polyxeus. Each kind of mixture is reported once, however many
/// engines there are; no engine is refused for it. QueryServer owns it, logs the news and sends
/// clients the warnings. Uses no socket and no clock.
class VersionCheck {
 public:
  /// own_version  the version of this controller
  explicit VersionCheck(std::string own_version) : own_version_(std::move(own_version)) {}

  /// An engine reports these facts, or further ones. Empty ones were not reported.
  void learn(EngineId id, const EngineUuid& uuid, const EngineFacts& facts);
  /// The engine has left. A mixture that only this engine caused is no longer a warning.
  void forget(const EngineUuid& uuid);
  /// All facts that the engine has reported; empty for an unknown one.
  EngineFacts facts_of(const EngineUuid& uuid) const;

  /// The mixtures that were not reported yet: a sentence for each.
  std::vector<std::string> take_news();
  /// All reported mixtures that still exist.
  std::vector<std::string> warnings() const;

 private:
  struct Known {
    EngineId id;
    EngineFacts facts;
  };
  std::string own_version_;
  std::map<EngineId, EngineUuid> engines_;
  std::unordered_map<EngineUuid, Known, StringIdHash, StringIdEqual> known_;
  std::set<std::string> told_;
};

}  // namespace px::controller
