#pragma once

#include <string>
#include <utility>
#include <vector>

#include "magics/cell_output.hpp"
#include "os/descriptor.hpp"
#include "os/spawn.hpp"
#include "wire/error.hpp"

namespace px::magics {

/// A trace of the engines during a cell, recorded by another process: `pxcluster trace`. For
/// kernels without Python. One thread uses it.
class CellTrace {
 public:
  /// Starts the program and returns when it records.
  /// command  with all arguments: cluster_command() of "trace".
  /// errors   not_found, system: the program cannot be started; bad_input: its message.
  static Result<CellTrace> begin(const std::vector<std::string>& command);

  /// Ends the trace, waits until the file is written, and shows the findings. An interrupt ends the
  /// program.
  void end(CellOutput& screen);

 private:
  CellTrace(os::Spawned program, os::Descriptor input)
      : program_(std::move(program)), input_(std::move(input)) {}

  os::Spawned program_;
  os::Descriptor input_;  // the program records until this is closed
};

}  // namespace px::magics
