#pragma once

#include <sys/types.h>

#include "os/descriptor.hpp"

namespace px::os {

/// A descriptor that becomes readable when the process `pid` ends; closed where there is no such
/// process, or the kernel has no pidfds (Linux before 5.3).
Descriptor open_pidfd(pid_t pid);

}  // namespace px::os
