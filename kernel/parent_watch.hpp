#pragma once

#include <sys/types.h>

#include "os/descriptor.hpp"
#include "program/environment.hpp"

namespace px::kernel {

/// A descriptor that becomes readable when the Jupyter server that has started this kernel ends;
/// closed where there is none to be found: nobody said so, or it is not an ancestor of ours (the
/// number is of another container).
os::Descriptor watch_parent(const program::Environment& environment);

/// Whether `process` has started the present process, maybe through others.
bool is_ancestor(pid_t process);

}  // namespace px::kernel
