#pragma once

#include <cstddef>
#include <string_view>

#include "wire/error.hpp"

namespace px::os {

/// Lets this process open `count` files and sockets, as far as its hard limit goes (`ulimit -Hn`).
/// errors  system: the hard limit is lower; says what it is and how to raise it.
Result<void> allow_descriptors(std::size_t count);

/// Takes the soft limit of open files and sockets up to the hard one; returns it. A process that
/// serves a thousand peers needs far more than the 1024 with which most shells start it.
std::size_t raise_descriptor_limit();

/// How many files and sockets this process may open beside those that are open, counted up to
/// `enough`. Opens none itself.
std::size_t free_descriptors(std::size_t enough);

/// Whether this process may open `count` more files and sockets: asked before libzmq opens them,
/// which ends the process where it cannot.
/// who     what needs them: "a client".
/// errors  system: fewer are left; says how many, the limit, and how to raise it.
Result<void> require_descriptors(std::size_t count, std::string_view who);

}  // namespace px::os
