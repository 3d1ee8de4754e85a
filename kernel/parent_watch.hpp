#pragma once

#include <sys/types.h>

#include "os/descriptor.hpp"
#include "program/environment.hpp"

namespace px::kernel {

/// A descriptor that becomes readable when the Jupyter server that has started this kernel ends;
/// closed if that is unknown: the environment does not name it, or it is not an ancestor of this
/// process (the number is from another container).
os::Descriptor watch_parent(const program::Environment& environment);

/// Whether `process` has started the present process, possibly through others.
bool is_ancestor(pid_t process);

}  // namespace px::kernel
