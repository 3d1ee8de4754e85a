#pragma once

#include <px/cluster/process.hpp>
#include <px/wire/error.hpp>

namespace px {

/// Starts the command as a child of this process: in a session of its own, without input, no signal
/// blocked, no file of ours open. It gets SIGTERM when this process dies, however it dies.
/// Returns its pid.  errors  system: names the program, or the log that cannot be written.
Result<int> spawn(const Command& command);

}  // namespace px
