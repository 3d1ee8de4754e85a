#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "wire/engine_end.hpp"
#include "wire/engine_facts.hpp"
#include "wire/ids.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// An engine that is given up, and why: a clause such as "its process exited with code 3".
struct Death {
  EngineUuid uuid;
  std::string why;
  std::string how = {};  ///< The same in a word, e.g. "SIGKILL"; empty: its end was expected.
  bool ended_with_world = false;  ///< The launcher ended all ranks of its MPI world.
  bool is_unexplained = false;    ///< It got SIGTERM, or no report came of how it ended.
  bool operator==(const Death&) const = default;
};

/// Decides when an engine whose end was noticed is given up, and what is said of the reason. The
/// controller notices an end first as the operating system closes the engine's connection, which
/// does not say how it came; the process that waited for the engine's process (its watcher) knows
/// that, and tells it a moment later. In an MPI world the first engine that ends by itself is the
/// cause: the launcher then ends the others. So this class waits a little between the end and the
/// verdict. Membership tells it what was noticed and performs what take_due() returns. Sees no
/// socket and no clock.
class DeathJudge {
 public:
  /// report_patience  An engine that is watched over is not given up before its watcher has told
  ///                  how it ended, or so much time has passed.
  explicit DeathJudge(Duration report_patience) : report_patience_(report_patience) {}

  /// An engine joins: what was known of an earlier MPI world of that name is forgotten.
  void joined(const EngineFacts& facts);
  /// The engine's lifeline was closed; a new one may be opened within `grace`, and then it lives.
  void connection_lost(const EngineUuid& uuid, const EngineFacts& facts, Duration grace,
                       Instant now);
  /// The engine has opened a lifeline again: its end was none, unless a report says otherwise.
  void connection_back(const EngineUuid& uuid);
  /// The program that started the engine is about to end it: whatever its end looks like, there is
  /// nothing to wait for.
  /// why  a clause that says who ends it and what for.
  void expect_end(const EngineUuid& uuid, std::string why, Instant now);
  /// The engine says that it ends because it was sent SIGTERM.
  void terminated(const EngineUuid& uuid, const EngineFacts& facts, Instant now);
  /// Its watcher tells how it ended.
  void reported(const EngineUuid& uuid, EngineId id, const EngineFacts& facts,
                const DeathReport& report, Instant now);
  /// Why all ranks of this engine's world are ended, or soon will be.  why  "Slurm job 17 was
  /// cancelled", "host node2 does not answer"
  void world_ends(const EngineFacts& facts, std::string why, Instant now);
  /// The engine is given up, or has left.
  void forget(const EngineUuid& uuid);
  /// Why it is about to be given up; nothing where no end of it was noticed.
  std::optional<std::string> reason_of(const EngineUuid& uuid) const;

  /// Forgets and returns the engines that are to be given up now: causes first, then in the order
  /// in which they ended.
  std::vector<Death> take_due(Instant now);
  /// When take_due() will have one; nothing while no end was noticed.
  std::optional<Instant> next_deadline() const;

 private:
  struct Waiting {
    Instant since, until;
    std::string world;  // empty: in none
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
  bool has_cause_for(const Waiting& waiting) const;
  void blame(const std::string& world, std::string text, Instant now);
  void blame_unreported(const std::string& world, Instant now);

  const Duration report_patience_;
  std::map<EngineUuid, Waiting> waiting_;
  std::map<EngineUuid, std::string> expected_;  // why they are ended
  std::map<std::string, Cause> causes_;         // by world
};

/// "its process was killed by SIGSEGV: a crash in compiled code; the last lines of its log, ...".
/// rank  in an MPI world.
std::string death_text(const DeathReport& report, std::optional<Rank> rank);

}  // namespace px::controller
