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

/// The shared memory that a process has mapped for large arrays, and how much room its host has for
/// more.
struct SharedMemoryUse {
  /// Sizes in bytes, by what identifies each segment on its host.
  using Segments = std::map<std::string, std::uint64_t>;
  Segments segments, on_disk = {};  ///< In memory, and in files because memory was full.
  std::optional<double> free = {}, size = {};  ///< Bytes of /dev/shm.
};
/// Reads it from the content of a usage_reply; nothing if that does not mention it.
std::optional<SharedMemoryUse> read_shared_memory(const Json& usage);

/// What an engine is and does: a row in the table of `pxcluster status`. What is not known is left
/// out.
struct EngineStatus {
  EngineId id;
  std::string host = {};
  std::optional<int> rank = {};      ///< In its MPI world.
  std::optional<int> pid = {};       ///< On its host.
  std::string language = {};         ///< "python", "cpp"; "" for an engine of ipyparallel.
  std::string state = {};            ///< "idle", "busy", "no answer", or "lost": it has left.
  std::optional<double> silent_for;  ///< Seconds since it was heard last, or lost.
  std::string runs = {};             ///< What runs: the first line of a cell, or a function's name.
  std::optional<double> runs_for;    ///< How long it has been running, in seconds.
  std::string msg_id = {};           ///< The request that runs.
  int queue = 0;                     ///< Waiting requests; without an answer also those that run.
  std::optional<double> memory;      ///< Resident bytes.
  std::optional<double> cpu;         ///< Seconds of processor time since the start.
  /// Cores that it used of late; only the controller's measures say it.
  std::optional<double> cpu_share = {};
  std::optional<SharedMemoryUse> shared_memory = {};
  std::string mpi = {};             ///< "Open MPI v4.1.4"; "" if it has loaded none.
  std::string mpi_interrupts = {};  ///< EngineFacts::mpi_interrupts.
  std::string gpus = {};            ///< EngineFacts::gpus.
  std::string world_broken = {};  ///< Which rank of its MPI world died; "" while it is whole.
  std::string why_lost = {};      ///< A clause: "its process was killed by SIGKILL".
};

/// Displays that are renewed all the time ask so many engines for what they do; of more they take
/// what the controller measures, which is up to four seconds old.
inline constexpr std::size_t most_engines_to_ask = 64;

/// How long ask_status() waits for the controller.
inline constexpr Duration controller_patience = std::chrono::seconds(10);

/// Asks all engines at the same time what they do, by a message that they answer while user code
/// runs, and waits until all have answered, for `patience` at most. Engines that do not answer the
/// controller are not asked; engines that were lost are listed as such until others have their ids.
/// for_controller  how long to wait for the controller's answers, all together.
/// measures        of ask_measures(): engines that are in there are not asked.
/// result  ascending by id.
/// errors  as ClientCore::ask_hub().
std::vector<EngineStatus> ask_status(ClientCore& core, Duration patience,
                                     Duration for_controller = controller_patience,
                                     const Json& measures = nullptr);

/// What the controller has measured of the whole cluster a second ago at most: the `measures` of a
/// measures_reply (docs/protocol.md). Null: it is of ipyparallel or of an earlier version.
/// patience  how long to wait for the answer.
/// errors    as ClientCore::ask_hub().
Json ask_measures(ClientCore& core, Duration patience = controller_patience);

/// The rows as a list of JSON objects, for scripts: [{"engine": 0, "host": ..., "state": ...},
/// ...]. What is not known is null.
/// measures  of ask_measures(): each row has the members of its engine there as `measures`.
Json status_as_json(const std::vector<EngineStatus>& engines, const Json& measures = nullptr);

/// A table for people: a header and a line for each engine. Below it, after an empty line, stand
/// notes: which MPI engines have loaded, which MPI worlds have lost a rank, why engines were lost,
/// and which hosts hold arrays in shared memory.
std::string status_as_text(const std::vector<EngineStatus>& engines);

}  // namespace px::client
