#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "wire/ids.hpp"

namespace px::client {

/// The engines that a client knows: which ids and which uuids belong together. Remembers those
/// that have left, so that results of the past still name their engine. What a request asks of it
/// does not take longer with more engines.
class EngineDirectory {
 public:
  /// True where it was not there. An id that another engine had is given to this one.
  /// language  what the controller says that it speaks; "" for an engine of ipyparallel. Nothing
  ///           where the controller does not say.
  /// memory    which memory it shares with others of its host; empty: none, or nobody knows.
  /// passing   EngineFacts::passing.
  bool add(EngineId id, const EngineUuid& uuid, std::optional<std::string> language = {},
           std::string memory = {}, std::string_view passing = {});
  /// True where it was there.
  bool remove(const EngineUuid& uuid);

  /// Ascending.
  const std::vector<EngineId>& ids() const { return ids_; }
  std::size_t size() const { return present_.size(); }
  bool has(const EngineUuid& uuid) const;
  /// Of an engine that is present.
  std::optional<EngineUuid> uuid_of(EngineId id) const;
  /// Of an engine that is present, see add().
  std::optional<std::string> language_of(EngineId id) const;
  /// Of an engine that is present, see add(); empty for others.
  std::string memory_of(EngineId id) const;
  /// Where an engine that is present can send arrays to others over MPI.
  struct Passing {
    std::string group;  ///< The engines that can do so among each other have the same one.
    Rank rank;          ///< Its own there.
  };
  /// Of an engine that is present; nothing where it cannot.
  std::optional<Passing> passing_of(EngineId id) const;
  /// What these engines, or all, speak beside Python, each once; "" stands for engines of
  /// ipyparallel.
  std::vector<std::string> other_languages(const std::vector<EngineId>& ids) const;
  std::vector<std::string> other_languages() const;
  /// Those that are present and run ipyparallel's own program; ascending.
  const std::vector<EngineId>& engines_of_ipyparallel() const { return of_ipyparallel_; }
  /// Of an engine that is or was present.
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
  std::map<std::string, std::size_t> other_languages_;  // how many of present_ speak each
  std::unordered_map<EngineUuid, EngineId, StringIdHash, StringIdEqual> known_;
};

}  // namespace px::client
