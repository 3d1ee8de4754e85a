#pragma once

#include <functional>
#include <optional>
#include <string>

namespace px::engine {

/// The functions of the interpreter that the MPI calls of its cells use. The main thread calls
/// them.
struct CellHooks {
  /// Whether leave() should be called.
  std::function<bool()> is_interrupted;
  /// Leaves the cell because of the interrupt: throws, or makes the interpreter raise when the call
  /// has returned its error code.
  /// where  for the user: "in MPI_Barrier".
  std::function<void(const std::string& where)> leave;
  /// Like leave(), if the call cannot end, or cannot be made, for the reason `why`.
  std::function<void(const std::string& why)> fail;
  /// From true to false a second interrupt must not leave the cell by force, because the first one
  /// is about to be answered. May be empty.
  std::function<void(bool)> hold_jumps;
  /// A sentence that says which rank of the world has died; nothing while all are alive.
  std::function<std::optional<std::string>()> why_broken;
};

}  // namespace px::engine
