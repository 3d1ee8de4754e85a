#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <px/wire/ids.hpp>

namespace px {

/// The engines that a client knows: which ids and which uuids belong together. Remembers those
/// that have left, so that results of the past still name their engine.
class EngineDirectory {
 public:
  /// True where it was not there. An id that another engine had is given to this one.
  /// language  what the controller says that it speaks; "" for an engine of ipyparallel. Nothing
  ///           where the controller does not say.
  bool add(EngineId id, const EngineUuid& uuid, std::optional<std::string> language = {});
  /// True where it was there.
  bool remove(const EngineUuid& uuid);

  /// Ascending.
  std::vector<EngineId> ids() const;
  std::size_t size() const { return present_.size(); }
  bool has(const EngineUuid& uuid) const;
  /// Of an engine that is present.
  std::optional<EngineUuid> uuid_of(EngineId id) const;
  /// Of an engine that is present, see add().
  std::optional<std::string> language_of(EngineId id) const;
  /// What these engines speak beside Python, each once; "" stands for engines of ipyparallel.
  std::vector<std::string> other_languages(const std::vector<EngineId>& ids) const;
  /// Those that are present and run ipyparallel's own program; ascending.
  std::vector<EngineId> engines_of_ipyparallel() const;
  /// Of an engine that is or was present.
  std::optional<EngineId> id_of(std::string_view uuid) const;

 private:
  std::map<EngineId, EngineUuid> present_;
  std::map<EngineId, std::string> languages_;
  bool are_all_python_ = true;  ///< Of all that ever were there.
  std::unordered_map<EngineUuid, EngineId, StringIdHash, StringIdEqual> known_;
};

}  // namespace px
