#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "program/environment.hpp"

namespace px::program {

/// The cores of a host, in numbers.
struct HostCores {
  int own = 1;   ///< Those that one engine may run on; a launcher may have bound it to few.
  int host = 1;  ///< Those that all engines of the host may run on.
  /// The processor time that their container allows all of them, in cores; nothing: no limit.
  std::optional<double> quota = {};
};

/// The number of threads of the libraries in an engine, as variables.
struct ThreadShare {
  /// What to set; empty: nothing.
  std::vector<std::pair<std::string, std::string>> variables = {};
  std::string note = {};  ///< A sentence for the user; empty: there is nothing to say.
  bool operator==(const ThreadShare&) const = default;
};

/// The variables that one of `engines` engines of a host must set before a library is loaded:
/// OMP_NUM_THREADS, which OpenMP, OpenBLAS, MKL, BLIS, NumExpr and PyTorch obey, and
/// NUMBA_NUM_THREADS. $POLYXEUS_THREADS_PER_ENGINE is the wish of the user:
/// a number     that many; variables that are set already are replaced;
/// "unchanged"  nothing is set;
/// else "auto"  the share of the host's cores. Nothing is set if OMP_NUM_THREADS is set already, or
///              if libraries find the right number without it: the engine is alone, and neither a
///              quota nor a batch system (SLURM_CPUS_PER_TASK, NSLOTS ...) gives it less than the
///              cores that it may run on. A variable that is set is not changed.
ThreadShare share_threads(const Environment& environment, const HostCores& cores, int engines);

/// Whether $POLYXEUS_THREADS_PER_ENGINE may have this value: auto, unchanged, or 1 to 65536.
bool is_thread_wish(const std::string& text);

/// The thread settings of this environment, for a table: "OMP=2 NUMBA=2"; empty: there are none.
std::string used_threads(const Environment& environment);

}  // namespace px::program
