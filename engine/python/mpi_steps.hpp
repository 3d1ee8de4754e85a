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

/// A Python engine's interface to the library that wraps MPI: raises the exception that interrupts
/// MPI calls, usually KeyboardInterrupt, in place of mpi4py's error for the code that such a call
/// returns; if code ignores that code, raises it as soon as Python runs again. There is one in a
/// process, until its end. For the main thread.
class PythonMpiSteps {
 public:
  /// Loads the library from the file `path` (with RTLD_GLOBAL, before mpi4py). MPI must be
  /// initialized. All ranks of the world call it at once.
  /// error_type  mpi4py.MPI.Exception.
  /// world  outlives the process's MPI calls.
  /// Throws std::runtime_error if the file is not such a library. The caller holds Python's lock.
  static PythonMpiSteps& join(const std::string& path, pybind11::object error_type,
                              const BrokenWorld& world);

  /// The watch for the engine's cells; it does nothing if this rank takes no part.
  CellWatch watch() const;
  /// The endpoint that sends this rank's arrays to others; nothing if its MPI does not let threads
  /// call it.
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
  std::optional<std::string> why_broken_;  // the latest sentence
  void* library_ = nullptr;
  decltype(&px_mpi_begin_cell) begin_cell_ = nullptr;
  decltype(&px_mpi_end_cell) end_cell_ = nullptr;
  decltype(&px_mpi_tick) tick_ = nullptr;
  newfunc make_mpi_error_ = nullptr;
  int error_code_ = 0;
  Instant next_look_{};
  PyObject* pending_ = nullptr;      // the exception to raise
  bool pending_is_failure_ = false;  // not an interrupt: mpi4py's own error says the same
};

}  // namespace px::engine
