#pragma once

#include <optional>
#include <string>

#include "wire/ids.hpp"
#include "wire/json.hpp"

namespace px {

/// What an engine says of itself at its registration beside ipyparallel's words; empty: it says
/// nothing of it. Engines of ipyparallel say nothing at all.
struct EngineFacts {
  std::string polyxeus;           ///< The version of polyxeus, e.g. "0.4.0".
  std::string python;             ///< "3.11": functions travel by value between the same ones only.
  std::string mpi;                ///< The MPI that it has loaded, e.g. "Open MPI v4.1.4".
  /// Whether its MPI calls can be interrupted: "on", or "off" with the reason: "off: ...".
  std::string mpi_interrupts = {};
  std::string host = {};          ///< The name of its host.
  std::string world = {};         ///< What its launcher calls the MPI world, or the step of Slurm.
  int pid = 0;                    ///< Of its process; 0: it does not say.
  std::optional<Rank> rank = {};  ///< In `world`.
  /// Another process waits for its end, and will tell the controller how it came.
  bool is_watched = false;
  /// It gives tasks back that it has not begun, when the controller recalls them.
  bool gives_back = false;
  /// Which engine of which set it is, as the program that started them says: "1792048000/2".
  std::string place = {};
  /// The memory that it shares with others of its host: SharedMemory::identity of its folder.
  std::string memory = {};
  /// What it passes arrays on by: "GROUP/RANK", its rank among engines of one MPI world that can
  /// send each other arrays while user code runs.
  std::string passing = {};
};

/// Adds what is known to a message's content.
void write_engine_facts(Json& content, const EngineFacts& facts);
/// What a content says; what no engine would say is ignored.
EngineFacts read_engine_facts(const Json& content);

/// Takes over what `more` says; keeps what it does not say.
void add_engine_facts(EngineFacts& facts, const EngineFacts& more);

}  // namespace px
