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
/// later, and the uuid, which is its ZeroMQ identity and unique.
struct RegisteredEngine {
  EngineId id;
  EngineUuid uuid;
  bool operator==(const RegisteredEngine&) const = default;
};

/// The engines of this cluster and their ids (protocol 4.4). An engine is pending from its
/// registration request until its first heartbeat was answered, and registered from then until it
/// is removed. An id that was granted is not used for another engine, unless that engine requests
/// it and it is free. Membership owns it and decides when; the table only stores. Uses no socket,
/// clock or file.
class EngineTable {
 public:
  /// patience  A pending engine that is not heard for this time is forgotten.
  explicit EngineTable(Duration patience) : patience_(patience) {}

  /// Gives the engine an id: the requested one if no engine has it, otherwise a new one.
  /// errors  bad_input: the uuid is registered or pending.
  /// language  the language that it runs; "" for engines of ipyparallel, which do not report it.
  /// former    engines that may return for their ids: an engine without a request gets none of
  /// those.
  Result<EngineId> request(const EngineUuid& uuid, std::optional<EngineId> wanted, Instant now,
                           const std::string& language = "",
                           const std::map<EngineId, EngineUuid>& former = {});
  /// A pending engine has answered a heartbeat and is registered now. Nothing if it is not pending.
  std::optional<RegisteredEngine> complete(const EngineUuid& uuid);
  /// Registers again an engine that was removed while it was alive. Nothing if its id or its uuid
  /// is in use.
  std::optional<RegisteredEngine> readmit(const RegisteredEngine& engine,
                                          const std::string& language);
  /// Forgets an engine, registered or pending, and returns it if it was registered.
  std::optional<RegisteredEngine> remove(EngineId id);
  std::optional<RegisteredEngine> remove(const EngineUuid& uuid);
  /// Forgets and returns the pending engines that were not heard in time. Those whose processes are
  /// running according to `is_alive` get the same time again.
  using IsAlive = std::function<bool(const EngineUuid&)>;
  std::vector<RegisteredEngine> expire(Instant now, const IsAlive& is_alive = {});
  /// When expire() will return one; nothing if none is pending.
  std::optional<Instant> next_deadline() const;

  const std::map<EngineId, EngineUuid>& engines() const { return engines_; }
  bool is_registered(std::string_view uuid) const { return id_by_uuid_.contains(uuid); }
  bool is_pending(std::string_view uuid) const;
  std::optional<EngineId> find(std::string_view uuid) const;
  std::optional<EngineUuid> find(EngineId id) const;
  /// Of a registered or pending engine.
  std::optional<EngineId> id_of(const EngineUuid& uuid) const;
  /// Of a registered or pending engine; "" if it has not reported one.
  std::string language_of(const EngineUuid& uuid) const;

  /// The text of engines<id>.json (protocol 2.3).
  /// former  engines of an earlier controller that may return: those that are not in this table,
  ///         and whose id no engine has, are included in the text.
  std::string write(const EngineTable& former) const;
  /// Registers the engines of such a text. Precondition: the table is empty.
  /// errors  bad_input: not such a text; no engine is registered in this case.
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
