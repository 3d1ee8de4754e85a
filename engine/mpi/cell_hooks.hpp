#pragma once

#include <functional>
#include <optional>
#include <string>

namespace px::engine {

/// What the MPI calls of cells need of the interpreter that runs them. The main thread calls them.
struct CellHooks {
  /// Whether leave() is to be called.
  std::function<bool()> is_interrupted;
  /// Leaves the cell because of the interrupt: throws, or makes the interpreter raise when the call
  /// has returned its error code. where  for the user: "in MPI_Barrier".
  std::function<void(const std::string& where)> leave;
  /// The same where the call cannot end, or cannot be made, for the reason `why`.
  std::function<void(const std::string& why)> fail;
  /// From true to false a second interrupt must not leave the cell by force, as the first one is
  /// answered soon. May be empty.
  std::function<void(bool)> hold_jumps;
  /// Which rank of the world has died, a sentence; nothing while all live.
  std::function<std::optional<std::string>()> why_broken;
};

}  // namespace px::engine
