#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "wire/ids.hpp"
#include "wire/json.hpp"

namespace px {

/// How an engine ended: the text that the controller and the clients give to callers whose requests
/// were lost with it. A value.
struct EngineEnd {
  std::string engine = {};  ///< Its id and host as text: "3 on host2"; may be empty.
  std::string why = {};     ///< A clause: "its process ended"; may be empty.
  /// Whether its process has certainly ended. Otherwise it may only be unreachable, and answer
  /// later.
  bool is_dead = false;
};

/// The EngineEnd of an engine about which no more is known than the arguments; is_dead is false.
/// host  empty: unknown.
/// why   a clause; empty: unknown.
EngineEnd make_engine_end(EngineId id, std::string_view host, std::string_view why);

/// The sentence for the caller of a request: "Engine 3 on host2 died while running task 'abc_1':
/// its process ended". The controller and the client use this one wording, so that scripts can rely
/// on it.
std::string death_sentence(const EngineEnd& end, std::string_view msg_id);

/// Precedes the lines of an engine's log at the end of EngineEnd::why, if it has some.
inline constexpr std::string_view log_clause = "; the last lines of its log";
/// EngineEnd::why with another clause, before the lines of the log.
std::string with_clause(std::string why, std::string_view clause);

/// The observations of an engine's parent about the end of the engine's process. The parent is
/// pxcluster, or under an MPI launcher the pxengine that waits for its rank. It sends the report to
/// the controller as the content of an `engine_ended` message. The controller (DeathJudge) decides
/// from it what the user is told.
struct DeathReport {
  EngineUuid uuid = {};  ///< The engine's uuid; empty if only its host and pid are known.
  /// The host's name and the process id on it: they identify the engine if it has no uuid here.
  std::string host = {};
  int pid = 0;
  /// 0 to 255; also 0 if a signal ended the process.
  int exit_code = 0;
  int signal = 0;  ///< The signal that ended it, or 0.
  /// Whether the kernel killed it because memory ran out; nothing if that is unknown.
  std::optional<bool> is_out_of_memory = {};
  /// Whether it is an MPI rank whose end its parent, which lives on, hides from the MPI launcher.
  /// If so, the launcher does not end the other ranks, and this end is not a consequence of another
  /// rank's end.
  bool is_hidden = false;
  /// Set if the report announces that the batch system ends all ranks of the engine's MPI world:
  /// the reason, e.g. "Slurm job 17 was cancelled". The engine may still be running, and the other
  /// members are not set. Usually empty.
  std::string cause = {};
  std::string log = {};         ///< The path of its log file; may be empty.
  std::string last_lines = {};  ///< The last lines of its log, or of its crash; may be empty.
};

/// The message of an engine that has received SIGTERM and is about to end; its content is empty.
inline constexpr const char* engine_terminating_type = "engine_terminating";

/// The content of the `engine_ended` message. `last_lines` is cut to its last 4000 bytes.
Json write_death_report(const DeathReport& report);
/// Reads such a content, which comes from a peer: texts that are too long are cut and numbers
/// limited to their range. Nothing if it identifies no engine, neither by uuid nor by host and pid.
std::optional<DeathReport> read_death_report(const Json& content);

/// The environment variable that tells an engine that its parent waits for its end and will report
/// it. "<pid>" is the parent's process id; "<pid>:<descriptor>" also names a pipe, through which
/// the engine sends the parent its uuid and the other contents of the report. It is used only if
/// the pid is that of the current parent, because grandchildren inherit the variable, too.
inline constexpr const char* watcher_variable = "PX_WATCHER";

}  // namespace px
