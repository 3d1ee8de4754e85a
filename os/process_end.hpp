#pragma once

#include <string>

namespace px::os {

/// How a process ended.
struct ProcessEnd {
  int exit_code = 0;
  int signal = 0;  ///< The signal that ended it, or 0.

  bool is_failure() const { return exit_code != 0 || signal != 0; }
  /// "ended with exit code 1", "was ended by signal 9 (SIGKILL: out of memory, or kill -9)".
  std::string text() const;
  bool operator==(const ProcessEnd&) const = default;
};

/// From the status that waitpid() returns for a process that has ended.
ProcessEnd end_of_wait(int status);

/// "SIGTERM"; "signal 77" for one without a common name.
std::string signal_name(int signal);

}  // namespace px::os
