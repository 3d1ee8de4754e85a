#pragma once

#include "wire/measures/engine_measures.hpp"

namespace px::os {

/// What this process takes of its host now: some 30 microseconds, more only on kernels before 6.2,
/// which do not tell how many files are open and have them counted. Any thread.
ProcessMeasures measure_process();

/// This host now, as containers may see it. Any thread.
HostMeasures measure_host();

}  // namespace px::os
