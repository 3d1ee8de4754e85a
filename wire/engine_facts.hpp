#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "wire/ids.hpp"
#include "wire/json.hpp"

namespace px {

/// The information about an engine of polyxeus that it sends when it registers, in addition to
/// ipyparallel's registration. The controller stores it and passes it on to clients. An empty text,
/// 0 or false means that the engine did not send it; engines of ipyparallel send none of this. A
/// value. Texts have at most most_bytes: write_engine_facts() cuts longer ones, read_engine_facts()
/// ignores them.
struct EngineFacts {
  static constexpr std::size_t most_bytes = 96;
  std::string polyxeus;           ///< The version of polyxeus, e.g. "0.4.0".
  std::string python;             ///< "3.11": functions are sent by value only between equal
                                  ///< versions.
  std::string mpi;                ///< The MPI library that it has loaded, e.g. "Open MPI v4.1.4".
  /// Whether its MPI calls can be interrupted: "on", or "off" with the reason: "off: ...".
  std::string mpi_interrupts = {};
  std::string host = {};          ///< The name of its host.
  std::string world = {};         ///< The launcher's name for the MPI world or the Slurm step.
  int pid = 0;                    ///< The pid of its process; 0: not sent.
  std::optional<Rank> rank = {};  ///< Its rank in `world`.
  /// Whether another process waits for its end and will send the controller a DeathReport.
  bool is_watched = false;
  /// Whether it returns tasks that it has not started when the controller recalls them: see
  /// recall_type.
  bool gives_back = false;
  /// Which engine of which set it is, as "SET/NUMBER", e.g. "1792048000/2"; pxcluster numbers the
  /// sets.
  std::string set_member = {};
  /// The shared memory that it uses: SharedMemory::identity of the folder. Engines with the same
  /// identity can read each other's segments.
  std::string memory = {};
  /// "GROUP/RANK": engines with the same GROUP are ranks of one MPI world and can send each other
  /// arrays over MPI even while user code runs; RANK is this engine's rank in it.
  std::string passing = {};
  /// The GPUs that it uses: "0", "2,3" or "all 4"; empty if its host has none.
  std::string gpus = {};
  /// At its start, numbers as "0-3,8": the logical cores that it might run on, and their sockets
  /// and NUMA nodes.
  std::string cores = {}, sockets = {}, numa_nodes = {};
  /// The variables of its environment that say how many threads libraries have: "OMP=2 NUMBA=2".
  std::string threads = {};
};

/// Adds the facts that are set to the content of a message; omits the others.
void write_engine_facts(Json& content, const EngineFacts& facts);
/// Reads the facts from the content of a message. Values that are malformed, negative or too long
/// are ignored, as if they had not been sent.
EngineFacts read_engine_facts(const Json& content);

/// Overwrites the facts that `more` has, and keeps the others: an engine may send more later, e.g.
/// when user code has loaded an MPI library.
void add_engine_facts(EngineFacts& facts, const EngineFacts& more);

}  // namespace px
