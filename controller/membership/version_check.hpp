#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "wire/engine_facts.hpp"
#include "wire/ids.hpp"

namespace px::controller {

/// Keeps what each engine has said of itself, and notices engines that do not fit together: other
/// versions of Python, of MPI or of polyxeus. Each kind of mixture is said once, however many
/// engines there are; no engine is refused for it. QueryServer owns it, logs the news and tells
/// clients the warnings. Sees no socket and no clock.
class VersionCheck {
 public:
  /// own_version  the version of this controller
  explicit VersionCheck(std::string own_version) : own_version_(std::move(own_version)) {}

  /// An engine says this of itself, or more of it. What is empty was not said.
  void learn(EngineId id, const EngineUuid& uuid, const EngineFacts& facts);
  /// The engine has left. A mixture that it made is no warning any more, if no other engine makes
  /// it.
  void forget(const EngineUuid& uuid);
  /// All that the engine has said; empty for an unknown one.
  EngineFacts facts_of(const EngineUuid& uuid) const;

  /// What has not been told yet: a sentence for each mixture.
  std::vector<std::string> take_news();
  /// All that was told and is still so.
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
