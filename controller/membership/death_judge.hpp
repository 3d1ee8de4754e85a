#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "wire/engine_end.hpp"
#include "wire/engine_facts.hpp"
#include "wire/ids.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// An engine that is given up, and the reason: a clause such as "its process exited with code 3".
struct Death {
  EngineUuid uuid;
  std::string why;
  std::string how = {};  ///< The reason in a word, e.g. "SIGKILL"; empty: its end was expected.
  bool ended_with_world = false;  ///< The launcher ended all ranks of its MPI world.
  bool is_unexplained = false;    ///< It received SIGTERM, or no report of its end arrived.
  bool operator==(const Death&) const = default;
};

/// Decides when an engine whose end was noticed is given up, and which reason is given. The
/// controller first notices an end when the operating system closes the engine's connection, which
/// does not tell the reason; the process that waited for the engine's process (its watcher) knows
/// it, and reports it a moment later. In an MPI world the first engine that ends by itself is the
/// cause: the launcher ends the others after that. So this class waits a little between the end and
/// the verdict. Membership reports what was noticed and performs the result of take_due(). Uses no
/// socket and no clock.
class DeathJudge {
 public:
  /// report_patience  A watched engine is not given up before its watcher has reported how it
  ///                  ended, or this time has passed.
  explicit DeathJudge(Duration report_patience) : report_patience_(report_patience) {}

  /// An engine joins: an earlier MPI world of that name is forgotten.
  void joined(const EngineFacts& facts);
  /// The engine's lifeline was closed; if it opens a new one within `grace`, it is alive.
  void connection_lost(const EngineUuid& uuid, const EngineFacts& facts, Duration grace,
                       Instant now);
  /// The engine has opened a lifeline again: it has not ended, unless a report says otherwise.
  void connection_back(const EngineUuid& uuid);
  /// The program that started the engine is about to end it: whatever its end looks like, no report
  /// is awaited.
  /// why  a clause that says which program ends it and for what reason.
  void expect_end(const EngineUuid& uuid, std::string why, Instant now);
  /// The engine reports that it has received SIGTERM and is about to end: if its launcher kills it
  /// before it can say more, this is the reason of its end.
  void terminates(const EngineUuid& uuid, const EngineFacts& facts, Instant now);
  /// The engine reports that it ends because it received SIGTERM.
  void terminated(const EngineUuid& uuid, const EngineFacts& facts, Instant now);
  /// Its watcher reports how it ended.
  void reported(const EngineUuid& uuid, EngineId id, const EngineFacts& facts,
                const DeathReport& report, Instant now);
  /// Why all ranks of this engine's world are being ended, or soon will be.  why  "Slurm job 17 was
  /// cancelled", "host node2 does not answer"
  void world_ends(const EngineFacts& facts, std::string why, Instant now);
  /// The resident bytes of its process, as it has measured them: if it dies, its death names the
  /// latest.
  void measured(const EngineUuid& uuid, std::uint64_t memory_bytes);
  /// The engine was given up, or has left.
  void forget(const EngineUuid& uuid);
  /// Why it is about to be given up; nothing if no end of it was noticed.
  std::optional<std::string> reason_of(const EngineUuid& uuid) const;

  /// Forgets and returns the engines that must be given up now: causes first, followed by the
  /// others in the order in which they ended.
  std::vector<Death> take_due(Instant now);
  /// When take_due() will return one; nothing if no end was noticed.
  std::optional<Instant> next_deadline() const;

 private:
  struct Waiting {
    Instant since, until;
    std::string world;  // empty: no world
    bool may_return = false;
    bool is_cause = false;
    bool is_own = false;  // it would have ended without the launcher
    std::string why, how;
    std::string rank = {};  // "MPI rank 2 on host1"
  };
  struct Cause {
    std::string text;  // "MPI rank 2 (engine 2 on host1) died first: ..."
    Instant since;
  };
  Waiting& wait(const EngineUuid& uuid, const EngineFacts& facts, Instant until, Instant now);
  bool ends_as_expected(const EngineUuid& uuid, const EngineFacts& facts, Instant now);
  bool has_cause(const std::string& world) const { return causes_.contains(world); }
  std::string reason_of(const Waiting& waiting) const;
  std::string full_reason_of(const EngineUuid& uuid, const Waiting& waiting) const;
  bool has_cause_for(const Waiting& waiting) const;
  void blame(const std::string& world, std::string text, Instant now);
  void blame_unreported(const std::string& world, Instant now);

  const Duration report_patience_;
  std::map<EngineUuid, Waiting> waiting_;
  std::map<EngineUuid, std::string> expected_;  // why they are being ended
  std::set<EngineUuid> terminating_;
  std::map<EngineUuid, std::uint64_t> memories_;
  std::map<std::string, Cause> causes_;  // by world
};

/// "its process was killed by SIGSEGV: a crash in compiled code; the last lines of its log, ...".
/// rank  in an MPI world.
std::string death_text(const DeathReport& report, std::optional<Rank> rank);

}  // namespace px::controller
