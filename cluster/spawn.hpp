#pragma once

#include <px/cluster/process.hpp>
#include <px/wire/error.hpp>

namespace px {

struct Spawned {
  int pid = 0;
  int report = -1;  ///< Where its reports can be read, if it makes any; the caller closes it.
};

/// Starts the command as a child of this process: in a session of its own, without input, no signal
/// blocked, no file of ours open. It gets SIGTERM when this process dies, however it dies.
/// errors  system: names the program, or the log that cannot be written.
Result<Spawned> spawn(const Command& command);

}  // namespace px
