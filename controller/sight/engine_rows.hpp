#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "controller/sight/snapshot.hpp"
#include "wire/engine_facts.hpp"

namespace px::controller {

/// The work that the controller has given an engine, and the results.
struct EngineLoad {
  std::size_t tasks = 0;   ///< Balanced tasks that it has now.
  std::size_t direct = 0;  ///< Unanswered direct requests.
  std::uint64_t finished = 0;
};
using LoadOf = std::function<EngineLoad(const EngineUuid&)>;

/// The part of Sight that knows the engines: their facts, whether they are heard, and their
/// measures. Events of engines that are not registered are ignored. The hub's thread owns it; only
/// look() costs more with more engines.
class EngineRows {
 public:
  void joined(const EngineUuid& uuid, EngineId id, const EngineFacts& facts, std::string language,
              Instant now);
  /// The engine reports these facts, or further ones.
  void described(const EngineUuid& uuid, const EngineFacts& facts);
  /// Whether it answers heartbeats.
  void heard(const EngineUuid& uuid, bool is_silent);
  /// Whether it gets no further balanced tasks.
  void drained(const EngineUuid& uuid, bool is_drained);
  void left(const EngineUuid& uuid);
  void measured(const EngineUuid& uuid, EngineMeasures measures, Instant now);
  /// A request ended on it with this error: "ValueError: ...".
  void failed(const EngineUuid& uuid, std::string error);

  std::size_t size() const { return engines_.size(); }
  std::optional<EngineId> id_of(const EngineUuid& uuid) const;
  /// The engines at present, ascending by id, at most Snapshot::max_engines. The time of a state is
  /// counted from the look that first found it.
  std::vector<EngineView> look(Instant now, const LoadOf& load_of);

 private:
  struct EngineRow {
    EngineView view;  ///< Except for the members that depend on the time.
    Instant joined{}, state_since{};
    std::optional<Instant> measured = {};
    bool is_silent = false;
  };
  EngineRow* find(const EngineUuid& uuid);
  static void look(EngineRow& engine, const EngineLoad& load, Instant now);

  std::unordered_map<EngineUuid, EngineRow, StringIdHash, StringIdEqual> engines_;
  std::map<EngineId, EngineUuid> by_id_;
};

/// The hosts of these engines, ascending by name. The measures of a host are those of the engine
/// that reported last.
std::vector<HostView> hosts_of(const std::vector<EngineView>& engines);

}  // namespace px::controller
