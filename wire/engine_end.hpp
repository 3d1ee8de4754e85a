#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "wire/ids.hpp"
#include "wire/json.hpp"

namespace px {

/// How an engine came to its end, for those whose requests ended with it.
struct EngineEnd {
  std::string engine = {};  ///< What people call it: "3 on host2"; may be empty.
  std::string why = {};     ///< "its process ended"; may be empty.
  /// Its process has ended for certain; else it may live and answer later.
  bool is_dead = false;
};

/// host  empty: unknown.
EngineEnd make_engine_end(EngineId id, std::string_view host, std::string_view why);

/// "Engine 3 on host2 died while running task 'abc_1': its process ended": the one wording of
/// controller and client.
std::string death_sentence(const EngineEnd& end, std::string_view msg_id);

/// What a process that waits for the end of an engine's process saw of it; it tells the controller
/// in an `engine_ended` message.
struct DeathReport {
  EngineUuid uuid = {};  ///< Of the engine; empty where only its host and pid are known.
  std::string host = {};
  int pid = 0;
  int exit_code = 0;
  int signal = 0;  ///< The signal that ended it, or 0.
  /// Whether the kernel killed it for want of memory; nothing: not known.
  std::optional<bool> is_out_of_memory = {};
  /// An MPI rank whose launcher does not learn of its end, and so lets the others live.
  bool is_hidden = false;
  /// Why the batch system ends all ranks of the engine's world, "Slurm job 17 was cancelled"; then
  /// the engine itself may still run, and the rest of the report says nothing.
  std::string cause = {};
  std::string log = {};         ///< The path of its log; may be empty.
  std::string last_lines = {};  ///< Of its log; may be empty.
};

Json write_death_report(const DeathReport& report);
/// Nothing where it names no engine. Longer texts than a report has are cut.
std::optional<DeathReport> read_death_report(const Json& content);

/// The variable by which an engine learns who waits for the end of its process: "<pid>", its
/// parent, or "<pid>:<descriptor>", the same with a pipe to tell it of the engine.
inline constexpr const char* watcher_variable = "PX_WATCHER";

}  // namespace px
