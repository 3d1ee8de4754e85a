#pragma once

#include <cstddef>
#include <string_view>

#include "wire/error.hpp"

namespace px::os {

/// Raises the soft limit of open files and sockets to the hard one; returns it. A process that
/// serves a thousand peers needs far more than the 1024 with which most shells start it.
std::size_t raise_descriptor_limit();

/// The number of files and sockets that this process may open in addition to those that are open,
/// counted up to `enough`. Opens none itself.
std::size_t free_descriptors(std::size_t enough);

/// Whether this process may open `count` more files and sockets: called before libzmq opens them,
/// which aborts the process if it cannot.
/// who     the user of the descriptors: "a client".
/// errors  system: fewer are left; the message gives their number and the limit, and says how to
///         raise it.
Result<void> require_descriptors(std::size_t count, std::string_view who);

}  // namespace px::os
