#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "wire/ids.hpp"

namespace px::client {

/// The engines that a client knows: ids, uuids and properties of those that are present. The
/// directory also contains the uuids of engines that have left, so that old results still name
/// their engine. The time of a look-up does not grow with the number of engines. A Connection has
/// one EngineDirectory, and gives copies to other threads. The class has no locks.
class EngineDirectory {
 public:
  /// Adds an engine that is present, or replaces the properties of a known engine. If another
  /// engine had the id, the id now belongs to this engine.
  /// language  the language that the engine runs, as the controller reports it; "" for an engine of
  ///           ipyparallel; no value if the controller does not report it.
  /// memory    the shared memory that the engine uses, as in EngineFacts::memory; empty if the
  ///           engine uses none, or if this is unknown.
  /// passing   the value of EngineFacts::passing of this engine.
  /// result    true if the engine was not present.
  bool add(EngineId id, const EngineUuid& uuid, std::optional<std::string> language = {},
           std::string memory = {}, std::string_view passing = {});
  /// Removes an engine that has left. Returns whether the engine was present.
  bool remove(const EngineUuid& uuid);

  /// The ids of the engines that are present, in ascending order.
  const std::vector<EngineId>& ids() const { return ids_; }
  std::size_t size() const { return present_.size(); }
  /// Whether this engine is present.
  bool has(const EngineUuid& uuid) const;
  /// The uuid of an engine that is present.
  std::optional<EngineUuid> uuid_of(EngineId id) const;
  /// The language of an engine that is present, see add().
  std::optional<std::string> language_of(EngineId id) const;
  /// The shared memory of an engine that is present, see add(); empty for others.
  std::string memory_of(EngineId id) const;
  /// The group of engines among which an engine can send arrays over MPI while user code runs.
  struct Passing {
    std::string group;  ///< The same for all engines that can exchange arrays in this way.
    Rank rank;          ///< The engine's rank in this group.
  };
  /// The group of an engine that is present; no value if the engine cannot send arrays over MPI.
  std::optional<Passing> passing_of(EngineId id) const;
  /// The languages other than Python that these engines run, or that all present engines run. Each
  /// language occurs once. "" stands for engines of ipyparallel.
  std::vector<std::string> other_languages(const std::vector<EngineId>& ids) const;
  std::vector<std::string> other_languages() const;
  /// The engines that are present and run ipyparallel's own program, in ascending order. These
  /// engines do not support native requests.
  const std::vector<EngineId>& engines_of_ipyparallel() const { return of_ipyparallel_; }
  /// The id of an engine that is or was present.
  std::optional<EngineId> id_of(std::string_view uuid) const;

 private:
  struct Present {
    EngineUuid uuid;
    std::optional<std::string> language;
    std::string memory = {};
    std::optional<Passing> passing = {};
  };
  void forget_language(EngineId id, const Present& engine);

  std::map<EngineId, Present> present_;
  std::vector<EngineId> ids_;                           // of present_
  std::vector<EngineId> of_ipyparallel_;                // of present_, those with the language ""
  std::map<std::string, std::size_t> other_languages_;  // how many engines of present_ run each
                                                        // language
  std::unordered_map<EngineUuid, EngineId, StringIdHash, StringIdEqual> known_;
};

}  // namespace px::client
