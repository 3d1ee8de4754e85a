#pragma once

#include <cstdint>

namespace px::os {

/// Half of the memory of this host, in bytes: more than that no single thing may take.
std::int64_t half_of_host_memory();

}  // namespace px::os
