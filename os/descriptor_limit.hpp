#pragma once

#include <cstddef>

#include "wire/error.hpp"

namespace px::os {

/// Lets this process open `count` files and sockets, as far as its hard limit goes (`ulimit -Hn`).
/// errors  system: the hard limit is lower; says what it is and how to raise it.
Result<void> allow_descriptors(std::size_t count);

/// Takes the soft limit of open files and sockets up to the hard one; returns it. A process that
/// serves a thousand peers needs far more than the 1024 with which most shells start it.
std::size_t raise_descriptor_limit();

}  // namespace px::os
