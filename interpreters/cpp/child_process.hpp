#pragma once

#include <string>
#include <vector>

#include <px/wire/error.hpp>
#include <px/wire/time.hpp>

namespace px {

/// What came of a program.
struct ProgramResult {
  int exit_status = 0;   ///< As a shell has it: 128 + n for signal n.
  bool is_late = false;  ///< It was ended, as the patience was over.
  std::string output;    ///< Standard output and error.
};

/// Runs a program without input and waits for it.
/// errors  unsupported: it cannot be started: names it.
Result<ProgramResult> run_program(const std::vector<std::string>& command, Duration patience);

/// The path of a program in $PATH; "" where there is none.
std::string find_program(const std::string& name);

}  // namespace px
