#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/core.hpp"
#include "wire/ids.hpp"
#include "wire/json.hpp"
#include "wire/time.hpp"

namespace px::client {

/// The shared memory that a process has mapped for large arrays, and the memory that is free for
/// further arrays on its host.
struct SharedMemoryUse {
  /// The size of each segment in bytes. The key identifies the segment on its host:
  /// "<device>:<inode>".
  using Segments = std::map<std::string, std::uint64_t>;
  Segments segments, on_disk = {};  ///< Segments in memory, and segments in files because memory
                                    ///< was full.
  std::optional<double> free = {}, size = {};  ///< Bytes of /dev/shm.
};
/// Reads the use of shared memory from the content of a usage_reply. Returns no value if the reply
/// does not contain it.
std::optional<SharedMemoryUse> read_shared_memory(const Json& usage);

/// The properties and the state of an engine: a row in the table of `pxcluster status`. Unknown
/// members are empty.
struct EngineStatus {
  EngineId id;
  std::string host = {};
  std::optional<int> rank = {};      ///< Its rank in its MPI world.
  std::optional<int> pid = {};       ///< Its process id on its host.
  std::string language = {};         ///< "python", "cpp"; "" for an engine of ipyparallel.
  std::string state = {};            ///< "idle", "busy", "no answer", or "lost": it has left.
  std::optional<double> silent_for;  ///< Seconds since the controller last heard from it, or since
                                     ///< it was lost.
  std::string runs = {};             ///< The first line of the cell that runs, or the name of the
                                     ///< function.
  std::optional<double> runs_for;    ///< How long that code has been running, in seconds.
  std::string msg_id = {};           ///< The id of the request that runs.
  int queue = 0;                     ///< The number of waiting requests; if the engine did not
                                     ///< answer, running requests are counted, too.
  std::optional<double> memory;      ///< Resident bytes.
  std::optional<double> cpu;         ///< Seconds of processor time since the start.
  /// The number of cores that the engine used recently; only the controller's measurements contain
  /// this value.
  std::optional<double> cpu_share = {};
  std::optional<SharedMemoryUse> shared_memory = {};
  std::string mpi = {};             ///< "Open MPI v4.1.4"; "" if it has loaded no MPI.
  std::string mpi_interrupts = {};  ///< EngineFacts::mpi_interrupts.
  std::string gpus = {};            ///< EngineFacts::gpus.
  std::string world_broken = {};    ///< A sentence about the rank of its MPI world that died; "" if
                                    ///< none has died.
  std::string why_lost = {};      ///< A clause: "its process was killed by SIGKILL".
};

/// Displays that are refreshed continuously ask at most this many engines for their state. If there
/// are more engines, these displays use the controller's measurements, which are up to four seconds
/// old.
inline constexpr std::size_t most_engines_to_ask = 64;

/// How long ask_status() waits for the controller.
inline constexpr Duration controller_patience = std::chrono::seconds(10);

/// Asks all engines at the same time what they do. The engines answer even while user code runs.
/// Waits until all have answered, but at most for `patience`. Engines that do not answer the
/// controller's heartbeats are not asked. A lost engine stays in the result, with the state "lost",
/// until another engine has its id.
/// for_controller  how long to wait for all answers of the controller together.
/// measures        the result of ask_measures(): engines that it contains are not asked.
/// result  in ascending order of the ids.
/// errors  those of ClientCore::ask_hub().
std::vector<EngineStatus> ask_status(ClientCore& core, Duration patience,
                                     Duration for_controller = controller_patience,
                                     const Json& measures = nullptr);

/// Returns the controller's measurements of the whole cluster, which the controller renews once a
/// second: the `measures` of a measures_reply (docs/protocol.md). Returns null if the controller
/// belongs to ipyparallel or to an earlier version of polyxeus.
/// patience  how long to wait for the answer.
/// errors    those of ClientCore::ask_hub().
Json ask_measures(ClientCore& core, Duration patience = controller_patience);

/// Returns the states of the engines as a list of JSON objects, for scripts: [{"engine": 0, "host":
/// ..., "state": ...}, ...]. Unknown members are null.
/// measures  the result of ask_measures(): each object gets the measurements of its engine as the
///           member `measures`.
Json status_as_json(const std::vector<EngineStatus>& engines, const Json& measures = nullptr);

/// Returns a table for users, with a header and a line for each engine. Notes follow after an empty
/// line: the MPI that engines have loaded, MPI worlds that have lost a rank, the reasons why
/// engines were lost, and hosts that hold arrays in shared memory.
std::string status_as_text(const std::vector<EngineStatus>& engines);

}  // namespace px::client
