#pragma once

#include <cstdint>

namespace px::os {

/// Half of the memory that this process may use, in bytes: of the host's, or of what its control
/// group allows (a batch job, a container). More than that no single thing may take.
std::int64_t half_of_usable_memory();

}  // namespace px::os
