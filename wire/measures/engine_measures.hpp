#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wire/json.hpp"
#include "wire/measures/duration_counts.hpp"

namespace px {

/// The resources of its host that a process uses. Nothing: unknown.
struct ProcessMeasures {
  std::optional<std::uint64_t> memory = {};  ///< Resident bytes.
  std::optional<double> cpu = {};            ///< Seconds of processor time since the start.
  std::optional<std::uint64_t> threads = {};
  std::optional<std::uint64_t> descriptors = {};  ///< Open files, sockets and so on.
  bool operator==(const ProcessMeasures&) const = default;
};

/// A host, as seen by one of its engines.
struct HostMeasures {
  /// Bytes: all, and those that programs can still allocate.
  std::optional<std::uint64_t> memory = {}, free_memory = {};
  std::optional<std::uint64_t> cores = {};
  /// The number of threads that ran or waited for a core, averaged over the last minute.
  std::optional<double> load = {};
  bool operator==(const HostMeasures&) const = default;
};

/// A call of MPI or torch.distributed that is in progress.
struct WaitingCall {
  std::string call = {};         ///< "MPI_Allreduce", "all_reduce".
  double seconds = 0;            ///< Time since it began.
  std::string group = {};        ///< The communicator or process group; the same on its ranks.
  std::optional<int> size = {};  ///< Ranks in the group.
  std::optional<int> peer = {};  ///< The rank of the world for which it waits.
  bool is_peer_any = false;      ///< MPI_ANY_SOURCE.
  std::optional<int> tag = {};
  std::optional<std::uint64_t> bytes = {};
  std::optional<std::uint64_t> count = {};  ///< The number of the call in its group, from 1 on
                                            ///< (torch).
  bool operator==(const WaitingCall&) const = default;
};

/// A GPU that the engine uses.
struct GpuMeasures {
  int number = 0;
  std::string name = {};
  std::optional<double> busy = {};  ///< The share of time in which it worked, 0 to 1.
  std::optional<std::uint64_t> memory = {}, used_memory = {};  ///< Bytes.
  bool operator==(const GpuMeasures&) const = default;
};

/// Bytes by the way that they were sent.
struct MovedBytes {
  std::uint64_t socket = 0;  ///< Through the controller or a stream.
  std::uint64_t memory = 0;  ///< In shared memory.
  std::uint64_t mpi = 0;     ///< The user's data in MPI calls on the main thread.
  bool operator==(const MovedBytes&) const = default;
};

/// What an engine does and uses at one moment: the content of `engine_measures`, which it sends to
/// the controller after each ping. A value. All members may be missing; numbers are in base units.
struct EngineMeasures {
  ProcessMeasures process = {};
  HostMeasures host = {};
  std::vector<GpuMeasures> gpus = {};  ///< At most max_gpus.

  std::string msg_id = {};              ///< The id of the request that runs; empty: none.
  std::string runs = {};                ///< The first line of the cell, or the function's name.
  std::optional<double> runs_for = {};  ///< Seconds.
  std::uint64_t queued = 0;             ///< The number of waiting requests.
  std::optional<WaitingCall> mpi = {}, torch = {};
  /// The innermost line of the user's code, while a request runs: "comm.Barrier()".
  std::string line = {};
  bool holds_lock = false;      ///< C code holds Python's lock: the line is unknown.
  std::string last_error = {};  ///< The type of the exception that ended the last cell.

  std::uint64_t requests = 0;     ///< The number of requests that ran since the start.
  std::uint64_t errors = 0;       ///< Those of them that ended with an exception.
  MovedBytes in = {}, out = {};   ///< Since the start.
  DurationCounts durations = {};  ///< Of the requests that ended since the last message.

  static constexpr std::size_t max_gpus = 16;
  static constexpr std::size_t max_text = 256;  ///< Bytes; longer texts are cut.
  bool operator==(const EngineMeasures&) const = default;
};

/// The measures as members of a message's content. Members that are unknown, 0 or empty are left
/// out:
///
///     {"process": {"memory": 81000000, "cpu": 55.0, "threads": 9, "descriptors": 40},
///      "host_use": {"memory": ..., "free_memory": ..., "cores": 8, "load": 1.1},
///      "gpu_use": [{"number": 0, "name": "...", "busy": 0.9, "memory": ..., "used_memory": ...}],
///      "msg_id": "...", "runs": "solve(A, b)", "runs_for": 3.1, "queued": 2,
///      "mpi": {"call": "MPI_Recv", "seconds": 2.5, "group": "77", "size": 4, "peer": 1, "tag": 9},
///      "torch": {...}, "line": "comm.recv()", "holds_lock": false, "last_error": "ValueError",
///      "requests": 200, "errors": 1, "in": {"socket": 100, "memory": 5, "mpi": 0}, "out": {...},
///      "durations": {"sum": 12.5, "counts": [[bin, count], ...]}}
///
/// "peer" is "any" for MPI_ANY_SOURCE.
Json write_engine_measures(const EngineMeasures& measures);
/// Reads them from a peer's message: values that are malformed, negative or not finite count as
/// absent, and texts that are too long are cut.
EngineMeasures read_engine_measures(const Json& content);

/// The call as a member of another object: {"call": "MPI_Recv", "seconds": 2.5, "peer": 1, ...}.
Json write_waiting_call(const WaitingCall& call);

}  // namespace px
