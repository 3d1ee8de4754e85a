#pragma once

#include <sys/types.h>

#include <vector>

#include "os/descriptor.hpp"
#include "wire/time.hpp"

namespace px::os {

/// A descriptor that becomes readable when the process `pid` ends; closed where there is no such
/// process, or the kernel has no pidfds (Linux before 5.3).
Descriptor open_pidfd(pid_t pid);
/// Where a process has none, it is asked for this often whether it runs.
inline constexpr Duration interval_without_pidfd = std::chrono::milliseconds(10);

/// Duplicates of the sockets by which the process `pid` is connected to this TCP port, of whatever
/// host: while one of them is open, its peer does not see the connection end. Empty where there
/// is none, it belongs to somebody else, or the kernel does not give it (Linux before 5.6, some
/// containers).
std::vector<Descriptor> share_connections(pid_t pid, int peer_port);

}  // namespace px::os
