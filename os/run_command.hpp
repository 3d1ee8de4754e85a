#pragma once

#include <map>
#include <string>
#include <vector>

#include "os/process_end.hpp"
#include "wire/error.hpp"
#include "wire/time.hpp"

namespace px::os {

struct CommandOptions {
  std::vector<std::string> argv;  ///< argv[0] is a path, or a name that is looked up in $PATH.
  std::string input = {};         ///< Its standard input.
  Duration timeout = std::chrono::seconds(60);
  std::map<std::string, std::string> environment = {};  ///< Added to that of this process.
  bool ignores_sigterm = false;                         ///< See SpawnOptions.
  bool merges_errors = false;  ///< The standard error goes to `output`, in the order of writing.
  std::size_t max_output = std::size_t{4} << 20;  ///< Bytes of `output`; further ones are dropped.
};

struct CommandOutput {
  ProcessEnd end;
  std::string output;    ///< The beginning of the standard output, at most max_output bytes.
  bool was_cut = false;  ///< It wrote more than that.
  std::string errors;    ///< The last 2000 bytes of the standard error, without trailing newlines.
};

/// Runs a program to its end, in a separate session, and returns its output; blocks the thread. It
/// waits only for the program itself, not for processes that it left in the background.
/// errors  those of spawn(); lost_peer: it ran longer than `timeout` and was killed with all
///         processes of its group.
Result<CommandOutput> run_command(const CommandOptions& options);

}  // namespace px::os
