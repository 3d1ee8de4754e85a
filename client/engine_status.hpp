#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/core.hpp"
#include "wire/ids.hpp"
#include "wire/json.hpp"
#include "wire/time.hpp"

namespace px::client {

/// The segments with large arrays that a process has mapped, and the room of its host for them.
struct SharedMemoryUse {
  /// Bytes, by what names each on its host.
  using Segments = std::map<std::string, std::uint64_t>;
  Segments segments, on_disk = {};
  std::optional<double> free = {}, size = {};  ///< Of /dev/shm.
};
/// What a usage_reply says of it; nothing where it says nothing.
std::optional<SharedMemoryUse> read_shared_memory(const Json& usage);

/// What an engine is and does: a row of the table of `status`. What is not known is left out.
struct EngineStatus {
  EngineId id;
  std::string host = {};
  std::optional<int> rank = {};      ///< In its MPI world.
  std::optional<int> pid = {};       ///< On its host.
  std::string language = {};         ///< "python", "cpp"; "" for an engine of ipyparallel.
  std::string state = {};            ///< "idle", "busy", "no answer", or "lost": it is gone.
  std::optional<double> silent_for;  ///< Seconds since one without an answer was heard, or lost.
  std::string runs = {};             ///< The first line of the code, the name of the function.
  std::optional<double> runs_for;    ///< Seconds.
  std::string msg_id = {};           ///< Of what runs.
  int queue = 0;                     ///< Requests that wait; without an answer what runs, too.
  std::optional<double> memory;      ///< Resident bytes.
  std::optional<double> cpu;         ///< Seconds of processor time since the start.
  std::optional<SharedMemoryUse> shared_memory = {};
  std::string mpi = {};             ///< "Open MPI v4.1.4"; "" without one.
  std::string mpi_interrupts = {};  ///< EngineFacts::mpi_interrupts.
  std::string world_broken = {};  ///< Which rank of its MPI world died; "" while it is whole.
  std::string why_lost = {};      ///< A clause: "its process was killed by SIGKILL".
};

/// Asks all engines at once what they do, by a message that they answer while user code runs, and
/// waits for those that do not answer for `patience` at most. Those that the controller does not
/// hear are not asked. Those that it lost are among them until others have their ids. Ascending
/// ids. errors  as ClientCore::ask_hub().
std::vector<EngineStatus> ask_status(ClientCore& core, Duration patience);

/// [{"engine": 0, "host": ..., "state": ...}, ...]; what is not known is null.
Json status_as_json(const std::vector<EngineStatus>& engines);

/// A table for people: a header and a line for each engine; then an empty line, and a line for each
/// MPI that engines have loaded, for each MPI world that has lost a rank, and for each host whose
/// shared memory holds arrays.
std::string status_as_text(const std::vector<EngineStatus>& engines);

}  // namespace px::client
