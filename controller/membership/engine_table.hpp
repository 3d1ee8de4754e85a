#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "wire/error.hpp"
#include "wire/ids.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// An engine by its two names: the id, a small number that people use and another engine may have
/// later, and the uuid, which is its ZeroMQ identity and no other engine's.
struct RegisteredEngine {
  EngineId id;
  EngineUuid uuid;
  bool operator==(const RegisteredEngine&) const = default;
};

/// Which engines this cluster has, and under which ids (protocol 4.4). An engine is pending from
/// its registration request until its first heartbeat was answered, and registered from then until
/// it is removed. An id that was granted is not used for another engine, unless that asks for it
/// and it is free. Membership owns it and decides when; it only keeps the table. Sees no socket,
/// clock or file.
class EngineTable {
 public:
  /// patience  A pending engine that is not heard for so long is forgotten.
  explicit EngineTable(Duration patience) : patience_(patience) {}

  /// Gives the engine an id: the requested one if no engine has it, else a new one.
  /// errors  bad_input: the uuid is registered or pending.
  /// language  what it says that it speaks; "" for engines of ipyparallel, which say nothing.
  /// former    engines that may come back for their ids: who wants none gets none of those.
  Result<EngineId> request(const EngineUuid& uuid, std::optional<EngineId> wanted, Instant now,
                           const std::string& language = "",
                           const std::map<EngineId, EngineUuid>& former = {});
  /// A pending engine has answered a heartbeat: now it is registered. Nothing where it is not
  /// pending.
  std::optional<RegisteredEngine> complete(const EngineUuid& uuid);
  /// Registers an engine again that was removed while it lived. Nothing where its id or its uuid
  /// is taken.
  std::optional<RegisteredEngine> readmit(const RegisteredEngine& engine,
                                          const std::string& language);
  /// Forgets an engine, registered or pending, and says what it was if it was registered.
  std::optional<RegisteredEngine> remove(EngineId id);
  std::optional<RegisteredEngine> remove(const EngineUuid& uuid);
  /// Forgets and returns the pending ones that were not heard in time. Those of which `is_alive`
  /// knows that their processes run have as much time again.
  using IsAlive = std::function<bool(const EngineUuid&)>;
  std::vector<RegisteredEngine> expire(Instant now, const IsAlive& is_alive = {});
  /// When expire() will have one; nothing while none is pending.
  std::optional<Instant> next_deadline() const;

  const std::map<EngineId, EngineUuid>& engines() const { return engines_; }
  bool is_registered(std::string_view uuid) const { return id_by_uuid_.contains(uuid); }
  bool is_pending(std::string_view uuid) const;
  std::optional<EngineId> find(std::string_view uuid) const;
  std::optional<EngineUuid> find(EngineId id) const;
  /// Of a registered or pending engine.
  std::optional<EngineId> id_of(const EngineUuid& uuid) const;
  /// Of a registered or pending engine; "" where it has said nothing.
  std::string language_of(const EngineUuid& uuid) const;

  /// The text of engines<id>.json (protocol 2.3).
  /// former  engines of an earlier controller that may come back: those that are not here, and
  ///         whose id no engine has, are in the text, too.
  std::string write(const EngineTable& former) const;
  std::string write() const { return write(EngineTable{Duration{}}); }
  /// Registers the engines of such a text. Precondition: the table is empty.
  /// errors  bad_input: not such a text; then nothing is registered.
  Result<std::vector<RegisteredEngine>> restore(std::string_view text);

 private:
  struct Pending {
    EngineId id;
    EngineUuid uuid;
    Instant since;
  };
  bool is_taken(EngineId id) const;
  Duration patience_;
  int next_id_ = 0;
  std::map<EngineId, EngineUuid> engines_;
  std::unordered_map<EngineUuid, EngineId, StringIdHash, StringIdEqual> id_by_uuid_;
  std::unordered_map<EngineUuid, std::string, StringIdHash, StringIdEqual> languages_;
  std::vector<Pending> pending_;  // the longest waiting first
};

}  // namespace px::controller
