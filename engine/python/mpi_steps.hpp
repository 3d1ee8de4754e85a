#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <string>

#include "engine/mpi/broken_world.hpp"
#include "engine/mpi/rank_endpoint.hpp"
#include "engine/mpi/watched_cells.hpp"
#include "engine/mpi_library/library.hpp"
#include "wire/time.hpp"

namespace px::engine {

/// A Python engine's side of the library that stands in front of MPI: raises what interrupts MPI
/// calls, KeyboardInterrupt mostly, where mpi4py would raise its own error for the code that such a
/// call returns; and wherever code ignores that code, as soon as Python runs again. One for a
/// process, as long as it lives. For the main thread.
class PythonMpiSteps {
 public:
  /// Has loaded the library from the file `path` (with RTLD_GLOBAL, before mpi4py); MPI is
  /// initialized. All ranks of the world call it at once. error_type  mpi4py.MPI.Exception.
  /// world  outlives the process's calls of MPI. Throws
  /// std::runtime_error where that is no such library. The caller holds Python's lock.
  static PythonMpiSteps& join(const std::string& path, pybind11::object error_type,
                              const BrokenWorld& world);

  /// What the engine's cells are to be watched by; it watches nothing where this rank takes no
  /// part.
  CellWatch watch() const;
  /// By which this rank passes arrays on; nothing where its MPI does not let threads call it.
  std::optional<RankEndpoint> rank_endpoint() const;

 private:
  PythonMpiSteps(const std::string& path, const BrokenWorld& world);
  template <typename Function>
  Function find(const char* name) const;

  bool is_interrupted();
  void leave(const char* where);
  void fail(const char* why);
  const char* why_broken();
  void raise_soon();
  static int raise_pending(void* self);
  static PyObject* make_error(PyTypeObject* type, PyObject* arguments, PyObject* keywords);

  const BrokenWorld& world_;
  std::optional<std::string> why_broken_;  // what was told last
  void* library_ = nullptr;
  decltype(&px_mpi_begin_cell) begin_cell_ = nullptr;
  decltype(&px_mpi_end_cell) end_cell_ = nullptr;
  decltype(&px_mpi_tick) tick_ = nullptr;
  newfunc make_mpi_error_ = nullptr;
  int error_code_ = 0;
  Instant next_look_{};
  PyObject* pending_ = nullptr;      // what is to be raised
  bool pending_is_failure_ = false;  // not an interrupt: mpi4py's own error says the same
};

}  // namespace px::engine
